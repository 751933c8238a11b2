#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart on a node with Debian's kernel and Debian's kernel.perf_event_paranoid, which refuses samplers, and
with cgroup v2 alone: what the agent says, and that each of the chart's two remedies works. README.md in this
directory tells more.

    helm_vm.py path/to/flamelet [--chart DIRECTORY] [--kubernetes VERSION] [--keep]

HELM=/path/to/helm is the program. Exit status 0: all is right; 1: something is wrong, listed last; 77: it
cannot run here."""

import contextlib
import os
import subprocess
import sys
import time

import conduct
import helm_scene
import helm_sink
import manifests
import node as nodes
import release
import spin
import vm_guest
import vm_pods

# pylint: disable=wrong-import-order
import host

NAMESPACE = "guest-shop"
HELPER = "helper"
# Nothing is fast in a machine that is emulated.
ROLLOUT_SECONDS = 300
RUN_SECONDS = 1500
SYSCTL = "/proc/sys/kernel/perf_event_paranoid"
SYS_ADMIN = 1 << 21
MESSAGE = ("perf_event_paranoid", "SYS_ADMIN", "security.perfEventParanoid")
# Of the agent and its workers; a probe is the same program.
STATUSES = ('for p in /proc/[0-9]*; do [ "$(busybox readlink $p/exe)" = /usr/bin/flamelet ] || continue; '
            "busybox grep -q health $p/cmdline || busybox cat $p/task/*/status; done")
DOCTOR = ("/usr/bin/flamelet", "doctor", "-c", "/etc/flamelet/flamelet.yaml")


class GuestRelease(release.Release):
    """Its agent is on the guest alone."""

    def pods(self):
        found = self.node.kubectl_json("--namespace", self.namespace, "get", "pods",
                                       f"--selector=app.kubernetes.io/instance={self.name}")["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


class Scene:
    """The first node, the guest, and where the guest's agent sends profiles to."""

    def __init__(self, node, args):
        self.node, self.chart, self.binary = node, args.chart, os.path.abspath(args.binary)
        self.guest = vm_guest.Guest(node, vm_guest.DEBIAN_PARANOID)
        self.sink = helm_sink.Sink(node)
        self.release = GuestRelease(node, chart=args.chart)

    def start(self):
        archive = f"{self.node.directory}/agent.tar"
        reference = f"{release.REPOSITORY}:{release.app_version(self.chart)}"
        release.write_image(archive, self.binary, reference, self.node.directory)
        self.sink.start()
        self.guest.start([f"{self.node.directory}/image.tar", archive])
        self.node.apply(vm_pods.early(NAMESPACE, self.guest.node_name))
        self.node.apply(manifests.as_text(self.helper()))
        self.node.wait_for_rollout("deployment/old", NAMESPACE, ROLLOUT_SECONDS)
        self.node.wait_for(f"pod/{HELPER}", NAMESPACE, seconds=ROLLOUT_SECONDS)

    def helper(self):
        """A shell on the guest."""
        container = {"name": HELPER, "image": spin.IMAGE, "command": list(spin.PAUSE),
                     "securityContext": {"privileged": True}}
        return manifests.pod(HELPER, manifests.pod_spec(
            container, hostPID=True, **vm_pods.placed_on(self.guest.node_name)), NAMESPACE)

    def run_on_guest(self, script):
        return self.node.kubectl("--namespace", NAMESPACE, "exec", HELPER, "--",
                                 "/bin/busybox", "sh", "-c", script)

    def paranoid(self):
        return int(self.run_on_guest(f"busybox cat {SYSCTL}"))

    def values(self, **security):
        return {**helm_scene.BASE, "otlp": {"endpoint": self.sink.endpoint}, "security": security,
                **vm_pods.placed_on(self.guest.node_name)}

    def wait_ready(self):
        """And until it sends what the pod does."""
        self.release.wait_ready(ROLLOUT_SECONDS)
        since = time.time()
        host.wait_until("functions of the guest's pod", lambda: any(
            is_of_pod(sample) for sample in self.sink.samples(since)), ROLLOUT_SECONDS, 1)


def is_of_pod(sample):
    """With all its names, of Kubernetes and of the program."""
    return (sample.resource.get("k8s.namespace.name") == NAMESPACE and
            sample.resource.get("k8s.deployment.name") == "old" and
            sample.resource.get("flamelet.identity") == "kubelet" and spin.identity_of(sample.frames) is not None)


