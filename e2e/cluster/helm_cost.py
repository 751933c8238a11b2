# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a release: the time until its profiles arrive, the memory of its pod, and
what it leaves behind."""

import json
import os
import re
import subprocess
import time

import backend
import demo
import manifests
import release
import spin
import top

# pylint: disable=wrong-import-order
import host

FIRST = demo.CONTAINERS[0]
FIRST_POD = f"{FIRST.namespace}/{FIRST.pod}"
ARRIVAL_SECONDS, PAUSE_SECONDS = 120, 0.2
IDLE_NAMESPACE = IDLE = "idle"
# The agent has asked the kubelet and sent several times by then.
SETTLE_SECONDS = 60
MIB = 1 << 20
BPF_ID = re.compile(r"^(prog|map|link)_id:\s*(\d+)$", re.MULTILINE)
MEMLOCK = re.compile(r"^memlock:\s*(\d+)$", re.MULTILINE)
KINDS_SECONDS = 120


# Time.

def wait_for_functions(node, since_ns=0):
    """Until the first pod's functions are at the Collector, of profiles that begin after a time (since the epoch).
    Returns when that was, by the monotonic clock."""
    names, follower = set(), backend.Follower(node)

    def is_there():
        samples = top.samples_of(follower.samples(), FIRST.namespace, FIRST.pod, FIRST.name)
        names.update(name for sample in samples if sample.start_ns >= since_ns for name in sample.frames)
        return FIRST.functions <= names

    host.wait_until(f"functions of {FIRST_POD}", is_there, ARRIVAL_SECONDS, PAUSE_SECONDS)
    return time.monotonic()


def restart(agent):
    """The container alone; the pod and its emptyDir stay. Returns the new process's id."""
    before = agent.pid()
    os.kill(before, 9)
    return host.wait_until("the container is started again", lambda: new_pid(agent, before), 60, PAUSE_SECONDS)


def new_pid(agent, before):
    try:
        pid = agent.pid()
    except host.Failure:
        return None
    return pid if pid != before else None


def measure_one(agent, what, pid, begin):
    """`begin` is of the command or of the process, by the monotonic clock."""
    now_ns = time.time_ns()
    host.wait_until("the agent is ready", lambda: agent.status().get("ready"), 120, PAUSE_SECONDS)
    ready = time.monotonic()
    arrived = wait_for_functions(agent.node, now_ns)
    print(f"{what}: process after {release.began(pid) - begin:.1f} s, ready after {ready - begin:.1f} s, functions "
          f"after {arrived - begin:.1f} s", flush=True)


def measure_install(agent, what, values):
    begin = time.monotonic()
    agent.install(values)
    pid = host.wait_until("the agent's process", lambda: new_pid(agent, None), 60, PAUSE_SECONDS)
    measure_one(agent, what, pid, begin)


def measure_start(agent):
    """Once more from nothing, and the container alone, with and without the tables of the last start."""
    for cache in (False, True):
        values = {"otlp": {"endpoint": backend.ENDPOINT}, "unwind": {"cache": cache}}
        agent.uninstall()
        measure_install(agent, f"install again, unwind.cache={cache}", values)
        pid = restart(agent)
        measure_one(agent, f"container restarted, unwind.cache={cache}", pid, release.began(pid))


# Memory.

def bpf_objects(pids):
    """{(kind, id): bytes} of all that processes hold."""
    found = {}
    for pid in pids:
        for name in os.listdir(f"/proc/{pid}/fdinfo"):
            text = host.read_text(f"/proc/{pid}/fdinfo/{name}")
            size = MEMLOCK.search(text)
            for kind, number in BPF_ID.findall(text):
                found[kind, int(number)] = int(size[1]) if size else 0
    return found


def cgroup_memory(agent):
    """(bytes in all, at most so far, of them page cache) that the kernel counts to the container."""
    for directory in agent.cgroups():
        total = host.read_text(f"{directory}/memory.current") or host.read_text(
            f"{directory}/memory.usage_in_bytes")
        peak = host.read_text(f"{directory}/memory.peak") or host.read_text(
            f"{directory}/memory.max_usage_in_bytes")
        if total:
            fields = dict(line.split() for line in host.read_text(f"{directory}/memory.stat").splitlines())
            return int(total), int(peak or 0), int(fields.get("file") or fields.get("total_cache") or 0)
    return 0, 0, 0


