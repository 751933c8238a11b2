#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent beside processes that come, go and change all the time: whether it keeps its size, and whether it
ever takes one file for another.

    soak.py FLAMELET FOLDER [SECONDS]

FOLDER has the loads that are built from this directory. All at once for SECONDS (600): a hundred short
programs a second, a library loaded and unloaded in a loop, three thousand idle processes, and a library that
is replaced under running processes by another version of itself. The agent sends to a local receiver; its
size is read every few seconds.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "bench"), os.path.join(os.path.dirname(TESTS), "e2e/local")]

# pylint: disable=wrong-import-position
import host
import measure
import profiles

AGENT_HZ = 99
EXECS_A_SECOND = 100
IDLE_PROCESSES = 3000
SWAP_EVERY_S = 2
SWAPPED_LIVES_S = 7
MAX_READING_S = 5
PROTO = os.path.join(TESTS, "proto/otlp_profiles.proto")
RECEIVER = os.path.join(os.path.dirname(TESTS), "e2e/local/receiver.py")
# Only the loads are sampled: what else runs here would bring its own files, and memory for their symbols.
# (What the loads start through /proc/self/exe is called exe.)
COMM_OPTIONS = [f"--comm={name}" for name in ("churn", "exe", "swap_v1", "swap_v2")]
CHAIN = ("leaf", "middle", "outer")


@dataclass
class Bound:
    """Limit of the growth from the second window to the last one: a share and an amount."""
    unit: str
    share: float
    amount: float


BOUNDS = {
    "resident": Bound("MB", 0.05, 2),
    "BPF maps": Bound("MB", 0.05, 2),
    "descriptors": Bound("", 0.05, 8),
    "threads": Bound("", 0, 0),
}


class Series:
    """The size of a process, read again and again."""

    def __init__(self, pid, seconds):
        self.pid = pid
        self.window_s = min(60.0, seconds / 5)
        self.pause_s = min(MAX_READING_S, self.window_s / 6)
        self.begin = time.monotonic()
        self.readings = []          # [(seconds, {name: value})]

    def read(self):
        values = {"resident": measure.memory_mb(self.pid)[0], "BPF maps": measure.maps_mb(self.pid),
                  "descriptors": len(os.listdir(f"/proc/{self.pid}/fd")),
                  "threads": len(os.listdir(f"/proc/{self.pid}/task"))}
        self.readings.append((time.monotonic() - self.begin, values))

    def window(self, name, begin, end):
        return statistics.mean([values[name] for at, values in self.readings if begin <= at < end])

    def check(self):
        """The second window, after the warm-up, against the last one."""
        problems = []
        last_s = self.readings[-1][0] + 0.001
        for name, bound in BOUNDS.items():
            values = [reading[name] for _, reading in self.readings]
            second = self.window(name, self.window_s, 2 * self.window_s)
            last = self.window(name, last_s - self.window_s, last_s)
            print(f"{name:12} first {values[0]:8.1f}  last {values[-1]:8.1f}  max {max(values):8.1f}  "
                  f"window 2 {second:8.1f}  last window {last:8.1f} {bound.unit}")
            if last > second * (1 + bound.share) + bound.amount:
                problems.append(f"{name} grow: {second:.1f} after the warm-up, {last:.1f} at the end")
        return problems


class SwappedLibrary:
    """A library that rename(2) replaces by its other version every few seconds, and processes in it."""

    def __init__(self, folder, directory):
        self.churn = f"{folder}/churn"
        self.versions = [f"{folder}/libswap_v1.so", f"{folder}/libswap_v2.so"]
        self.path = f"{directory}/libswap.so"
        self.processes = []
        self.nr_swaps = 0
        self.next_swap = 0.0

    def step(self):
        if time.monotonic() < self.next_swap:
            return
        self.next_swap = time.monotonic() + SWAP_EVERY_S
        shutil.copyfile(self.versions[self.nr_swaps % 2], self.path + ".new")
        os.rename(self.path + ".new", self.path)
        self.nr_swaps += 1
        self.processes = [process for process in self.processes if process.poll() is None]
        command = [self.churn, "swapped", self.path, str(SWAPPED_LIVES_S)]
        self.processes.append(subprocess.Popen(command))

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


def is_stop(name):
    return name.startswith("[") and name.endswith("]")


def chain(version):
    """The functions of a version that call each other, the innermost first."""
    return [f"{name}_v{version}" for name in CHAIN]


def has_all_callers(frames, version):
    """False where a stack that came to its root misses or adds one of them."""
    wanted = chain(version) + ["main"]
    return (is_stop(frames[-1]) or wanted[0] not in frames
            or [name for name in frames if name in wanted] == wanted)


