# SPDX-License-Identifier: Apache-2.0
"""Makes a schedule's events happen."""

import json
import os
import subprocess
import threading
import time

import host
import spin

TRY_SECONDS = 150
PAUSE_SECONDS = 0.5


class Player:
    """Each group has a thread, in which its events happen in order. `agent` is restarted by
    agent.restart(); whatever cannot be done in TRY_SECONDS ends up in `problems`."""

    def __init__(self, node, agent, watch, schedule):
        self.node, self.agent, self.watch, self.schedule = node, agent, watch, schedule
        self.has_api = threading.Event()
        self.has_api.set()
        self.problems = []
        self.begun = None

    def play(self):
        groups = {}
        for event in self.schedule.events:
            groups.setdefault(event.group, []).append(event)
        threads = [threading.Thread(target=self.play_group, args=(events,), daemon=True)
                   for events in groups.values()]
        self.begun = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def play_group(self, events):
        for event in events:
            time.sleep(max(0.0, self.begun + event.at - time.monotonic()))
            try:
                self.perform(event)
            except (host.Failure, subprocess.TimeoutExpired) as failure:
                self.problems.append(f"{event.group}: {event.action}: {failure}")
                return

    def perform(self, event):
        action = getattr(self, event.action.replace("-", "_"))
        if event.group == "fault":
            print(f"{time.monotonic() - self.begun:7.1f} s {event.action}", flush=True)
            action()
        elif event.action in ("place", "remove"):
            action(**event.arguments)
        else:
            self.try_hard(lambda: action(**event.arguments))

    def try_hard(self, action):
        """A new namespace has no service account at once, and the API server may go at any time."""
        deadline = time.monotonic() + TRY_SECONDS
        while True:
            self.has_api.wait(TRY_SECONDS)
            try:
                return action()
            except host.Failure:
                if time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_SECONDS)

    # Actions on pods.

    def create(self, manifest):
        try:
            self.node.kubectl("create", "--filename=-", input=json.dumps(manifest))
        except host.Failure as failure:
            # An earlier attempt of which the answer was lost.
            if "AlreadyExists" not in str(failure):
                raise

    def delete(self, kind, namespace, name, grace, is_waiting):
        options = [f"--wait={str(is_waiting).lower()}", "--ignore-not-found"]
        if grace is not None:
            options += [f"--grace-period={grace}"] + (["--force"] if grace == 0 else [])
        self.node.kubectl("--namespace", namespace, "delete", kind, name, *options)

    def delete_namespace(self, name):
        self.node.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")

    def debug(self, namespace, pod, container, command):
        variables = {"POD_NAMESPACE": namespace, "POD_NAME": pod, "CONTAINER_NAME": container}
        self.node.kubectl("--namespace", namespace, "debug", pod, f"--container={container}",
                          f"--image={spin.IMAGE}",
                          *(f"--env={name}={value}" for name, value in variables.items()),
                          "--", *command)

    def restart(self, namespace, name):
        self.node.kubectl("--namespace", namespace, "rollout", "restart", f"deployment/{name}")

    def place(self, manifest):
        self.node.add_static_pod(manifest["metadata"]["name"], json.dumps(manifest))

    def remove(self, name):
        os.unlink(f"{self.node.directory}/var/lib/kubelet/manifests/{name}.yaml")

    # Actions on the node.

    def stop_kubelet(self):
        self.node.stop_kubelet()

    def start_kubelet(self):
        self.node.start_kubelet()

    def stop_api(self):
        self.has_api.clear()
        self.node.stop_apiserver()

    def start_api(self):
        self.node.start_apiserver()
        self.watch.start()
        self.has_api.set()

    def restart_agent(self):
        self.agent.restart()
