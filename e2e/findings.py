#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of `flamelet findings` on loads that have the cause, each in a cgroup of its own: the rule must find the load,
and name its program. On ordinary loads no rule may find anything.

    findings.py path/to/flamelet [--all] [NAME]...

Without --all, loads that take long, or change the whole machine for a moment, are left out. Exit status 0: all is right;
1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from record_scene import END_SECONDS

HZ = 99
STATUS_NO_SAMPLES = 3
SECONDS = 2.0               # at least, of time and of CPU time
WAIT_SECONDS = 5.0          # of loads that wait
WAITS_AT_ONCE = 2           # of them
TRACEFS = "/sys/kernel/tracing"
RULES = 3000                # of netfilter
IDLE = 0.9                  # share of the CPU time of an idle machine
MEGABYTES = 1 << 20


@contextlib.contextmanager
def anywhere(_scene):
    yield []


@dataclass(frozen=True)
class Load:
    """A rule's id, and the command that it must find. The command's first word is a load of loads.c, or a program."""
    rule: str
    command: tuple
    program: str = ""       # that the finding must name; by default the load's own
    around: callable = anywhere     # called with the scene; yields words that come before the command
    is_alone: bool = False  # it needs two CPUs
    is_long: bool = False
    waits: bool = False     # it uses little CPU time
    needs_disk: bool = False


@contextlib.contextmanager
def network_namespace(scene):
    """A network of its own whose input goes through many rules."""
    host.require("unshare", "ip")
    if shutil.which("nft"):
        rules = ["table inet t {", " chain c { type filter hook input priority 0;"]
        rules += [f"  ip saddr 10.{i >> 8}.{i & 255}.1 drop;" for i in range(RULES)] + [" }", "}"]
        restore = "nft -f"
    else:
        host.require("iptables-restore")
        rules = ["*filter", ":INPUT ACCEPT"]
        rules += [f"-A INPUT -s 10.{i >> 8}.{i & 255}.1 -j DROP" for i in range(RULES)] + ["COMMIT"]
        restore = "iptables-restore"
    path = f"{scene.directory}/rules"
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(rules) + "\n")
    yield ["unshare", "-n", "sh", "-c", f'ip link set lo up; {restore} {path} || exit {host.SKIP}; exec "$@"', "sh"]


def cgroup_of(controller, name):
    """The directory of a cgroup with that controller, and whether it is one of version 1."""
    v1, v2 = host.cgroup_mounts()
    for mount in v1:
        if controller in os.path.basename(mount).split(","):
            return f"{mount}/{name}", True
    if v2 and controller in host.read_text(f"{v2}/cgroup.subtree_control").split():
        return f"{v2}/{name}", False
    raise host.Skip(f"no cgroup with the controller {controller}")


@contextlib.contextmanager
def memory_limit(scene):
    """The file is a hole, so that the disk does not limit how fast it is read."""
    with open(f"{scene.directory}/large", "wb") as file:
        file.truncate(256 * MEGABYTES)
    directory, is_v1 = cgroup_of("memory", f"findings-{os.getpid()}-limit")
    if not is_v1:
        raise host.Skip("the load would have to be in two cgroups of version 2")
    os.mkdir(directory)
    try:
        with open(f"{directory}/memory.limit_in_bytes", "w", encoding="ascii") as file:
            file.write(str(32 * MEGABYTES))
        yield ["sh", "-c", f'echo $$ > {directory}/cgroup.procs; exec "$@"', "sh"]
    finally:
        host.kill_cgroup(directory)
        host.remove_cgroup(directory)


@contextlib.contextmanager
def tracefs():
    if not os.path.isdir(TRACEFS):
        raise host.Skip("this kernel has no tracefs")
    is_ours = not os.listdir(TRACEFS)
    if is_ours:
        host.run("mount", "-t", "tracefs", "none", TRACEFS)
    try:
        yield TRACEFS
    finally:
        if is_ours:
            subprocess.run(["umount", "-l", TRACEFS], check=False)


