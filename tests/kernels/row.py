# SPDX-License-Identifier: Apache-2.0
"""A kernel's row of the table: what was measured there, in words, and what of it is a fault."""

import concurrent.futures
import os
import re
import tempfile

import check_instructions
import guest as guests
import host
import measures

MIN_ROOT = MIN_NAMES = 99
# So many of the samples that the CPU time makes: an emulated timer is late when the machine is busy.
MIN_SAMPLES, MAX_SAMPLES = 25, 110
MIN_LATE = 90  # the rest are first stacks of processes
MIN_COPIED = 90  # the rest are what a copy of one stack cannot hold
MIN_PODS_SAMPLES = 50
HEAD = ("kernel", "loads", "samples", "root share", "names", "pods", "capture backend", "instructions")
BPF, PERF = "unified", "no-btf"  # what is captured by which, in guest.sh
PODS = (BPF, "hybrid", "legacy")
PATHS = {BPF: "bpf", PERF: "perf"}
PATH = re.compile(r"^captured by +(\w+)", re.MULTILINE)
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}  # as uname(1) has them
NOTHING = "-"
NR_GUESTS = 2  # at a time
MAX_TRIES = 3


def percent(share):
    return f"{share.percent():.1f} %"


class SkippedRow:
    faults, is_skipped, is_slow = (), True, False

    def __init__(self, kernel, reason):
        self.name, self.reason = f"{kernel.series} {kernel.architecture}", reason

    def story(self):
        return f"SKIP {self.name}: {self.reason}"

    def cells(self):
        return [self.name, "SKIP"] + [NOTHING] * (len(HEAD) - 2)


