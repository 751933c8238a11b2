#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent in a pod, on a node whose cgroups are version 2 and nothing else: a virtual machine with
Debian's kernel, beside e2e/cluster's node and in its cluster. README.md in this directory tells more.

    vm.py path/to/flamelet [--kubernetes VERSION] [--keep]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import contextlib
import os
import re
import subprocess
import sys
import time

import compare
import conduct
import node as nodes
import settings
import sink as sinks
import truth as truths
import vm_guest
import vm_pods

# pylint: disable=wrong-import-order
import host

NAMESPACE = "guest-shop"
EXPORT_SECONDS = 5
# Nothing is fast in a machine that is emulated.
ROLLOUT_SECONDS = 300
# After so long the kubelet has told all containers' IDs, and what was sampled before that was sent.
SETTLE_SECONDS = 20
SAMPLING_SECONDS = 30
# So many of the samples from before then may lack this.
EXCUSED, EXCUSED_SHARE = "no k8s.container.name", 0.03
# The first run builds Kubernetes, which has its own limits.
RUN_SECONDS = 1200
METRIC = re.compile(r"^(flamelet_cgroup\w+) (\d+)", re.MULTILINE)


class Scene:
    """The first node, the guest, and where the guest's agent sends profiles to."""

    def __init__(self, node, binary):
        self.node, self.binary = node, binary
        self.guest = vm_guest.Guest(node)
        self.sink = sinks.Sink(node)
        self.truth = truths.Truth(node)
        self.options = vm_pods.agent_options(f"http://{vm_guest.GATEWAY}:{self.sink.port}")

    def start(self):
        archive = f"{self.node.directory}/agent.tar"
        vm_pods.write_agent_image(archive, self.binary, self.node.tool("busybox"))
        self.sink.start()
        self.truth.start()
        self.guest.start([f"{self.node.directory}/image.tar", archive])

    def start_agent(self):
        """Returns when its first profile has arrived."""
        options = self.options + ["--export-interval", f"{EXPORT_SECONDS}s", "--listen", vm_pods.LISTEN]
        self.node.apply(vm_pods.agent(self.guest.node_name, options))
        self.roll_out(f"daemonset/{vm_pods.NAME}", settings.NAMESPACE)
        host.wait_until("the agent's first profile arrives", self.sink.samples, ROLLOUT_SECONDS, 1)

    def roll_out(self, resource, namespace=NAMESPACE):
        self.node.wait_for_rollout(resource, namespace, ROLLOUT_SECONDS)

    def run_in_agent(self, *command):
        """Beside the agent, in its container."""
        return self.node.kubectl("--namespace", settings.NAMESPACE, "exec",
                                 f"daemonset/{vm_pods.NAME}", "--", *command)

    def show_logs(self):
        self.node.show_logs()
        for name in ("containerd", "kubelet"):
            print(f"--- {name} of the guest\n{self.guest.log(name)[-1500:]}", flush=True)
        with contextlib.suppress(host.Failure, subprocess.TimeoutExpired):
            print("--- agent\n" + self.node.kubectl(
                "--namespace", settings.NAMESPACE, "logs", f"daemonset/{vm_pods.NAME}"), flush=True)


def run_workloads(scene):
    node = scene.node
    node.apply(vm_pods.early(NAMESPACE, scene.guest.node_name))
    scene.roll_out("deployment/old")
    scene.start_agent()
    node.apply(vm_pods.scenario(NAMESPACE, scene.guest.node_name))
    for resource in ("deployment/web", "statefulset/db", "deployment/nested"):
        scene.roll_out(resource)
    node.wait_for("job/once", NAMESPACE, "condition=Complete", ROLLOUT_SECONDS)


def test_place(scene):
    """The agent's own cgroup is the root of what it sees by itself."""
    own = scene.run_in_agent("/bin/busybox", "cat", "/proc/self/cgroup").strip()
    print(f"the agent's own cgroup: {own}", flush=True)
    return [] if own == "0::/" else [f"the agent's own cgroup is {own}, it has no namespace"]


def test_doctor(scene):
    """Its exit status is a failure when anything is."""
    report = scene.run_in_agent("/bin/flamelet", "doctor", *scene.options)
    print(report, end="", flush=True)
    return [] if "unified" in report else ["doctor does not say that cgroups are unified"]


def test_metrics(scene):
    """The kernel tells of cgroups as they are made."""
    page = "".join(scene.run_in_agent("/bin/busybox", "wget", "-q", "-O", "-", f"http://{vm_pods.LISTEN}{path}")
                   for path in ("/metrics", "/metrics/debug"))
    values = {name: int(value) for name, value in METRIC.findall(page)}
    print(" ".join(f"{name}={value}" for name, value in values.items()), flush=True)
    is_right = (values["flamelet_cgroups_followed"] == 1 and
                values["flamelet_cgroups_born_total"] > 0 and
                values["flamelet_cgroup_events_lost_total"] == 0)
    return [] if is_right else ["the agent does not follow cgroups as they are made"]


def spinning_containers(truth):
    """The agent's own does not spin."""
    return {key: container for key, container in truth.containers().items()
            if container.resource["k8s.namespace.name"] == NAMESPACE}


def test_beginnings(scene, samples):
    """An emulated kubelet may need longer to tell a container's ID than samples wait for it."""
    comparison = compare.Comparison(spinning_containers(scene.truth))
    comparison.add(samples)
    comparison.print_table()
    is_excused = comparison.total("unnamed") <= EXCUSED_SHARE * comparison.total("samples")
    problems = list(comparison.problems)
    for place, tally in comparison.tallies.items():
        faults = list(tally.faults) if tally.samples else ["no samples at all"]
        problems += [f"{place}: {fault} (of {tally.samples} samples, {tally.unnamed} unnamed)"
                     for fault in faults if not (is_excused and fault == EXCUSED)]
    return problems


def test_names(scene, samples):
    """Later on, the kubelet has named every container."""
    containers = {key: container for key, container in spinning_containers(scene.truth).items()
                  if "k8s.job.name" not in container.resource}
    for container in containers.values():
        container.resource[compare.EXCUSE] = "kubelet"
    comparison = compare.Comparison(containers)
    comparison.add(samples)
    comparison.print_table()
    return comparison.result()


def test_attribution(scene):
    time.sleep(SETTLE_SECONDS)
    nr_early = len(scene.sink.samples())
    time.sleep(SAMPLING_SECONDS)
    samples = scene.sink.samples()
    return test_beginnings(scene, samples[:nr_early]) + test_names(scene, samples[nr_early:])


def test_guest(scene):
    begin = time.monotonic()
    scene.start()
    print(f"ready after {time.monotonic() - begin:.1f} s: {scene.guest.node_name}", flush=True)
    print(scene.node.programs["guest"].log(), end="", flush=True)
    run_workloads(scene)
    print(f"all workloads ran after {time.monotonic() - begin:.1f} s", flush=True)
    return [problem for test in (test_attribution, test_place, test_doctor, test_metrics)
            for problem in test(scene)]


def run_tests(args):
    with nodes.Node(args.kubernetes, args.keep) as node:
        scene = Scene(node, os.path.abspath(args.binary))
        try:
            problems = test_guest(scene)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            problems = [str(failure)]
        if problems:
            scene.show_logs()
    return problems


if __name__ == "__main__":
    sys.exit(conduct.conduct(conduct.make_parser(__doc__).parse_args(), run_tests, RUN_SECONDS, vm_guest.fetch_kernel))
