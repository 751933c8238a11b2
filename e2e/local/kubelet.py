# SPDX-License-Identifier: Apache-2.0
"""The kubelet's side: a /pods body made from a recorded one, kept up to date as containers come and
go with a real kubelet's delay, and the stand-in that serves it over TLS."""

import copy
import json
import os
import sys
import threading
import time

import host

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(REPOSITORY, "tests/fixtures/kubelet/pods-1.35.json")
STAND_IN = os.path.join(REPOSITORY, "tests/standin/kubelet.py")

# A real kubelet looks at its runtime once a second and reports what it saw then.
STATUS_DELAY_S = 1.0
STATUS_LISTS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
SOME_TIME = "2026-01-01T00:00:00Z"


def ended_state(container_id):
    return {"terminated": {"exitCode": 0, "reason": "Completed", "containerID": container_id,
                           "startedAt": SOME_TIME, "finishedAt": SOME_TIME}}


def waiting_status(recorded):
    """A container's status before it has run: no containerID at all."""
    status = {key: recorded[key] for key in ("name", "image") if key in recorded}
    status.update(state={"waiting": {"reason": "ContainerCreating"}}, lastState={}, ready=False,
                  restartCount=0, started=False, imageID="")
    return status


def add_run(status, run, now):
    """Tells of one more run of the container; what was current becomes the last state."""
    if run.started is None or now < run.started + STATUS_DELAY_S:
        return
    if "containerID" in status:
        status["lastState"] = ended_state(status["containerID"])
        status["restartCount"] += 1
    status["containerID"] = "containerd://" + run.container_id
    if run.ended is not None and now >= run.ended + STATUS_DELAY_S:
        status["state"] = ended_state(status["containerID"])
    else:
        status["state"] = {"running": {"startedAt": SOME_TIME}}
        status.update(ready=True, started=True)


class PodList:
    """The body of /pods, rewritten every quarter of a second by a thread."""

    def __init__(self, path, node_name):
        self.path, self.node_name = path, node_name
        self.workloads = []
        with open(RECORDED, encoding="utf-8") as recorded:
            items = json.load(recorded)["items"]
        self.templates = {item["metadata"]["name"]: item for item in items}
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.keep_publishing, daemon=True)

    def start(self, workloads):
        self.workloads = [workload for workload in workloads if workload.pod]
        self.publish()
        self.thread.start()

    def stop(self):
        self.is_stopping.set()
        if self.thread.is_alive():
            self.thread.join()

    def keep_publishing(self):
        while not self.is_stopping.wait(0.25):
            self.publish()

    def publish(self):
        pods = {id(workload.pod): workload.pod for workload in self.workloads}
        body = {"kind": "PodList", "apiVersion": "v1", "metadata": {},
                "items": [self.item(pod) for pod in pods.values() if pod.is_listed]}
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(body, file)
        os.rename(self.path + ".new", self.path)

    def item(self, pod):
        item = copy.deepcopy(self.templates[pod.template])
        metadata = item["metadata"]
        metadata.update(name=pod.name, namespace=pod.namespace, uid=pod.uid)
        if "kubernetes.io/config.hash" in metadata["annotations"]:
            metadata["annotations"]["kubernetes.io/config.hash"] = pod.uid
        item["spec"]["nodeName"] = self.node_name
        now = time.monotonic()
        for key in STATUS_LISTS:
            recorded = item["status"].get(key, [])
            item["status"][key] = [self.status(pod, status, now) for status in recorded]
        return item

    def status(self, pod, recorded, now):
        status = waiting_status(recorded)
        for workload in self.workloads:
            if workload.pod is pod and workload.container == recorded["name"]:
                add_run(status, workload, now)
        return status


class Kubelet:
    """The stand-in as a process; faults are switched while it runs."""

    def __init__(self, directory, node_name, pods_path):
        self.directory = directory
        os.makedirs(directory)
        self.command = [sys.executable, STAND_IN, "--node-name", node_name, "--pods", pods_path,
                        "--dir", directory]
        self.process = None

    def start(self):
        self.process = host.Process("kubelet", self.command, f"{self.directory}/log")
        host.wait_until("the kubelet stand-in serves", self.address)

    def address(self):
        return host.read_text(f"{self.directory}/address").strip()

    def agent_options(self):
        return ["--kubelet-url", f"https://{self.address()}",
                "--kubelet-ca-file", f"{self.directory}/ca.crt",
                "--kubelet-token-file", f"{self.directory}/token"]

    def set_fault(self, word):
        with open(f"{self.directory}/fault.new", "w", encoding="ascii") as file:
            file.write(word)
        os.rename(f"{self.directory}/fault.new", f"{self.directory}/fault")

    def requests(self):
        """One string a request so far: path and what was answered."""
        return host.read_text(f"{self.directory}/requests").splitlines()

    def stop(self):
        if self.process:
            self.process.finish()