class Row:
    """`wrong` is what Flamelet did wrong. `slow` is the machine's fault: it had no time, or its kernel did not start."""
    is_skipped = False

    def __init__(self, guest):
        self.guest, self.wrong, self.slow = guest, [], []
        self.name = f"{guest.fact('kernel') or guest.kernel.series}"
        self.loads = guest.fact(f"{BPF}.status") == "0"
        self.require_all(f"{name}.status" for name in ("instructions", *PODS, PERF))
        self.recordings = {name: recording for name in (*PODS, PERF) if (recording := self.read(name))}
        self.columns = [self.name, "yes" if self.loads else "no", self.samples(), self.root(), self.names(),
                        self.pods(), self.path(), self.instructions()]

    @property
    def faults(self):
        return self.wrong + self.slow

    @property
    def is_slow(self):
        """Returns whether another try may be better."""
        return bool(self.slow) and not self.wrong

    def require_all(self, steps):
        """Requires that each step succeeded, and that the guest came to its end."""
        for step in steps:
            name, status = step.split(".")[0], self.guest.fact(step)
            self.require(status in ("", "0"), f"{name}: exit {status}: {self.guest.log(name).strip()[-300:]}")
        if "end" not in self.guest.facts:
            faults = self.slow if self.guest.is_late or not self.guest.has_begun() else self.wrong
            faults.append(f"the guest did not come to its end: {self.guest.console[-500:]}")

    def read(self, name):
        path = f"{self.guest.logs}/{name}.pb.gz"
        return measures.Recording(path, self.guest.containers, name == PERF) if os.path.exists(path) else None

    def require(self, is_right, fault):
        if not is_right:
            self.wrong.append(fault)

    def require_time(self, is_enough, fault):
        if not is_enough:
            self.slow.append(fault)

    def samples(self):
        recording = self.recordings.get(BPF)
        if not recording:
            return NOTHING
        used = measures.cpu_seconds(self.guest.facts, BPF)
        found, expected = sum(recording.counts.values()), sum(used.values()) * guests.FREQUENCY_HZ
        fault = f"{found} samples where CPU time makes {expected:.0f}"
        self.require_time(found * 100 >= expected * MIN_SAMPLES, fault)
        self.require(found * 100 <= expected * MAX_SAMPLES, fault)
        self.require_time(all(recording.counts.values()), f"a program has no samples: {recording.counts}")
        return f"{found} of {expected:.0f}"

    def share(self, name, what, share, least):
        self.require(share.percent() >= least,
                     f"{name}: {what} {percent(share)} of {share.whole}: {share.reasons()}")
        return percent(share)

    def root_of(self, name):
        recording = self.recordings.get(name)
        if not recording:
            return NOTHING
        late = recording.late
        self.require_time(late.percent() >= MIN_LATE,
                          f"{name}: {percent(late)} later than first stacks: {late.reasons()}")
        return self.share(name, "whole stacks", recording.root(), MIN_ROOT)

    def root(self):
        """By BPF, and by perf of the stacks that were copied as a whole."""
        if PERF not in self.recordings:
            return self.root_of(BPF)
        copied = self.recordings[PERF].copied
        self.share(PERF, "stacks within their copies", copied, MIN_COPIED)
        return f"{self.root_of(BPF)} / perf {self.root_of(PERF)} of {percent(copied)}"

    def names(self):
        recording = self.recordings.get(BPF)
        return self.share(BPF, "named frames", recording.names, MIN_NAMES) if recording else NOTHING

    def pods_of(self, name):
        """Only all of the samples are enough."""
        recording = self.recordings.get(name)
        if not recording:
            return NOTHING
        self.require_time(recording.pods.whole >= MIN_PODS_SAMPLES, f"{name}: {recording.pods.whole} samples of pods")
        return self.share(name, "samples of the right pod", recording.pods, 100) if recording.pods.whole else NOTHING

    def pods(self):
        """By the kind of hierarchies."""
        return " / ".join(self.pods_of(name) for name in PODS)

    def path_of(self, name):
        """Returns the backend that `auto` took."""
        if name not in self.recordings:
            return NOTHING
        found = PATH.search(self.guest.log(name))
        path = found[1] if found else "bpf"
        self.require(path == PATHS[name], f"{name}: captured by {path}")
        return path

    def path(self):
        return f"{self.path_of(BPF)}; without BTF {self.path_of(PERF)}"

    def instructions(self):
        """Of the largest program, and which that is."""
        sizes = check_instructions.parse_sizes(self.guest.read("instructions"))
        if not sizes:
            return NOTHING
        machine = MACHINES[self.guest.kernel.architecture]
        faults = check_instructions.compare(self.guest.fact("kernel"), machine, sizes, check_instructions.read()[1])
        self.wrong += faults or ()
        largest = max(sizes, key=sizes.get)
        return f"{sizes[largest]} {largest}"

    def cells(self):
        return self.columns

    def story(self):
        guest = self.guest
        parts = [f"{name} {sum(recording.counts.values())} samples, {recording.in_kernel} from within the kernel, "
                 f"{recording.late.whole - recording.late.part} first stacks"
                 for name, recording in self.recordings.items()]
        return f"{self.name}: {guest.seconds:.0f} s; " + "; ".join(parts)


def attempt(measure, kernel, name):
    """The row that `measure` makes of a guest of that name. A kernel that cannot be had is no fault. A machine that was too
    busy, or whose kernel did not start, gets another chance."""
    try:
        row = measure(name)
        for number in range(2, MAX_TRIES + 1):
            if row.is_slow:
                print(f"{row.name}: try {number}: {'; '.join(row.slow)}", flush=True)
                row = measure(f"{name}-{number}")
        return row
    except host.Skip as skip:
        return SkippedRow(kernel, str(skip))


def table(rows):
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def each(kubelet, row, cases):
    """Yields the rows of the cases, in order, and prints each as soon as it is there."""
    with kubelet, concurrent.futures.ThreadPoolExecutor(NR_GUESTS) as pool:
        for made in pool.map(row, cases):
            print(made.story(), flush=True)
            yield made


def judge(rows):
    """Prints the table; what is wrong with it."""
    made = list(rows)
    print(table(made), flush=True)
    if all(row.is_skipped for row in made):
        raise host.Skip("; ".join(sorted({row.reason for row in made})))
    return [f"{row.name}: {fault}" for row in made for fault in row.faults]


def in_directory(keep, measure):
    """Calls `measure` with a directory for guests: a new one at `keep`, or one that is removed
    afterwards."""
    if keep:
        os.makedirs(keep)
        return measure(os.path.abspath(keep))
    with tempfile.TemporaryDirectory(prefix="flamelet-kernels-") as directory:
        return measure(directory)
