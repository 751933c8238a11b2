# SPDX-License-Identifier: Apache-2.0
"""The kubelet's side: a /pods body made from recorded ones, kept up to date as containers come and
go with a real kubelet's delay, the names it gives to logs, and the stand-in that serves over TLS."""

import contextlib
import copy
import json
import os
import sys
import threading
import time

import host

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(REPOSITORY, "tests/fixtures/kubelet")
RECORDINGS = {"1.20": "pods.json", "1.35": "pods-1.35.json", "1.36": "pods-1.36.json"}
STAND_IN = os.path.join(REPOSITORY, "tests/standin/kubelet.py")

# A real kubelet looks at its runtime once a second and reports what it saw then.
STATUS_DELAY_S = 1.0
STATUS_LISTS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
SOME_TIME = "2026-01-01T00:00:00Z"
ANY_NODE = "any-node"


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


def read_templates():
    """{(version, pod's name): recorded pod}"""
    templates = {}
    for version, name in RECORDINGS.items():
        with open(os.path.join(FIXTURES, name), encoding="utf-8") as recorded:
            for item in json.load(recorded)["items"]:
                templates[version, item["metadata"]["name"]] = item
    return templates


class PodList:
    """The bodies of /pods, one a node, rewritten every quarter of a second by a thread."""

    def __init__(self):
        self.workloads = []
        self.paths = {}     # of bodies, by node
        self.templates = read_templates()
        self.is_stopping = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.keep_publishing, daemon=True)

    def start(self, workloads):
        self.workloads = [workload for workload in workloads if workload.pod]
        self.publish()
        self.thread.start()

    def stop(self):
        self.is_stopping.set()
        if self.thread.is_alive():
            self.thread.join()

    def add_node(self, node_name, path):
        self.paths = {**self.paths, node_name: path}
        self.publish()

    def keep_publishing(self):
        while not self.is_stopping.wait(0.25):
            self.publish()

    def publish(self):
        pods = {id(workload.pod): workload.pod for workload in self.workloads}
        body = {"kind": "PodList", "apiVersion": "v1", "metadata": {},
                "items": [self.item(pod) for pod in pods.values() if pod.is_listed]}
        text = json.dumps(body)
        with self.lock:
            for node_name, path in self.paths.items():
                replace_file(path, text.replace(ANY_NODE, node_name))

    def start_time(self, pod):
        return self.templates[pod.recording, pod.template]["status"]["startTime"]

    def resource(self, workload, node_name):
        """The attributes that the samples of a workload must carry."""
        return workload.resource(node_name, workload.pod and self.start_time(workload.pod))

    def item(self, pod):
        item = copy.deepcopy(self.templates[pod.recording, pod.template])
        metadata = item["metadata"]
        metadata.update(name=pod.name, namespace=pod.namespace, uid=pod.uid)
        metadata["labels"] = {**metadata.get("labels", {}), **pod.labels}
        metadata["annotations"].update(pod.annotations)
        if "kubernetes.io/config.hash" in metadata["annotations"]:
            metadata["annotations"]["kubernetes.io/config.hash"] = pod.uid
        item["spec"]["nodeName"] = ANY_NODE
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


def replace_file(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def write_log_names(directory, workload):
    """Creates what a kubelet creates below /var/log when a container starts."""
    pod = workload.pod
    logs = f"{directory}/pods/{pod.namespace}_{pod.name}_{pod.uid}/{workload.container}"
    os.makedirs(logs, exist_ok=True)
    os.makedirs(f"{directory}/containers", exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.symlink(f"{logs}/{workload.restarts}.log",
                   f"{directory}/containers/{pod.name}_{pod.namespace}_{workload.container}-"
                   f"{workload.container_id}.log")


class Kubelet:
    """The stand-in as a process; faults are switched while it runs."""

    def __init__(self, directory, node_name):
        self.directory, self.node_name = directory, node_name
        os.makedirs(directory)
        self.pods_path = f"{directory}/pods.json"
        self.process = None

    def start(self, address="127.0.0.1:0"):
        command = [sys.executable, STAND_IN, "--node-name", self.node_name, "--pods", self.pods_path,
                   "--dir", self.directory, "--listen", address]
        self.process = host.Process("kubelet", command, f"{self.directory}/log")
        host.wait_until("the kubelet stand-in serves", self.address)

    def restart(self):
        """With new certificates, at the same address."""
        address = self.address()
        self.stop()
        os.unlink(f"{self.directory}/address")
        self.start(address)

    def address(self):
        return host.read_text(f"{self.directory}/address").strip()

    def agent_options(self, verify="full", ca_file="ca.crt"):
        return ["--node-name", self.node_name, "--kubelet-url", f"https://{self.address()}",
                "--kubelet-verify", verify, "--kubelet-ca-file", f"{self.directory}/{ca_file}",
                "--kubelet-token-file", f"{self.directory}/token"]

    def write(self, name, text):
        """Changes what the stand-in reads again for each request: fault, certificate, accept, token."""
        replace_file(f"{self.directory}/{name}", text)

    def requests(self):
        """One string a request so far: path and what was answered."""
        return host.read_text(f"{self.directory}/requests").splitlines()

    def stop(self):
        if self.process:
            self.process.finish()