@contextlib.contextmanager
def tracing_instance(files):
    """Traces the whole machine for a while, into a buffer of its own. `files`: (name, text)."""
    with tracefs() as root:
        instance = f"{root}/instances/findings-{os.getpid()}"
        try:
            os.mkdir(instance)
        except OSError as error:
            raise host.Skip(f"no instance of tracefs: {error}") from error
        try:
            for name, text in files:
                try:
                    with open(f"{instance}/{name}", "w", encoding="ascii") as file:
                        file.write(text)
                except OSError as error:
                    raise host.Skip(f"{name} of tracefs: {error}") from error
            yield []
        finally:
            with contextlib.suppress(OSError), open(f"{instance}/current_tracer", "w", encoding="ascii") as file:
                file.write("nop")
            os.rmdir(instance)


def function_tracing(_scene):
    return tracing_instance([("set_ftrace_filter", "*_sys_getppid"), ("current_tracer", "function")])


def trace_event(_scene):
    return tracing_instance([("events/raw_syscalls/sys_enter/enable", "1")])


@contextlib.contextmanager
def bpftrace(_scene):
    host.require("bpftrace")
    with tracefs(), host.busy_program("bpftrace", "-e", "tracepoint:raw_syscalls:sys_enter { @ = count(); }"):
        time.sleep(2)
        yield []


def find_python():
    """The path of an interpreter that has its symbols. Debian strips its own, so the collector has no name there."""
    for candidate in (sys.executable, "python3"):
        path = subprocess.run([candidate, "-c", "import sys; print(sys.executable)"], stdout=subprocess.PIPE, text=True,
                              check=False).stdout.strip()
        if path and re.search(rb"\0gc_collect_main[.\0]", pathlib.Path(path).read_bytes()):
            return os.path.realpath(path)
    return None


@contextlib.contextmanager
def python_with_symbols(_scene):
    if PYTHON is None:
        raise host.Skip("no Python has symbols")
    yield []


PYTHON = find_python()
NODE_GC = "const kept = []; for (;;) { kept.push(new Array(100).fill({})); if (kept.length > 2e5) kept.length = 0; }"
NODE_JIT = "for (let i = 0;; i++) new Function('x', `let y = x; for (let i = 0; i < 9; i++) y += i * ${i}; return y`)(i);"
PYTHON_GC = """
import gc
class Node: pass
kept = [Node() for _ in range(200000)]
while True:
    gc.collect()
"""
JAVA_GC = """
public class Garbage {
    static Object[] kept = new Object[1 << 16];
    public static void main(String[] arguments) {
        for (int i = 0; ; i++) kept[i & 0xffff] = new byte[256];
    }
}
"""
JAVA_BUSY = """
public class Busy {
    public static void main(String[] arguments) {
        long sum = 0;
        for (long i = 0; ; i++) { sum += i * 31 ^ sum >>> 7; if (sum == 42) System.out.println(sum); }
    }
}
"""
GO_GC = """
package main
type node struct { left, right *node }
var kept *node
func grow(depth int) *node {
    if depth == 0 { return nil }
    return &node{grow(depth - 1), grow(depth - 1)}
}
func main() { for { kept = grow(18) } }
"""

LOADS = (
    Load("exec-storm", ("exec",)),
    Load("futex-contention", ("futex",), is_alone=True),
    Load("spinlock-contention", ("kernel-spin",), is_alone=True),
    Load("kernel-mutex", ("kernel-mutex",), is_alone=True),
    Load("mmap-lock", ("mmap-lock",), is_alone=True),
    Load("user-spin", ("user-spin",), is_alone=True),
    Load("sched-yield", ("yield",)),
    Load("netfilter-rules", ("udp",), around=network_namespace),
    Load("memory-limit-reclaim", ("map", "large"), around=memory_limit),
    Load("page-fault-storm", ("page-faults",)),
    Load("huge-pages", ("huge-pages",)),
    Load("tlb-shootdown", ("tlb",), is_alone=True),
    Load("cpuinfo-readers", ("cpuinfo",)),
    Load("membarrier", ("membarrier",), is_alone=True),
    Load("cross-cpu-calls", ("cross-cpu",), is_alone=True),
    Load("uprobes", ("uprobe",)),
    Load("cpu-time-clocks", ("cpu-time",)),
    Load("clock-syscalls", ("clock",)),
    Load("random-numbers", ("random",)),
    Load("seccomp-filter", ("seccomp",)),
    Load("smaps-readers", ("smaps",)),
    Load("proc-walkers", ("proc",)),
    Load("cgroup-statistics", ("read", "memory.stat")),
    Load("gc-java", ("java", "-XX:+UseParallelGC", "-Xmx32m", "Garbage"), "java", is_alone=True),
    Load("gc-node", ("node", "-e", NODE_GC), "node", is_alone=True),
    Load("gc-python", (PYTHON, "-c", PYTHON_GC), os.path.basename(PYTHON or ""), around=python_with_symbols),
    Load("gc-go", ("garbage",), "garbage", is_alone=True),
    Load("function-tracing", ("syscalls",), around=function_tracing, is_alone=True, is_long=True),
    Load("trace-events", ("syscalls",), around=trace_event, is_alone=True, is_long=True),
    Load("bpf-tracing", ("syscalls",), around=bpftrace, is_alone=True, is_long=True),
    Load("jit-java", ("sh", "-c", "while :; do java -Xcomp -version; done"), "java", is_alone=True, is_long=True),
    Load("jit-node", ("node", "--always-turbofan", "-e", NODE_JIT), "node", is_alone=True, is_long=True),
)

