# SPDX-License-Identifier: Apache-2.0
"""A kernel's row of the table: what was measured there, in words, and what of it is a fault."""

import os
import re

import guest as guests
import measures

MIN_ROOT = MIN_NAMES = 99
# So many of the samples that the CPU time makes: an emulated timer is late when the machine is busy.
MIN_SAMPLES, MAX_SAMPLES = 25, 110
MIN_LATE = 90  # the rest are first stacks of processes
MIN_PODS_SAMPLES = 50
HEAD = ("kernel", "loads", "samples", "root share", "names", "pods", "capture path", "instructions")
PODS = ("unified", "hybrid", "legacy")
PATH = re.compile(r"captured by (\w+)")
NOTHING = "-"


def percent(share):
    return f"{share.percent():.1f} %"


class SkippedRow:
    faults, is_skipped = (), True

    def __init__(self, kernel, reason):
        self.name, self.reason = f"{kernel.series} {kernel.architecture}", reason

    def story(self):
        return f"SKIP {self.name}: {self.reason}"

    def cells(self):
        return [self.name, "SKIP"] + [NOTHING] * (len(HEAD) - 2)


class Row:
    is_skipped = False

    def __init__(self, guest, has_capture):
        self.guest, self.has_capture, self.faults = guest, has_capture, []
        self.name = f"{guest.fact('kernel') or guest.kernel.series}"
        self.loads = guest.fact("unified.status") == "0"
        if "end" not in guest.facts:
            self.faults.append(f"the guest did not come to its end: {guest.console[-500:]}")
        if not self.loads:
            self.faults.append(f"record: {guest.log('unified').strip()[-300:]}")
        self.recordings = {name: recording for name in PODS + ("perf", "no-btf") if (recording := self.read(name))}
        self.columns = [self.name, "yes" if self.loads else "no", self.samples(), self.root(), self.names(),
                        self.pods(), self.path(), self.instructions()]

    def read(self, name):
        path = f"{self.guest.logs}/{name}.pb.gz"
        return measures.Recording(path, self.guest.containers) if os.path.exists(path) else None

    def require(self, is_right, fault):
        if not is_right:
            self.faults.append(fault)

    def samples(self):
        recording = self.recordings.get("unified")
        if not recording:
            return NOTHING
        used = measures.cpu_seconds(self.guest.facts, "unified")
        found, expected = sum(recording.counts.values()), sum(used.values()) * guests.FREQUENCY_HZ
        share = 100 * found / expected if expected else 0
        self.require(MIN_SAMPLES <= share <= MAX_SAMPLES, f"{found} samples where CPU time makes {expected:.0f}")
        self.require(all(recording.counts.values()), f"a program has no samples: {recording.counts}")
        return f"{found} of {expected:.0f}"

    def share(self, name, what, share, least):
        self.require(share.percent() >= least,
                     f"{name}: {what} {percent(share)} of {share.whole}: {share.reasons()}")
        return percent(share)

    def root(self):
        """By BPF, and by perf where there is that."""
        texts = []
        for name in ("unified", "perf"):
            recording = self.recordings.get(name)
            if recording:
                self.share(name, "later than first stacks", recording.late, MIN_LATE)
                texts.append(self.share(name, "whole stacks", recording.root(), MIN_ROOT))
        return " / perf ".join(texts) or NOTHING

    def names(self):
        recording = self.recordings.get("unified")
        return self.share("unified", "named frames", recording.names, MIN_NAMES) if recording else NOTHING

    def pods(self):
        """By the kind of hierarchies; only all of the samples are enough."""
        texts = []
        for name in PODS:
            recording = self.recordings.get(name)
            share = recording.pods if recording else measures.Share()
            self.require(share.whole >= MIN_PODS_SAMPLES, f"{name}: {share.whole} samples of pods")
            texts.append(self.share(name, "samples of the right pod", share, 100))
        return " / ".join(texts)

    def path_of(self, name):
        """None: there was no profile at all."""
        if self.guest.fact(f"{name}.status") != "0":
            return None
        found = PATH.search(self.guest.log(name))
        return found[1] if found else "bpf"

    def path(self):
        if not self.has_capture:
            return self.path_of("unified") or NOTHING
        paths = {name: self.path_of(name) for name in ("unified", "perf", "no-btf")}
        self.require(paths == {"unified": "bpf", "perf": "perf", "no-btf": "perf"}, f"captured by {paths}")
        return f"{paths['unified']}; without BTF {paths['no-btf']}"

    def instructions(self):
        """Of the largest program, and which that is."""
        sizes = {program: int(number) for program, number in
                 (line.split() for line in self.guest.read("instructions").splitlines())}
        if self.guest.has_program_sizes:
            self.require(sizes, f"instructions: {self.guest.log('instructions')[-300:]}")
        largest = max(sizes, key=sizes.get, default=None)
        return f"{sizes[largest]} {largest}" if largest else NOTHING

    def cells(self):
        return self.columns

    def story(self):
        guest = self.guest
        parts = [f"{name} {sum(recording.counts.values())} samples, {recording.in_kernel} from within the kernel, "
                 f"{recording.late.whole - recording.late.part} first stacks"
                 for name, recording in self.recordings.items()]
        return f"{self.name}: {guest.seconds:.0f} s; " + "; ".join(parts)


def table(rows):
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