def print_memory(agent, what):
    pids = agent.pids()
    resident = [int(agent.process_status(pid)["VmRSS"].split()[0]) // 1024 for pid in pids]
    total, peak, cache = cgroup_memory(agent)
    objects = bpf_objects(pids)
    maps = sum(size for (kind, _), size in objects.items() if kind == "map")
    print(f"{what}: resident {' + '.join(map(str, resident))} MB, cgroup {total / MIB:.0f} MB, of which "
          f"page cache {cache / MIB:.0f} MB, BPF maps {maps / MIB:.1f} MB; at most {peak / MIB:.0f} MB so far",
          flush=True)


def idle_pods(number):
    container = {"name": IDLE, "image": spin.IMAGE, "command": list(spin.PAUSE)}
    return manifests.as_text(manifests.make_namespace(IDLE_NAMESPACE), manifests.controller(
        "Deployment", IDLE, manifests.pod_spec(container), IDLE_NAMESPACE, replicas=number))


def running_pods(node):
    return len(node.kubectl_json("get", "pods", "--all-namespaces",
                                 "--field-selector=status.phase=Running")["items"])


def measure_memory(agent, nr_pods):
    """On a node whose pods do nothing: a few, and as many as a kubelet takes."""
    node = agent.node
    print_memory(agent, f"{running_pods(node)} pods, busy")
    for namespace, name in demo.workloads():
        node.kubectl("--namespace", namespace, "scale", f"statefulset/{name}", "--replicas=0")
    host.wait_until("no pod but the agent's", lambda: running_pods(node) == 1, 120, 1)
    restart(agent)
    time.sleep(SETTLE_SECONDS)
    print_memory(agent, f"{running_pods(node)} pods, idle")
    node.apply(idle_pods(nr_pods - running_pods(node)))
    begin = time.monotonic()
    node.wait_for_rollout(f"deployment/{IDLE}", IDLE_NAMESPACE, 600)
    print(f"pods started in {time.monotonic() - begin:.0f} s", flush=True)
    time.sleep(SETTLE_SECONDS)
    print_memory(agent, f"{running_pods(node)} pods, idle")


# What a release leaves behind.

class Traces:
    """What a release has on its node. The test looks for it once the release is gone."""

    def __init__(self, agent):
        self.agent, self.pids = agent, agent.pids()
        self.objects = bpf_objects(self.pids)
        pod = agent.pod_object()["metadata"]
        self.uid, self.paths = pod["uid"], agent.cgroups()
        self.paths.append(f"{agent.node.directory}/var/lib/kubelet/pods/{self.uid}")

    def left(self):
        """After a while: the kernel and the kubelet take theirs."""
        deadline = time.monotonic() + 30
        while self.found() and time.monotonic() < deadline:
            time.sleep(0.5)
        found = self.found() + self.kubernetes_objects()
        print(f"of {len(self.pids)} processes, {len(self.objects)} BPF objects and {len(self.paths)} directories "
              f"{len(found)} are left", flush=True)
        return [f"left behind: {what}" for what in found]

    def found(self):
        found = [f"process {pid}" for pid in self.pids if os.path.exists(f"/proc/{pid}")]
        found += [f"BPF {kind} {number}" for kind, number in self.objects if has_bpf(kind, number)]
        return found + [path for path in self.paths if os.path.exists(path)]

    def kubernetes_objects(self):
        """Of all kinds that there are. Events fade by themselves; the pod of the last test is there for its log."""
        kubectl, label = self.agent.node.kubectl, f"app.kubernetes.io/instance={self.agent.name}"
        kinds = kubectl("api-resources", "--verbs=list", "--output=name").split()
        kinds = ",".join(kind for kind in kinds if not kind.startswith("events"))
        lines = kubectl("get", kinds, "--all-namespaces", f"--selector={label}", "--ignore-not-found",
                        "--output=name", seconds=KINDS_SECONDS).splitlines()
        return [line for line in lines
                if not line.startswith("Warning:") and line != f"pod/{self.agent.fullname}-doctor"]


def has_bpf(kind, number):
    done = subprocess.run(["bpftool", "--json", kind, "show", "id", str(number)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0 and "error" not in json.loads(done.stdout or b"{}")
