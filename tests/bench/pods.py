# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of identity: excluded samples, the kubelet's answers, and how soon a container
has its names."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import uuid

import empty_program
import loads
import measure
import otlp_windows

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../e2e/local"), os.path.join(HERE, "../../e2e")]

# pylint: disable=wrong-import-position
import capabilities
import host
import kubelet
import workloads

RECORDED = os.path.join(HERE, "../fixtures/kubelet/busy-node.json")
NODE = "bench-node"
HZ = 999
DEPTH = 25
WARM_UP_S = 5
WINDOW_S = 5
RUNS = 3
URGENT_NICE = -15
NR_REFRESHES = 5
NOBODY = "/fl-bench-empty"
IDLE_S = 60
POLL_S = 5      # what others poll with
NR_CONTAINERS = 24


def make_items(nr_pods):
    """Pods of recorded size, each with names and identifiers of its own, all of whose containers run."""
    with open(RECORDED, encoding="utf-8") as recorded:
        items = json.load(recorded)["items"]
    texts = [json.dumps(item) for item in items if "ownerReferences" in item["metadata"]]
    for number in range(nr_pods):
        item = json.loads(texts[number % len(texts)])
        item["metadata"].update(name=f"bench-{number}", uid=str(uuid.uuid4()))
        item["status"]["containerStatuses"] = [
            {"name": container["name"], "image": container["image"], "imageID": "", "ready": True, "restartCount": 0,
             "state": {"running": {"startedAt": kubelet.SOME_TIME}},
             "containerID": "containerd://" + secrets.token_hex(32)} for container in item["spec"]["containers"]]
        yield item


def write_body(path, items):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}, file)
    return os.path.getsize(path) / 2**20


def container_cgroups(items):
    for item in items:
        pod = f"/kubepods/burstable/pod{item['metadata']['uid']}"
        for status in item["status"]["containerStatuses"]:
            yield f"{pod}/{status['containerID'].rpartition('/')[2]}"


class Cgroups:
    """Directories that are there in the meantime."""

    def __init__(self):
        self.mount, self.paths = host.cgroup_mounts()[1], []
        self.shared = host.SharedCgroups()

    def __enter__(self):
        return self

    def make(self, path):
        os.makedirs(self.mount + path, exist_ok=True)
        self.paths.append(path)

    def __exit__(self, *_error):
        for path in self.paths:
            host.kill_cgroup(self.mount + path)
            host.remove_cgroup(self.mount + path)
        self.shared.release({os.path.dirname(path) for path in self.paths})


@contextlib.contextmanager
def node(items):
    """A kubelet that has these pods."""
    with tempfile.TemporaryDirectory() as folder:
        standin = kubelet.Kubelet(f"{folder}/kubelet", NODE)
        size_mb = write_body(standin.pods_path, list(items))
        try:
            standin.start()
            yield standin, size_mb
        finally:
            standin.stop()


@contextlib.contextmanager
def running_agent(flamelet, *options, hz=19, endpoint=None, interval="5s"):
    agent = loads.start_agent(flamelet, hz, endpoint or loads.start_sink(), interval, options)
    try:
        time.sleep(WARM_UP_S)
        yield agent
    finally:
        loads.stop_agent(agent)