def check_refused(scene):
    """Default values."""
    faults = [f"the guest begins with {scene.paranoid()}"] * (scene.paranoid() != vm_guest.DEBIAN_PARANOID)
    told = scene.release.install(scene.values())
    status, text = helm_scene.wait_for_end(scene.release, ROLLOUT_SECONDS)
    print(f"exit status {status}: {text}", flush=True)
    faults += [f"exit status {status}"] * (status != 1)
    faults += [f"the message lacks {word}" for word in MESSAGE if word not in text]
    return faults + ["the notes do not name the value"] * ("perfEventParanoid" not in told)


def check_sysctl(scene):
    """An init container without privileges lowers it."""
    begin = time.monotonic()
    scene.release.upgrade(scene.values(perfEventParanoid="sysctl"))
    scene.wait_ready()
    print(f"works {time.monotonic() - begin:.1f} s after helm upgrade, paranoid is {scene.paranoid()}", flush=True)
    spec = scene.release.pod_object()["spec"]
    first, = spec["initContainers"]
    print(scene.release.kubectl("logs", scene.release.pod(), "-c", first["name"]), end="", flush=True)
    faults = [f"paranoid is {scene.paranoid()}"] * (scene.paranoid() != vm_guest.PARANOID)
    capabilities = first["securityContext"]["capabilities"]
    faults += [f"the init container has {capabilities}"] * (capabilities != {"drop": ["ALL"]})
    own = helm_scene.parse_statuses(scene.run_on_guest(STATUSES))
    faults += [f"{status['Name']} has SYS_ADMIN" for status in own if int(status["CapBnd"], 16) & SYS_ADMIN]
    return faults + doctor_faults(scene)


def doctor_faults(scene):
    """A kubelet that is emulated may be asked twice."""
    def report():
        with contextlib.suppress(host.Failure):
            return scene.release.exec(*DOCTOR)
        return None

    text = host.wait_until("doctor finds no fault", report, ROLLOUT_SECONDS, 1)
    print(text, end="", flush=True)
    faults = ["doctor does not say that cgroups are unified"] * ("unified" not in text)
    return faults + [line for line in text.splitlines() if line.startswith("warn")]


def check_sys_admin(scene):
    """With SYS_ADMIN, which is given up again. It stays in CapBnd, but NoNewPrivs lets nobody take it."""
    scene.run_on_guest(f"echo {vm_guest.DEBIAN_PARANOID} >{SYSCTL}")
    begin = time.monotonic()
    scene.release.upgrade(scene.values(perfEventParanoid="sysAdmin"))
    scene.wait_ready()
    print(f"works {time.monotonic() - begin:.1f} s after helm upgrade, paranoid is {scene.paranoid()}", flush=True)
    faults = [f"paranoid is {scene.paranoid()}"] * (scene.paranoid() != vm_guest.DEBIAN_PARANOID)
    threads = helm_scene.parse_statuses(scene.run_on_guest(STATUSES))
    for status in threads:
        helm_scene.print_status(status, "Name", *helm_scene.CAPABILITY_SETS, "NoNewPrivs")
        faults += [f"{status['Name']}: SYS_ADMIN in {key}" for key in helm_scene.CAPABILITY_SETS
                   if key != "CapBnd" and int(status[key], 16) & SYS_ADMIN]
        faults += [f"{status['Name']} may gain privileges"] * (status["NoNewPrivs"] != "1")
    return faults + ["no threads were seen"] * (not threads)


def show_logs(scene):
    helm_scene.show(scene)
    for name in ("containerd", "kubelet"):
        print(f"--- {name} of the guest\n{scene.guest.log(name)[-1500:]}", flush=True)
    with contextlib.suppress(host.Failure, subprocess.TimeoutExpired):
        print("--- agent\n" + scene.release.logs(), flush=True)


CHECKS = (check_refused, check_sysctl, check_sys_admin)


def run_tests(args):
    begin = time.monotonic()
    with nodes.Node(args.kubernetes, args.keep) as node:
        scene = Scene(node, args)
        scene.start()
        print(f"ready after {time.monotonic() - begin:.1f} s: {scene.guest.node_name}", flush=True)
        print(node.programs["guest"].log(), end="", flush=True)
        problems = helm_scene.run_parts(scene, CHECKS, args.part)
        if problems:
            show_logs(scene)
    return problems


def fetch():
    vm_guest.fetch_kernel()
    release.helm_program()


if __name__ == "__main__":
    sys.exit(conduct.conduct(helm_scene.make_parser(__doc__, helm_scene.names_of(CHECKS)).parse_args(),
                             run_tests, RUN_SECONDS, fetch))
