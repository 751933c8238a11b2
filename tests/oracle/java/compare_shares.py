#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the shares that methods of Java have in a recording with those that async-profiler finds in the same process at
the same time: the share of the samples that have a method ("methods"), and of those in which it is the innermost one.

    compare_shares.py path/to/flamelet [--case NAME]... [--seconds CPU]

async-profiler is got from Maven, and loaded by jcmd. It reads the JVM's frames inside of the process.

Exit status 0: no share differs by more than MAX_POINTS and chance; 1: one does; 77: it cannot run here."""

import argparse
import collections
import math
import os
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("tests/runtime", "e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../../..", folder))

# pylint: disable=wrong-import-position
import cases
import check_load
import fetch
import host
import judge
import recorder
import recordings
import schema

ASYNC_PROFILER = "tools.profiler:async-profiler:4.6:jar"
START = "start,event=cpu,interval=1ms,cstack=vm,threads,alluser"
STOP = "stop,collapsed,threads,file="
LOADS = ("calls", "calls, interpreted", "calls, C1")
MAX_POINTS = 1
SIGMAS = 4          # of what chance adds: both draw some thousand samples
NR_SHOWN = 5
THREAD = "load-"
HZ = 997
WARM_SECONDS = 8    # of CPU time


class Shares:
    """Of samples, how many per cent have a method, and how many have it as the innermost one."""

    def __init__(self):
        self.total = 0
        self.methods = collections.Counter()
        self.innermost = collections.Counter()

    def add(self, methods, count):
        """Of a stack, outermost method first."""
        self.total += count
        for method in set(methods):
            self.methods[method] += count
        self.innermost[methods[-1]] += count

    def share(self, kind, method):
        return 100 * getattr(self, kind)[method] / self.total


def library():
    directory = fetch.fetch(f"maven {ASYNC_PROFILER}", "async-profiler-4.6")
    return f"{directory}/linux-{'arm64' if os.uname().machine == 'aarch64' else 'x64'}/libasyncProfiler.so"


def is_method(name):
    """The stubs and hidden classes of the JVM, which each names in its own way, are left out."""
    return "." in name and not judge.HIDDEN.search(name) and not name.endswith((".so", ")"))


def shares_of_samples(samples):
    """Of the load's threads."""
    shares = Shares()
    for sample in samples:
        methods = [frame.name.partition("(")[0] for frame in judge.frames_of(sample, "hotspot")]
        methods = list(filter(is_method, methods))
        if methods and str(sample.labels.get("thread", "")).startswith(THREAD):
            shares.add(methods, sample.count)
    return shares


def shares_of_collapsed(text):
    """The same of async-profiler's output: [thread tid=N];package/Class.method;... COUNT"""
    shares = Shares()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        thread, *frames = stack.split(";")
        methods = list(filter(is_method, (frame.replace("/", ".") for frame in frames)))
        if methods and thread.startswith("[" + THREAD):
            shares.add(methods, int(count))
    return shares


@dataclass(frozen=True, order=True)
class Difference:
    """Of the shares of a method, in per cent."""
    points: float
    allowed: float
    kind: str
    method: str
    ours: float
    theirs: float

    def __str__(self):
        return f"{self.kind} {self.method}: {self.ours:.2f} %, async-profiler {self.theirs:.2f} %"


def allowed_points(share, *totals):
    """MAX_POINTS, and what chance makes of one share in samples of these sizes."""
    part = share / 100
    return MAX_POINTS + 100 * SIGMAS * math.sqrt(part * (1 - part) * sum(1 / total for total in totals))


def differences(ours, theirs):
    """The largest first."""
    found = []
    for kind in ("methods", "innermost"):
        for method in {*getattr(ours, kind), *getattr(theirs, kind)}:
            shares = ours.share(kind, method), theirs.share(kind, method)
            allowed = allowed_points(sum(shares) / 2, ours.total, theirs.total)
            found.append(Difference(abs(shares[0] - shares[1]), allowed, kind, method, *shares))
    return sorted(found, reverse=True)


def load_agent(pid, path, options):
    """A "=" outside of quotes would be jcmd's."""
    host.run("jcmd", str(pid), "JVMTI.agent_load", path, f'"{options}"')


def wait_for_work(pid, seconds):
    end = host.cpu_seconds(pid) + seconds
    host.wait_until("the work is done", lambda: host.cpu_seconds(pid) >= end, check_load.HANG_SECONDS)


def record_both(options, load, path):
    """(ours, theirs). Before, the compilers have done most of their work: methods that they inline change their shares."""
    pid, = load.pids()
    text = f"{path}.collapsed"
    wait_for_work(pid, WARM_SECONDS)
    command = [options.binary, "record", "-F", str(HZ), "-d", "0", "-p", str(pid), "-o", f"{path}.pb.gz"]
    recording = recorder.start(command, f"{path}.log")
    try:
        load_agent(pid, options.library, START)
        wait_for_work(pid, options.seconds)
        load_agent(pid, options.library, STOP + text)
    finally:
        recorder.stop(recording)
    samples = recordings.read(f"{path}.pb.gz", schema.pprof().Profile)
    return shares_of_samples(samples), shares_of_collapsed(host.read_text(text))


def compare_case(options, scene, case):
    load = check_load.Load(scene, case)
    try:
        ours, theirs = record_both(options, load, f"{scene.outside}/a")
    finally:
        load.stop()
    if not ours.total or not theirs.total:
        return [f"{case.name}: {ours.total} samples, async-profiler has {theirs.total}"]
    found = differences(ours, theirs)
    print(f"{case.name:<20} {ours.total:>6} samples, async-profiler {theirs.total:>6}; {len(ours.methods):>3} methods; largest "
          f"difference {found[0].points:.2f} points", flush=True)
    for difference in found[:NR_SHOWN]:
        print(f"    {difference.points:5.2f} {difference}", flush=True)
    return [f"{case.name}: {difference}" for difference in found if difference.points > difference.allowed]


def check(options):
    schema.skip_unless_available()
    host.require("java", "javac", "jcmd")
    options.library = library()
    scene = cases.Scene(cases.Runtime("hotspot", "java", ("java",)))
    try:
        return [fault for case in cases.CASES["hotspot"] if case.name in (options.case or LOADS)
                for fault in compare_case(options, scene, case)]
    finally:
        scene.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("--case", action="append", choices=LOADS)
    parser.add_argument("--seconds", type=float, default=20, help="of CPU time that each load is recorded for")
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
