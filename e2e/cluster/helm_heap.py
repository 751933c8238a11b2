#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pods that ask for libflamelet-heap.so, on a real cluster that adds it to them: those and no others preload it, and
their memory in use has their names.

    helm_heap.py path/to/flamelet [--chart DIRECTORY] [--part NAME]... [--kubernetes VERSION] [--keep]

HELM=/path/to/helm is the program. Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot
run here."""

import json
import os
import sys
import time

import build
import conduct
import heap_pods
import helm_scene
import helm_sink
import manifests
import node as nodes
import release

# pylint: disable=wrong-import-order
import host

RUN_SECONDS = 600
# The first that has the policy that the chart creates.
SINCE = "1.36"
WAIT_SECONDS = 60
RECORD_SECONDS = 5
PROGRAM, CONFIG = "/usr/bin/flamelet", "/etc/flamelet/flamelet.yaml"
LIBRARY = "libflamelet-heap.so"
VOLUME = "flamelet-heap"
KEPT_BYTES = heap_pods.MEGABYTES << 20
# Of the sum of 120 samples, by 4.5 standard deviations.
SHARE = 0.4
VALUES = {"profiling": {"kinds": ["cpu", "heap"]}, "heap": {"library": True, "inject": True}, "exportInterval": "5s",
          "store": {"enabled": True}}


class Scene:
    """The release, and two namespaces of pods."""

    def __init__(self, node, args):
        self.node, self.binary = node, os.path.abspath(args.binary)
        self.sink = helm_sink.Sink(node)
        self.release = release.Release(node, chart=args.chart)
        self.usual, self.restricted = f"heap-{node.node_name}", f"strict-{node.node_name}"

    def namespace(self, pod):
        return self.restricted if pod.is_restricted else self.usual

    def object_of(self, pod):
        return heap_pods.object_of(pod, self.namespace(pod))

    def values(self, *others):
        return helm_scene.merged({"otlp": {"endpoint": self.sink.endpoint}}, VALUES, *others)

    def start(self):
        """Returns when the agent samples and all pods run."""
        release.load_image(self.node, self.binary, release.app_version(self.release.chart))
        archive = f"{self.node.directory}/keep.tar"
        heap_pods.write_archive(archive, self.node.tool("busybox"), self.node.directory)
        self.node.ctr("images", "import", archive)
        self.sink.start()
        self.node.apply(manifests.as_text(manifests.make_namespace(self.usual),
                                          heap_pods.restricted_namespace(self.restricted)))
        self.release.install(self.values())
        self.release.wait_ready()
        self.wait_for_policy("hostPath")
        self.node.apply(manifests.as_text(*map(self.object_of, heap_pods.PODS)))
        for pod in heap_pods.PODS:
            self.node.wait_for(f"pod/{pod.name}", self.namespace(pod))

    def try_pod(self, name):
        """Returns what the API server would make of a pod."""
        pod = next(pod for pod in heap_pods.PODS if pod.name == name)
        wanted = self.object_of(pod)
        wanted["metadata"]["name"] += "-tried"
        return json.loads(self.node.kubectl("create", "--dry-run=server", "--filename=-", "--output=json",
                                            input=json.dumps(wanted)))

    def wait_for_policy(self, kind):
        """The API server reads policies at the side."""
        begin = time.monotonic()
        host.wait_until(f"pods that ask get a volume of the kind {kind}", lambda: any(
            kind in volume for volume in library_volumes(self.try_pod("web"))), WAIT_SECONDS, 0.2)
        print(f"the policy is in force after {time.monotonic() - begin:.1f} s", flush=True)


def library_volumes(pod):
    return [volume for volume in pod["spec"].get("volumes", []) if volume["name"] == VOLUME]


def preloaded(container):
    return [entry.get("value") for entry in container.get("env", []) if entry["name"] == heap_pods.VARIABLE]


def check_specs(scene):
    """What the API server has added, and that it has added nothing else."""
    faults = []
    for pod in heap_pods.PODS:
        found = scene.node.kubectl_json("--namespace", scene.namespace(pod), "get", f"pod/{pod.name}")
        asks = any(container.preloads for container in pod.containers)
        if len(library_volumes(found)) != asks:
            faults.append(f"{pod.name} has the volumes {found['spec'].get('volumes')}")
        wanted = {container.name: container for container in pod.containers}
        for container in found["spec"]["containers"] + found["spec"].get("initContainers", []):
            faults += spec_faults(pod, wanted[container["name"]], container)
    return faults


def spec_faults(pod, wanted, found):
    before = wanted.fields.get("env", [])
    mounts = [mount for mount in found.get("volumeMounts", []) if mount["name"] == VOLUME]
    added = [entry for entry in found.get("env", []) if entry not in before]
    is_right = (len(mounts) == wanted.preloads and len(added) == wanted.preloads and
                len(preloaded(found)) <= 1 and len(found.get("env", [])) == len(before) + len(added))
    return [] if is_right else [f"{pod.name}/{wanted.name} has {mounts} and {found.get('env')}"]


def check_maps(scene):
    """What the processes have loaded."""
    faults = []
    for pod in heap_pods.PODS:
        for container in pod.containers:
            maps = scene.node.kubectl("--namespace", scene.namespace(pod), "exec", pod.name, f"--container={container.name}",
                                      "--", "/bin/busybox", "cat", "/proc/1/maps")
            if (LIBRARY in maps) != container.preloads:
                faults.append(f"{pod.name}/{container.name}: the library is {'not ' * container.preloads}there")
    return faults


def expected_places(scene, pods=heap_pods.PODS):
    """{(namespace, pod, container)} with the library."""
    return {(scene.namespace(pod), pod.name, container.name) for pod in pods for container in pod.containers
            if container.preloads}


def ask(scene, *words):
    """{(namespace, pod, container): bytes in use} of the pods here, by the function that allocates."""
    sums = {}
    for line in scene.release.exec(PROGRAM, *words, "--group", "namespace,pod,container", "-q", "-o", "-", "--format",
                                   "folded").splitlines():
        stack, _, value = line.rpartition(" ")
        frames = stack.split(";")
        if frames[0] in (scene.usual, scene.restricted) and heap_pods.FUNCTION in frames:
            sums[tuple(frames[:3])] = sums.get(tuple(frames[:3]), 0) + int(value)
    return sums


def sum_faults(sums, places):
    faults = [f"{'/'.join(place)} has samples" for place in sums.keys() - places]
    faults += [f"{'/'.join(place)} has no sample" for place in places - sums.keys()]
    return faults + [f"{'/'.join(place)} has {value} bytes in use, and not {KEPT_BYTES}" for place, value in sums.items()
                     if abs(value - KEPT_BYTES) > SHARE * KEPT_BYTES]


def check_agent(scene):
    """The agent's snapshots of what is in use."""
    def look():
        return sum_faults(ask(scene, "query", "all", "--kind", "heap"), expected_places(scene))

    return host.last_faults(look, WAIT_SECONDS, 2)


