# SPDX-License-Identifier: Apache-2.0
"""The programs that guests run, and the pods that they are the containers of: by their cgroups, which are
directories made by hand, and by a kubelet's list of pods, which a stand-in on this machine serves."""

import os
import re
import subprocess
from dataclasses import dataclass

# pylint: disable=wrong-import-order
import kubelet
import workloads

NODE = "guest"
# All without frame pointers; those in Go have them. system_calls is in the kernel most of the time.
PROGRAMS = ("c-gcc-O2", "c-clang-O3", "c++-gcc-O2", "exceptions", "static", "musl-static", "go", "rust", "system-calls")
# One of the recorded pods; its container's name.
TEMPLATE, CONTAINER = "web-d7c696699-dk5fr", "spin"
QOS = ("burstable", "besteffort", "")
STYLES = ("cgroupfs", "systemd")
GATEWAY = "10.0.2.2"


@dataclass
class Container:
    """`name` is that of its process, too."""
    name: str
    program: str
    workload: workloads.Workload

    def labels(self):
        """Returns the pprof labels that its samples must have."""
        pod = self.workload.pod
        return {"namespace": pod.namespace, "pod": pod.name, "pod_uid": pod.uid, "container": CONTAINER,
                "container_id": self.workload.container_id, "identity": "kubelet"}


def make(directory):
    """The containers of those programs that could be built here."""
    return [make_container(number, f"{directory}/{name}") for number, name in enumerate(PROGRAMS)
            if os.path.exists(f"{directory}/{name}")]


def files(containers):
    """The programs and the libraries that they are linked with, by their places."""
    programs = [container.program for container in containers]
    # It fails for those that are static.
    linked = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    found = re.findall(r"(?:=> |^\t)(/\S+) \(0x", linked.stdout, re.MULTILINE)
    return {path: path for path in programs + sorted(set(found))}


def make_container(number, program):
    name = os.path.basename(program)
    pod = workloads.Pod(TEMPLATE, f"namespace-{number % 2}", f"pod-{number}", "web", QOS[number % len(QOS)],
                        STYLES[number % len(STYLES)])
    workload = workloads.Workload(name, pod, CONTAINER, 0, 0, started=0.0)
    return Container(name, program, workload)


class Kubelet:
    """A context: the stand-in serves the pods of all guests, which are the same in each."""

    def __init__(self, directory, containers):
        self.standin = kubelet.Kubelet(directory, NODE)
        self.pod_list = kubelet.PodList()
        self.pod_list.workloads = [container.workload for container in containers]
        self.pod_list.add_node(NODE, self.standin.pods_path)

    def __enter__(self):
        self.standin.start()
        return self

    def __exit__(self, *_error):
        self.standin.stop()

    def options(self):
        """For Flamelet in a guest."""
        return [option.replace("127.0.0.1", GATEWAY) for option in self.standin.agent_options()]
