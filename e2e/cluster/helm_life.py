#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a release of the chart on a real cluster: what restarts the agent and what does not, what is lost
by that, and what is left in the end. README.md in this directory tells more.

    helm_life.py path/to/flamelet [--chart DIRECTORY] [--part NAME]... [--kubernetes VERSION] [--keep]

HELM=/path/to/helm is the program. Exit status 0: all is right; 1: something is wrong, listed last; 77: it
cannot run here."""

import json
import sys
import time

import conduct
import helm_life_queue
import helm_node
import helm_pods
import helm_scene
import helm_sink
import manifests
import release

# pylint: disable=wrong-import-order
import host

RUN_SECONDS = 1700
SECRET = "receiver"
HEADER = "X-Rotation"
LABEL = "team"
PORT = 9091
# How much two agents may differ, and how long they are compared.
SHARE = 0.02
COMPARED_SECONDS = 60
HEADERS = {"otlp": {"headersSecret": {"name": SECRET}}}


def put_secret(scene, value, namespace="flamelet"):
    scene.node.apply(json.dumps({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": namespace},
        "stringData": {"headers": f"{HEADER}: {value}\n"}}))


def check_install(scene):
    """With what later checks need."""
    scene.set_kubelet(syncFrequency=f"{helm_scene.SYNC_SECONDS}s")
    scene.node.apply(manifests.as_text(*(manifests.make_namespace(name) for name in ("flamelet", "second"))))
    put_secret(scene, "one")
    begin = time.monotonic()
    scene.release.install(scene.values())
    scene.release.wait_ready()
    print(f"ready {time.monotonic() - begin:.1f} s after helm install", flush=True)
    scene.wait_for_everything()
    values = {request.headers.get(HEADER) for request in scene.sink.requests()}
    return [] if values == {"one"} else [f"the header's values are {values}"]


class Unchanged:
    """Checks that no upgrade in between has restarted the agent."""

    def __init__(self, agent):
        self.agent, self.before = agent, helm_scene.containers_of(agent)

    def faults(self):
        self.agent.wait_ready()
        after = helm_scene.containers_of(self.agent)
        return [] if after == self.before else [f"restarted: {self.before} became {after}"]


def check_no_change(scene):
    """An upgrade to the same values."""
    unchanged = Unchanged(scene.release)
    scene.release.upgrade(scene.values())
    return unchanged.faults()


def check_selection(scene):
    """A namespace is excluded and a label becomes an attribute, while the agent goes on."""
    unchanged = Unchanged(scene.release)
    bank = scene.pods.namespace(helm_pods.BANK)
    scene.node.kubectl("--namespace", scene.pods.namespace(helm_pods.SHOP), "label", "pod", helm_pods.SHOP,
                       f"{LABEL}=green", "--overwrite")
    begin = time.time()
    scene.release.upgrade(scene.values({"select": {"excludeNamespaces": [bank]},
                                        "attributes": {"podLabels": [LABEL]}}))
    host.wait_until("the agent's log tells of the selection",
                    lambda: "the selection of pods has changed" in scene.release.logs(), helm_scene.WAIT_SECONDS, 0.5)
    print(f"the selection of pods has changed {time.time() - begin:.1f} s after helm upgrade", flush=True)
    scene.wait_for_samples(
        "samples follow", lambda samples: has_label(scene, samples) and
        (bank, "user") not in scene.pods.pods_with_samples(helm_scene.recent(samples)))
    print("label and exclusion are in the samples", flush=True)
    faults = unchanged.faults()
    scene.release.upgrade(scene.values())
    scene.wait_for_samples("the excluded namespace is back", lambda samples: (bank, "user") in
                           scene.pods.pods_with_samples(samples))
    return faults + unchanged.faults()


def has_label(scene, samples):
    shop = scene.pods.namespace(helm_pods.SHOP)
    return any(sample.resource.get(f"k8s.pod.label.{LABEL}") == "green" for sample in samples
               if sample.resource.get("k8s.namespace.name") == shop)


def check_secret(scene):
    """Credentials that are renewed."""
    unchanged = Unchanged(scene.release)
    begin = time.time()
    put_secret(scene, "two")
    host.wait_until("the new header arrives", lambda: any(
        request.headers.get(HEADER) == "two" for request in scene.sink.requests()), helm_scene.WAIT_SECONDS, 0.5)
    print(f"the new header is used {time.time() - begin:.1f} s after the Secret changed", flush=True)
    put_secret(scene, "one")
    host.wait_until("the old header is back", lambda: scene.sink.requests()[-1].headers.get(HEADER) == "one",
                    helm_scene.WAIT_SECONDS, 0.5)
    return unchanged.faults()


def check_metrics(scene):
    """One port, with one page."""
    scene.release.upgrade(scene.values({"metrics": {"enabled": True, "port": PORT}}))
    scene.release.wait_ready()
    address = scene.release.pod_object()["status"]["podIP"]
    sockets = helm_scene.listening_sockets(scene.release.pid())
    faults = [f"listens at {sockets}"] * (len(sockets) != 1)
    for path, expected in (("/metrics", 200), ("/healthz", 404), ("/readyz", 404), ("/", 404)):
        status, body = helm_node.get(scene.node, f"http://{address}:{PORT}{path}")
        faults += [f"{path}: status {status}"] * (status != expected)
        if path == "/metrics" and "flamelet_samples_total" not in body:
            faults.append("no metrics in /metrics")
    return faults


def check_restart(scene):
    """Another frequency: the old agent sends all that it has taken before the new one begins."""
    scene.release.upgrade(scene.values(helm_life_queue.mark("old")))
    scene.release.wait_ready()
    scene.wait_for_samples("samples of the old agent", helm_life_queue.has_mark("old"))
    before = helm_scene.containers_of(scene.release)
    log = helm_scene.LogFollower(scene.release)
    scene.release.upgrade(scene.values(helm_life_queue.mark("new"), {"profiling": {"frequency": 49}}))
    scene.release.wait_ready()
    faults = ["a changed frequency does not restart"] * (helm_scene.containers_of(scene.release) == before)
    scene.wait_for_samples("samples of the new agent", helm_life_queue.has_mark("new"))
    faults += helm_life_queue.conservation_faults(scene, "old", log.finish())
    return faults + helm_life_queue.gap_faults(scene, "old", "new")


def check_rollback(scene):
    """To the values of the first revision."""
    before = scene.release.helm("get", "manifest", scene.release.name, "--revision=1")
    scene.release.helm("rollback", scene.release.name, "1")
    scene.release.wait_ready()
    faults = []
    if scene.release.helm("get", "manifest", scene.release.name) != before:
        faults.append("the manifest is not that of the first revision")
    samples = scene.wait_for_samples("samples", helm_life_queue.has_mark(None))
    print(f"{helm_sink.total(samples)} samples after the rollback", flush=True)
    return faults


def check_two_releases(scene):
    """The same chart and name in another namespace: both see all, and as much."""
    first, second = scene.release, scene.make_release("second")
    sink = helm_sink.Sink(scene.node, 4319)
    sink.start()
    put_secret(scene, "one", "second")
    unchanged = Unchanged(first)
    second.install(scene.values({"otlp": {"endpoint": sink.endpoint}}))
    second.wait_ready()
    busy = scene.node.start_in_node("busy", [f"{scene.node.directory}/spin", "100"], env={
        "SPIN_DIRECTORY": f"{scene.node.directory}/spin-host", "CONTAINER_NAME": "busy"})
    since = time.time()
    for one in (scene.sink, sink):
        scene.wait_for_samples("a minute of profiles", lambda samples: helm_sink.spans(samples)[-1][1] >
                               since + COMPARED_SECONDS, since, sink=one)
    busy.finish(first=9)
    faults = unchanged.faults() + rate_faults(scene.sink.samples(since), sink.samples(since))
    faults += quiet_faults(first) + quiet_faults(second)
    for one in (scene.sink, sink):
        scene.wait_for_everything(sink=one)
    return faults + end_second(scene, second)


def rate_faults(first, second):
    """Samples a second, over whole intervals."""
    rates = []
    for samples in (first, second):
        covered = sum(end - begin for begin, end in helm_sink.spans(samples))
        rates.append(helm_sink.total(samples) / covered)
        print(f"{helm_sink.total(samples)} samples in {covered:.1f} s: {rates[-1]:.2f} a second", flush=True)
    apart = abs(rates[0] - rates[1]) / max(rates)
    print(f"{100 * apart:.2f} % apart", flush=True)
    return [f"the agents' samples are {100 * apart:.1f} % apart"] if apart > SHARE else []


def quiet_faults(agent):
    return [f"{agent.namespace}: {line}" for line in agent.logs().splitlines() if "level=error" in line]


def end_second(scene, second):
    """The first one goes on."""
    unchanged, uid = Unchanged(scene.release), helm_scene.containers_of(second)[0]
    objects = helm_node.bpf_objects(second.pid())
    second.uninstall()
    scene.wait_for_samples("samples of the first agent", lambda samples: len(
        scene.pods.pods_with_samples(samples)) == 4)
    return unchanged.faults() + left_behind(scene, second, uid, objects, others=1)


def left_behind(scene, agent, uid, objects, others=0):
    """Of an agent that was uninstalled."""
    node = scene.node
    host.wait_until("the pod's cgroups go", lambda: not helm_node.cgroups_of(node, uid), 60, 0.2)
    faults = helm_node.wait_until_gone(objects)
    faults += [f"{one} is left" for one in helm_node.api_objects(node, agent.name, agent.namespace)]
    if not others:
        faults += [f"{one} is left" for one in helm_node.processes_of(node)]
    return faults


def check_uninstall(scene):
    """Nothing is left on the node, nor in the cluster, but for the queue that an earlier check put there."""
    before = helm_node.host_files(scene.node)
    uid = helm_scene.containers_of(scene.release)[0]
    objects = helm_node.bpf_objects(scene.release.pid())
    print(f"before: {helm_node.count(objects)}", flush=True)
    begin = time.monotonic()
    scene.release.uninstall()
    faults = left_behind(scene, scene.release, uid, objects)
    print(f"nothing is left {time.monotonic() - begin:.1f} s after helm uninstall" if not faults else
          f"left: {faults}", flush=True)
    return faults + [f"{path} is left on the node" for path in helm_node.host_files(scene.node)
                     if path not in before]


CHECKS = (check_install, check_no_change, check_selection, check_secret, check_metrics, check_restart,
          check_rollback, *helm_life_queue.CHECKS, check_two_releases, check_uninstall,
          helm_life_queue.check_host_path)


def fetch():
    host.require("bpftool", "curl")
    release.helm_program()


def run_tests(args):
    return helm_scene.run_on_node(args, CHECKS, helm_scene.merged(helm_scene.BASE, HEADERS))


if __name__ == "__main__":
    sys.exit(conduct.conduct(helm_scene.make_parser(__doc__, helm_scene.names_of(CHECKS)).parse_args(),
                             run_tests, RUN_SECONDS, fetch))