def check_record(scene):
    """A recording in the agent's pod, of one pod."""
    several = next(pod for pod in heap_pods.PODS if pod.name == "several")
    sums = ask(scene, "record", "-c", CONFIG, "--kind", "heap", "--pod", f"{scene.usual}/{several.name}", "-d",
               f"{RECORD_SECONDS}s")
    print(f"recorded, in MB: { {place[2]: round(value / 1e6, 1) for place, value in sums.items()} }", flush=True)
    return sum_faults(sums, expected_places(scene, [several]))


def check_image_volume(scene):
    """Without the directory of the node, pods of all levels get a volume of the agent's image."""
    scene.release.upgrade(scene.values({"heap": {"library": False}}))
    scene.wait_for_policy("image")
    volumes = library_volumes(scene.try_pod("strict"))
    return [] if volumes and "image" in volumes[0] else [f"a restricted pod has the volumes {volumes}"]


CHECKS = (check_specs, check_maps, check_agent, check_record, check_image_volume)


def run_tests(args):
    if build.as_numbers(args.kubernetes) < build.as_numbers(SINCE):
        raise host.Skip(f"Kubernetes {args.kubernetes} has no MutatingAdmissionPolicy")
    with nodes.Node(args.kubernetes, args.keep) as node:
        scene = Scene(node, args)
        scene.start()
        problems = helm_scene.run_parts(scene, CHECKS, args.part)
        if problems:
            helm_scene.show(scene)
    return problems + conduct.leftovers(node)


if __name__ == "__main__":
    sys.exit(conduct.conduct(helm_scene.make_parser(__doc__, helm_scene.names_of(CHECKS)).parse_args(),
                             run_tests, RUN_SECONDS, release.helm_program))
