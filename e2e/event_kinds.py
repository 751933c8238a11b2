# SPDX-License-Identifier: Apache-2.0
"""Loads that are events of several kinds, for jitter.py: a pod's surge of CPU time, a service at its CPU limit, many new
processes, and packets for many sockets. Each must be named, and its selector must find its function."""

import math
import os
import subprocess
import time

import host
from findings import cgroup_of
from record_scene import HZ, total
from top_scene import Pods

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "event_kinds.c")
# A tenth of a CPU, but that before other cgroups.
LIMIT_V1 = {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 10_000, "cpu.shares": 262_144}
LIMIT_V2 = {"cpu.max": "10000 100000", "cpu.weight": 10_000}
EDGE_SECONDS = 2
OWN_SHARE = 0.7     # of a program; the rest is its start


class Kind:
    """A load, once it ran, and what its event must be."""

    def __init__(self, kind, function, subject="node"):
        self.kind, self.function, self.subject = kind, function, subject
        self.begin, self.end = time.time(), math.inf

    def finish(self):
        self.end = time.time()
        return self

    def find(self, events):
        """The event of this load, or None. An event of the node may be one of other programs as well."""
        found = [event for event in events if event["kind"] == self.kind and event["subject"] == self.subject
                 and event["first"] < self.end + EDGE_SECONDS and event["end"] > self.begin - EDGE_SECONDS]
        return max(found, key=lambda event: event["score"], default=None)

    def check(self, scene, store, event):
        """`ls` names it, and a query of it shows the function of the load."""
        name, whose = f"@{event['id']}", f"{self.kind} of {self.subject}"
        selection = ("-s", event["selector"]) if event["selector"] else ()
        counts = scene.counts(store, name, *selection)
        found = sum(count for stack, count in counts.items() if self.function in stack)
        print(f"{whose}: {name}, {found} of {total(counts)} samples in {self.function}: {event['text']}", flush=True)
        faults = [] if bool(selection) == (self.subject != "node") else [f"{whose}: the selector is {selection}"]
        if found < (OWN_SHARE * total(counts) if selection else HZ / 10):
            faults.append(f"{whose}: {found} of {total(counts)} samples are in {self.function}")
        return faults


class Service:
    """A program in a service with a CPU limit. Its cgroup must be in the hierarchy of the agent and in that of the
    limit, which may be one."""

    def __init__(self, command):
        self.name = f"e2e-limit-{os.getpid()}.service"
        limited, is_v1 = cgroup_of("cpu", self.name)
        self.directories = list({limited, f"{host.cgroup_mounts()[1]}/{self.name}"})
        for directory in self.directories:
            os.mkdir(directory)
        for name, value in (LIMIT_V1 if is_v1 else LIMIT_V2).items():
            write(f"{limited}/{name}", value)
        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=self.enter)

    def enter(self):
        for directory in self.directories:
            write(f"{directory}/cgroup.procs", 0)

    def stop(self):
        self.process.kill()
        self.process.wait()
        for directory in self.directories:
            host.remove_cgroup(directory)


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


class Kinds:
    """The loads, and the pods' kubelet, which is there before the agent."""

    def __init__(self, scene):
        self.scene, self.program = scene, f"{scene.directory}/event-kinds"
        host.run("gcc", "-O1", "-Wall", "-Werror", SOURCE, "-o", self.program)
        self.pods = Pods(scene.directory)
        self.service = None
        self.found = []

    def options(self):
        """Of the agent."""
        return self.pods.options()

    def stop(self):
        self.finish_service()
        self.pods.stop()

    def warm_up(self, store):
        self.scene.warm_up(store, os.path.basename(self.program), "burn_in_a_pod", ["pod"])

    def start(self):
        """Runs all loads. The service goes on until its event is there, or finish_service()."""
        self.start_service()
        self.found += [self.run_pod(), self.run("forks", Kind("forks", "make_children")),
                       self.run("packets", Kind("softirq", "send_to_many"))]

    def start_service(self):
        try:
            self.service = Service([self.program, "limit"])
        except host.Skip as skip:
            print(f"throttling: SKIP: {skip}", flush=True)
            return
        self.found.append(Kind("throttling", "spin_within_a_limit", f"service {self.service.name}"))

    def finish_service(self):
        if self.service:
            self.service.stop()
            self.found[0].finish()
        self.service = None

    def run_pod(self):
        self.pods.start("shop", "cart", "ReplicaSet", "server", [self.program, "pod"],
                        host.preempt_others)
        kind = Kind("pod-cpu", "burn_in_a_pod", f"pod shop/{self.pods.items[-1]['metadata']['name']}")
        self.pods.processes[-1].wait()
        return kind.finish()

    def run(self, load, kind):
        host.run(self.program, load, preexec_fn=host.preempt_others)
        return kind.finish()

    def missing(self, events):
        return [f"there is no event of kind {kind.kind}, of {kind.subject}" for kind in self.found if not kind.find(events)]

    def check(self, scene, store, events):
        return [fault for kind in self.found if kind.find(events)
                for fault in kind.check(scene, store, kind.find(events))]