# Loads that wait. Their files are in the directory of the test, whose disk may be none.
LOADS += (
    Load("lock-waits", ("sleeping-mutex",), waits=True),
    Load("mmap-lock-waits", ("mmap-lock",), is_alone=True),
    Load("fsync-waits", ("fsync",), waits=True, needs_disk=True),
    Load("disk-waits", ("disk",), waits=True, needs_disk=True),
    Load("file-fault-waits", ("file-faults",), waits=True, needs_disk=True),
)

# What makes a rule's cause is not at hand, or would change the machine for longer.
NOT_TRIED = {
    "tasklist-lock": "two CPUs do not wait long enough for each other",
    "cpu-limit-throttling": "costs two CPUs too little",
    "page-allocator-lock": "its locks are taken with interrupts off",
    "softirq-one-cpu": "needs a network device",
    "compaction": "needs a machine without free memory",
    "direct-reclaim": "needs a machine without free memory",
    "background-reclaim": "needs a machine without free memory",
    "swap-in": "needs swap",
    "numa-balancing": "needs two NUMA nodes",
    "same-page-merging": "would merge pages of other programs",
    "slow-clock-source": "would change the clock of the machine",
    "audit-rules": "would audit the whole machine",
    "cpu-starvation": "needs a machine that nothing else uses",
    "kernel-lock-waits": "whether locks of the kernel are waited for differs from kernel to kernel",
    "reclaim-waits": "needs a machine without free memory",
    "gc-dotnet": "needs .NET",
    "gc-ruby": "needs Ruby",
}

ORDINARY = {
    "gcc": ("sh", "-c", 'while :; do gcc -O2 -g -c -o /dev/null "$0"; done', os.path.join(HERE, "findings", "loads.c")),
    "Python": (sys.executable, "-c", "while True: sum(i * i for i in range(1000000))"),
    "Node.js": ("node", "-e", "for (let x = 0;;) { for (let i = 0; i < 1e7; i++) x = (x * 31 + i) | 0; }"),
    "Java": ("java", "Busy"),
    "spinning threads": ("threads",),
}


class NoSamples(host.Failure):
    """The record has none in a range."""


@dataclass(frozen=True)
class Place:
    """Where a load is in the record."""
    cgroup: int
    first: int
    end: int