class VersionCheck:
    """Compares the library's version in stacks with the version in the thread's name."""

    def __init__(self):
        self.problems = {}          # text: samples
        self.nr_samples = {1: 0, 2: 0}
        self.nr_named = {1: 0, 2: 0}
        self.ends = {}              # last frame of a stack that ended early: samples
        self.nr_reloaded = self.nr_reloaded_wrong = 0

    def add(self, sample):
        thread = sample.attributes.get("thread.name", "")
        if thread in ("swap_v1", "swap_v2"):
            self.add_swapped(sample, int(thread[-1]))
        elif set(sample.frames) & set(chain(1) + chain(2)):
            self.add_reloaded(sample)

    def add_swapped(self, sample, version):
        self.nr_samples[version] += sample.count
        if set(sample.frames) & set(chain(version)):
            self.nr_named[version] += sample.count
        for name in set(sample.frames) & set(chain(3 - version)):
            self.complain(f"version {version} shows {name}", sample)
        if is_stop(sample.frames[-1]):
            self.ends[sample.frames[-1]] = self.ends.get(sample.frames[-1], 0) + sample.count
        if not has_all_callers(sample.frames, version):
            self.complain(f"version {version} has wrong callers: {';'.join(sample.frames)}", sample)

    def add_reloaded(self, sample):
        """Both versions come to the same addresses, and what is known of them is up to a tenth of a second
        old. So wrong callers are only counted."""
        versions = [version for version in (1, 2) if set(sample.frames) & set(chain(version))]
        self.nr_reloaded += sample.count
        if len(versions) > 1 or not has_all_callers(sample.frames, versions[0]):
            self.nr_reloaded_wrong += sample.count

    def complain(self, text, sample):
        self.problems[text] = self.problems.get(text, 0) + sample.count

    def report(self):
        for version in (1, 2):
            print(f"replaced library, version {version}: {self.nr_samples[version]} samples, "
                  f"{self.nr_named[version]} in its functions")
        print("  ended early: " + (", ".join(f"{nr} {end}" for end, nr in self.ends.items()) or "none"))
        print(f"reloaded library: {self.nr_reloaded} samples, {self.nr_reloaded_wrong} with wrong callers")
        unseen = [f"no function of version {version} was seen"
                  for version in (1, 2) if not self.nr_named[version]]
        return unseen + [f"{text} ({count} samples)" for text, count in self.problems.items()]


class Soak:
    """Everything that runs at the same time."""

    def __init__(self, flamelet, folder, directory):
        self.folder, self.directory = folder, directory
        self.port = host.free_port()
        self.output = f"{directory}/profiles.json"
        self.processes = [
            self.start("receiver", sys.executable, RECEIVER, str(self.port), PROTO, self.output)]
        try:
            host.wait_until("the receiver listens", lambda: host.accepts_connections(self.port))
            self.agent = self.start(
                "agent", flamelet, "agent", "--frequency", str(AGENT_HZ), "--otlp-endpoint",
                f"http://127.0.0.1:{self.port}", "--export-interval", "5s", *COMM_OPTIONS)
            self.processes.append(self.agent)
            self.start_loads()
        except host.Failure:
            self.stop()
            raise

    def start(self, name, *command):
        return host.Process(name, list(command), f"{self.directory}/{name}.log")

    def start_loads(self):
        churn = f"{self.folder}/churn"
        versions = [f"{self.folder}/libswap_v1.so", f"{self.folder}/libswap_v2.so"]
        for name, *arguments in (("idle", IDLE_PROCESSES), ("storm", EXECS_A_SECOND), ("reload", *versions)):
            self.processes.append(self.start(name, churn, name, *map(str, arguments)))
        self.swapped = SwappedLibrary(self.folder, self.directory)
        idle = self.processes[2]
        host.wait_until("the idle processes run", idle.log, 120)

    def must_live(self):
        for process in self.processes:
            if not process.is_alive():
                raise host.Failure(f"{process.name} ended: {process.log()[-2000:]}")

    def run(self, seconds):
        """Returns the series of the agent's sizes."""
        series = Series(self.agent.pid, seconds)
        next_reading = 0.0
        while time.monotonic() < series.begin + seconds:
            self.must_live()
            self.swapped.step()
            if time.monotonic() >= next_reading:
                series.read()
                next_reading = time.monotonic() + series.pause_s
            time.sleep(0.1)
        return series

    def stop(self):
        """Loads first, the receiver last, so that it gets everything. Returns the agent's exit status."""
        if hasattr(self, "swapped"):
            self.swapped.stop()
        in_order = self.processes[2:] + self.processes[1::-1]
        statuses = {process.name: process.finish(30) for process in in_order}
        return statuses.get("agent")

    def check_stacks(self):
        check = VersionCheck()
        with open(self.output, encoding="utf-8") as messages:
            for line in messages:
                for sample in profiles.read_message(json.loads(line)):
                    check.add(sample)
        return check.report()


def run_soak(flamelet, folder, seconds):
    with tempfile.TemporaryDirectory(prefix="flamelet-soak-") as directory:
        soak = Soak(flamelet, folder, directory)
        try:
            series = soak.run(seconds)
        finally:
            status = soak.stop()
        print(f"{soak.swapped.nr_swaps} replacements, {len(series.readings)} readings in {seconds:g} s")
        print(soak.agent.log().splitlines()[-1])
        problems = [] if status == 0 else [f"the agent's exit status is {status}"]
        return problems + series.check() + soak.check_stacks()


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    if os.geteuid() != 0:
        raise host.Skip("the agent needs root")
    host.require("protoc")
    if importlib.util.find_spec("google") is None:
        raise host.Skip(f"{sys.executable} has no protobuf (python3-protobuf)")
    seconds = float(sys.argv[3]) if len(sys.argv) == 4 else 600.0
    problems = run_soak(sys.argv[1], sys.argv[2], seconds)
    for problem in problems:
        print(f"FAIL {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except host.Skip as reason:
        print(f"SKIP: {reason}")
        sys.exit(host.SKIP)
    except host.Failure as failure:
        print(f"FAIL {failure}")
        sys.exit(1)