def run_in(cgroup, command, **options):
    def enter():
        with open(host.cgroup_mounts()[1] + cgroup + "/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write("0")

    return subprocess.Popen(command, preexec_fn=enter, **options)


def go_first(processes):
    """Before others of the machine: the samples are to be of the load."""
    for process in processes:
        os.setpriority(os.PRIO_PROCESS, process.pid, URGENT_NICE)


def bpf_ns(flamelet, deep, cgroup, *options):
    """A sample, with the load in a cgroup on all CPUs."""
    with running_agent(flamelet, *options, hz=HZ) as agent:
        processes = [run_in(cgroup, [deep, str(DEPTH), "600"]) for _ in range(os.cpu_count())]
        try:
            time.sleep(WARM_UP_S)
            go_first(processes)
            ns, runs = measure.sampler_stats(agent.pid)
            time.sleep(WINDOW_S)
            ns_after, runs_after = measure.sampler_stats(agent.pid)
        finally:
            loads.end(processes)
    return (ns_after - ns) / (runs_after - runs)


def measure_excluded(flamelet, deep, standin, container, unit):
    """One run of each, by what is measured."""
    included = standin.agent_options()
    excluded = [*included, "--cgroup", NOBODY]
    return {
        "included, a container": bpf_ns(flamelet, deep, container, *included),
        "excluded, a container": bpf_ns(flamelet, deep, container, *excluded),
        "excluded, a host process": bpf_ns(flamelet, deep, unit, *excluded),
        "baseline, an empty program": empty_program.measure_ns(HZ, WINDOW_S),
    }


def print_excluded(flamelet, folder):
    """All cgroups are excluded, so that no other process of the machine adds to the cost."""
    items = list(make_items(1))
    container, unit = next(container_cgroups(items)), "/system.slice/fl-bench.service"
    with Cgroups() as cgroups, node(items) as (standin, _):
        for path in (container, unit, NOBODY):
            cgroups.make(path)
        runs = [measure_excluded(flamelet, f"{folder}/deep", standin, container, unit) for _ in range(RUNS)]
    print(f"\nBPF time of a sample at {HZ} Hz, {DEPTH} frames on all CPUs, ns; median and extremes of {RUNS} runs:")
    for name in runs[0]:
        found = sorted(run[name] for run in runs)
        print(f"  {name:28} {found[len(found) // 2]:8.0f} ({found[0]:.0f}-{found[-1]:.0f})", flush=True)


def thread_seconds(pid, name):
    """CPU time of the agent's threads of that name."""
    total_ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        if host.read_text(f"/proc/{pid}/task/{tid}/comm").strip() == name:
            total_ns += int(host.read_text(f"/proc/{pid}/task/{tid}/schedstat").split()[0])
    return total_ns / 1e9


def pods_seconds(pid):
    """CPU time of reading pods: of the agent's thread, and of the process that asks the kubelet for it."""
    seconds = thread_seconds(pid, "pods")
    for child in capabilities.children(pid):
        if host.read_text(f"/proc/{child}/comm").strip() == "kubelet-worker":
            seconds += thread_seconds(child, "kubelet-worker")
    return seconds


def refresh(cgroups, standin):
    """Makes the agent ask by starting a container in an unknown pod."""
    before = len(standin.requests())
    cgroups.make(f"/kubepods/pod{uuid.uuid4()}/{secrets.token_hex(32)}")
    host.wait_until("the kubelet is asked", lambda: len(standin.requests()) > before, 30)


def wait_until_idle(pid):
    """Until the thread that reads pods has not run for a while."""
    readings = [-1.0]
    while readings[-1] != (now := pods_seconds(pid)):
        readings.append(now)
        time.sleep(1)


def measure_refresh(flamelet, nr_pods, json_tree):
    with Cgroups() as cgroups, node(make_items(nr_pods)) as (standin, size_mb):
        tree_ms, tree_mb = subprocess.run([json_tree, standin.pods_path], capture_output=True,
                                          text=True, check=True).stdout.split()
        cgroups.make(NOBODY)
        with running_agent(flamelet, *standin.agent_options(), "--cgroup", NOBODY) as agent:
            wait_until_idle(agent.pid)
            cpu, asked = pods_seconds(agent.pid), len(standin.requests())
            for _ in range(NR_REFRESHES):
                refresh(cgroups, standin)
            wait_until_idle(agent.pid)
            cpu = pods_seconds(agent.pid) - cpu
            nr = len(standin.requests()) - asked
            rss, peak = measure.memory_mb(agent.pid)
    return {"pods": nr_pods, "size": size_mb, "ms": cpu / nr * 1e3, "rss": rss, "peak": peak,
            "tree_ms": float(tree_ms), "tree_mb": float(tree_mb)}


def print_refreshes(flamelet, folder):
    print(f"\nA refresh of the pods, CPU time of the agent with TLS and all, mean of {NR_REFRESHES} or more; "
          "resident memory, of an agent that samples nobody, afterwards and at most:")
    for nr_pods in (1, 110, 5000):
        found = measure_refresh(flamelet, nr_pods, f"{folder}/json_tree")
        print("  {pods:5} pods, {size:5.1f} MB: {ms:7.1f} ms; {rss:6.1f}, {peak:6.1f} MB   baseline, cJSON_Parse alone: "
              "{tree_ms:7.1f} ms, body and tree {tree_mb:6.1f} MB".format(**found), flush=True)


def measure_idle(flamelet, nr_pods):
    """CPU seconds of the threads that have to do with identity, and how often the kubelet was asked."""
    items = list(make_items(nr_pods))
    with Cgroups() as cgroups, node(items) as (standin, _):
        for path in container_cgroups(items):
            cgroups.make(path)
        with running_agent(flamelet, *standin.agent_options()) as agent:
            wait_until_idle(agent.pid)
            asked, begin = len(standin.requests()), time.monotonic()
            before = [pods_seconds(agent.pid), thread_seconds(agent.pid, "flamelet")]
            time.sleep(IDLE_S)
            after = [pods_seconds(agent.pid), thread_seconds(agent.pid, "flamelet")]
            hours = (time.monotonic() - begin) / 3600
            nr_asked = len(standin.requests()) - asked
    pods_s, reader_s = (now - then for now, then in zip(after, before))
    return nr_asked, pods_s, pods_s / hours, reader_s / hours, len(cgroups.paths)


def print_idle(flamelet, nr_pods=110):
    nr_asked, pods_s, pods_hour, reader_hour, nr_cgroups = measure_idle(flamelet, nr_pods)
    each_s = pods_s / max(1, nr_asked)
    print(f"\nIdentity on a node of {nr_pods} pods and {nr_cgroups} containers where none comes or goes, {IDLE_S} s "
          "extrapolated to an hour:")
    print(f"  the thread that reads pods {pods_hour:.1f} s an hour ({nr_asked} requests, {each_s * 1e3:.1f} ms each; "
          f"at one in 30 s that is {each_s * 120:.1f} s); the whole reader, of which identity is a part, {reader_hour:.1f} s")
    print(f"  baseline, the same requests every {POLL_S} s: {each_s * 3600 / POLL_S:.1f} s an hour", flush=True)


def percentiles(values):
    values = sorted(values)
    return " ".join(f"p{percent} {values[min(len(values) - 1, len(values) * percent // 100)]:.1f}"
                    for percent in (50, 90, 99))


def new_containers():
    """Each in a pod of its own, which the kubelet knows before it starts; its container's ID comes a second later."""
    for number in range(NR_CONTAINERS):
        pod = workloads.Pod("crash", "bench", f"bench-{number}", f"bench-{number}", "burstable")
        yield workloads.Workload("bench", pod, "crash", 0, 100)


def start_containers(deep, cgroups, containers):
    processes = []
    for container in containers:
        cgroups.make(container.cgroup)
        container.started, container.born = time.monotonic(), time.time()
        processes.append(run_in(container.cgroup, [deep, "5", "5"]))
        time.sleep(1.3)     # out of step with the agent's seconds
    return processes


def first_times(requests, read_resources):
    """By container's ID: when the profile with its first sample ended, when that came, and the first that has its
    name."""
    ended, arrived, named = {}, {}, {}
    for end_s, arrived_s, resource in read_resources(requests):
        container_id = resource.get("container.id", "")
        ended.setdefault(container_id, end_s)
        arrived.setdefault(container_id, arrived_s)
        if "k8s.container.name" in resource:
            named.setdefault(container_id, arrived_s)
    return {"end of the first profile with it": ended, "its first sample came": arrived,
            "its first one with all names": named}


def measure_first(flamelet, deep, sink):
    pod_list, containers = kubelet.PodList(), list(new_containers())
    with Cgroups() as cgroups, node([]) as (standin, _):
        pod_list.start(containers)
        pod_list.add_node(NODE, standin.pods_path)
        try:
            # A window waits for the names of all in it: others' containers are left out.
            only_these = [word for each in containers for word in ("--cgroup", each.pod.cgroup())]
            with running_agent(flamelet, *standin.agent_options(), *only_these, hz=99, endpoint=sink.url,
                               interval="1s"):
                processes = start_containers(deep, cgroups, containers)
                time.sleep(8)
                loads.end(processes)
        finally:
            pod_list.stop()
    return containers


def print_first(flamelet, folder):
    read_resources = otlp_windows.make_resource_reader()
    if read_resources is None:
        print("\nprotoc or Python's protobuf is not installed: the time to a container's first sample is left out")
        return
    sink = otlp_windows.Sink.start()
    containers = measure_first(flamelet, f"{folder}/deep", sink)
    print(f"\nFrom a container's start (its cgroup's) to its samples, {len(containers)} containers, 99 Hz, a request a "
          f"second, the kubelet shows IDs after {kubelet.STATUS_DELAY_S:g} s; in s:")
    for name, times in first_times(sink.requests, read_resources).items():
        found = [times[each.container_id] - each.born for each in containers if each.container_id in times]
        print(f"  {name:34} {percentiles(found)} ({len(found)} containers)", flush=True)