class Scene:
    """A directory with the programs, and an agent that records the machine."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.store = f"{directory}/record"
        self.loads = f"{directory}/loads"
        self.agent = None
        host.run("gcc", "-O1", "-g", "-pthread", "-o", self.loads, f"{HERE}/findings/loads.c")

    def prepare(self):
        """Starts the agent, and compiles what is compiled."""
        for name, text in (("Garbage", JAVA_GC), ("Busy", JAVA_BUSY)):
            self.compile("javac", f"{name}.java", text, "-d", self.directory)
        self.compile("go", "garbage.go", GO_GC, "build", "-o", f"{self.directory}/garbage")
        self.agent = host.Process("agent", [self.binary, "agent", "--store", self.store, "--kind", "cpu,offcpu",
                                             "-F", str(HZ)],
                                  f"{self.directory}/agent.log", preexec_fn=host.come_first)
        host.wait_until("the agent keeps a record", lambda: "keeping a record" in self.agent.log())

    def compile(self, compiler, name, text, *words):
        with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        if shutil.which(compiler):
            host.run(compiler, *words, f"{self.directory}/{name}",
                     env=os.environ | {"GOCACHE": f"{self.directory}/go", "GO111MODULE": "off"})

    def words_of(self, name, command):
        """The command line of a load. Its program is a copy of its own, with the load's name."""
        first, *rest = command
        if os.path.exists(f"{self.directory}/{first}"):
            return [f"{self.directory}/{first}"]
        if first not in self.list_loads():
            host.require(first)
            return ["env", f"CLASSPATH={self.directory}", *command]
        own = f"{self.directory}/{self.program_of(name)}"
        if not os.path.exists(own):
            os.link(self.loads, own)
        files = {"large": f"{self.directory}/large", "memory.stat": memory_stat()}
        return [own, first, *(files[word] for word in rest)]

    @staticmethod
    def program_of(name):
        return f"fl-{name}"[:15]

    def list_loads(self):
        return host.run(self.loads, "list").split()

    def run(self, name, command, before, waits=False):
        """Runs a command in a cgroup for a while; one that waits needs no CPU time. Returns the cgroup's id, and the seconds in which it ran."""
        directory = f"{host.cgroup_mounts()[1]}/findings-{os.getpid()}-{name.replace(' ', '-')}"
        os.mkdir(directory)

        def enter():
            with open(f"{directory}/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")
            host.come_first()     # so that other programs on this machine change little

        try:
            cgroup, first = os.stat(directory).st_ino, int(time.time())
            end = time.monotonic() + (WAIT_SECONDS if waits else SECONDS)
            load = host.Process(name, [*before, *command], f"{self.directory}/{name}.log", preexec_fn=enter,
                                cwd=self.directory)
            with contextlib.suppress(host.Failure):     # a load may get little CPU, as it yields it
                host.wait_until(name, lambda: load.child.poll() is not None or (
                    time.monotonic() >= end and (waits or
                    host.cgroup_cpu_seconds(f"/{os.path.basename(directory)}") >= SECONDS)), 30 * SECONDS)
            status = load.child.poll()
            if status == host.SKIP:
                raise host.Skip(load.log().strip().splitlines()[-1])
            if status not in (None, 0):
                raise host.Failure(f"{name}: exit status {status}: {load.log()}")
            return Place(cgroup, first, int(time.time()) + 1)
        finally:
            host.kill_cgroup(directory)
            load.child.wait()
            host.remove_cgroup(directory)

    def findings(self, first, end, *words):
        done = subprocess.run([self.binary, "findings", f"{first}..{end}", "--store", self.store, "--json", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        if done.returncode == STATUS_NO_SAMPLES:
            raise NoSamples(done.stderr)
        if done.returncode != 0:
            raise host.Failure(f"findings {first}..{end} {words}: {done.stderr}")
        return json.loads(done.stdout)

    def findings_at(self, place):
        return self.findings(place.first, place.end, "-s", f'{{cgroup="{place.cgroup}"}}')

    def finish(self):
        if self.agent:
            self.agent.finish(END_SECONDS)


def memory_stat():
    directory = cgroup_of("memory", "")[0]
    return f"{directory}/memory.stat"


def run_load(scene, load):
    """Returns where the load is in the record, or None if it cannot run here."""
    try:
        if load.is_alone and len(os.sched_getaffinity(0)) < 2:
            raise host.Skip("it needs two CPUs")
        with load.around(scene) as before:
            return scene.run(load.rule, scene.words_of(load.rule, load.command), before, load.waits)
    except host.Skip as skip:
        print(f"{load.rule}: SKIP: {skip}", flush=True)
        return None


def run_ordinary(scene, name):
    try:
        return scene.run(name, scene.words_of(name, ORDINARY[name]), [])
    except host.Skip as skip:
        print(f"{name}: SKIP: {skip}", flush=True)
        return None


def run_all(run, scene, items, nr_at_once):
    """Returns (item, place) of those that could run."""
    with concurrent.futures.ThreadPoolExecutor(nr_at_once) as pool:
        places = list(pool.map(lambda item: run(scene, item), items))
    return [(item, place) for item, place in zip(items, places) if place]


def has_disk(directory):
    """Whether the file system is one of a block device."""
    return os.path.exists(f"/sys/dev/block/{os.major(os.stat(directory).st_dev)}:{os.minor(os.stat(directory).st_dev)}")


def judge_load(scene, load, place):
    report = scene.findings_at(place)
    found = {finding["id"]: finding for finding in report["findings"]}
    print(f"{load.rule}: {report['samples']} samples; " +
          ", ".join(f"{rule} {finding['share']:.0%}" for rule, finding in found.items()), flush=True)
    if load.rule not in found and load.needs_disk and not has_disk(scene.directory):
        print(f"{load.rule}: SKIP: {scene.directory} is on no disk", flush=True)
        return []
    if load.rule not in found:
        return [f"{load.rule} is not found"]
    wanted = load.program or scene.program_of(load.rule)
    names = [part["name"] for part in found[load.rule]["programs"]]
    if not any(name.startswith(wanted) for name in names):
        return [f"{load.rule} names {names} instead of {wanted}"]
    return []


def judge_ordinary(scene, name, place):
    report = scene.findings_at(place)
    print(f"{name}: {report['samples']} samples", flush=True)
    faults = [] if report["samples"] > HZ / 2 else [f"{name} has {report['samples']} samples only"]
    return faults + [f"{name}: {finding['title']}" for finding in report["findings"]]


def idle_share():
    """The share of idle time since the machine has started: user, nice, system, idle, iowait, ..."""
    times = [int(word) for word in host.read_text("/proc/stat").split()[1:9]]
    return times[3] + times[4], sum(times)


def run_idle():
    """Returns a place where nothing runs, or None if others use the machine."""
    first, (idle, whole) = int(time.time()), idle_share()
    time.sleep(SECONDS)
    idle, whole = (end - begin for begin, end in zip((idle, whole), idle_share()))
    if idle < IDLE * whole:
        print("the idle machine: SKIP: others use it", flush=True)
        return None
    return Place(0, first, int(time.time()))


def judge_idle(scene, place):
    try:
        report = scene.findings(place.first, place.end)
    except NoSamples:
        print("the idle machine: no samples", flush=True)
        return []
    print(f"the idle machine: {report['samples']} samples", flush=True)
    return [f"the idle machine: {finding['title']}" for finding in report["findings"]]


def check_rules(scene, first, end):
    """Each rule has a load, or a reason why it has none."""
    for rule, reason in NOT_TRIED.items():
        print(f"{rule}: SKIP: {reason}")
    known = {load.rule for load in LOADS} | set(NOT_TRIED)
    return [f"no load for {rule}" for rule in scene.findings(first, end)["rules"] if rule not in known]


def check_loads(scene, loads):
    """Runs them all, then judges what is in the record."""
    places = run_all(run_load, scene, [load for load in loads if load.is_alone], 1)
    with concurrent.futures.ThreadPoolExecutor() as pool:   # those that wait take little CPU time from the others
        waiting = pool.submit(run_all, run_load, scene, [load for load in loads if load.waits], WAITS_AT_ONCE)
        places += run_all(run_load, scene, [load for load in loads if not load.is_alone and not load.waits], 2)
        places += waiting.result()
    scene.finish()
    return [fault for load, place in places for fault in judge_load(scene, load, place)]


def check_everything(scene, loads):
    began = int(time.time())
    idle = run_idle()
    ordinary = run_all(run_ordinary, scene, list(ORDINARY), 2)
    faults = check_loads(scene, loads)
    faults += [fault for name, place in ordinary for fault in judge_ordinary(scene, name, place)]
    faults += judge_idle(scene, idle) if idle else []
    return faults + check_rules(scene, began, int(time.time()))


def check(options, directory):
    host.require("gcc")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")
    scene = Scene(options.binary, directory)
    try:
        scene.prepare()
        if options.names:
            return check_loads(scene, [load for load in LOADS if load.rule in options.names])
        return check_everything(scene, [load for load in LOADS if options.all or not load.is_long])
    finally:
        scene.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    host.limit_time(1700)
    with tempfile.TemporaryDirectory(prefix="findings-") as directory:
        return host.judge(check, options, directory)


if __name__ == "__main__":
    sys.exit(main())
