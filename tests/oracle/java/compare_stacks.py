#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks of stopped JVMs with those that jhsdb finds at the same instant: methods and lines. The stacks are
those of the kernel side's unwinder, compiled for the host (runtime_stacks.c); the JVMs run the loads of tests/runtime.

    compare_stacks.py RUNTIME_STACKS [--versions] [--stops NUMBER] [--case NAME]...

With --versions it is each JDK in /usr/lib/jvm, instead of the one of $PATH.

jhsdb knows compiled code by the places where it can stop. Between them it says that its information may be imprecise. The
innermost frame is compared only where it does not say so, and all other frames always.

Exit status 0: all frames are the same; 1: some are not; 77: it cannot run here."""

import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("tests/oracle/runtimes", "tests/runtime", "e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../../..", folder))

# pylint: disable=wrong-import-position
import cases
import comparing
import host

LOADS = ("calls", "deep 400", "calls, interpreted", "calls, C1", "calls, serial GC")
THREAD = re.compile(r'".*nid=(0x[0-9a-f]+|[0-9]+) ')
FRAME = re.compile(r" - (\S+)\(.*\) @bci=-?\d+(?:, line=(\d+))? \((.*)\)")
HIDDEN = re.compile(r"[+/]0x[0-9a-f]+")    # of a class
LEAST_MADE = 10     # of so many stacks, jhsdb may miss one's innermost frame
METHOD = re.compile(r"[^ ]+\.[^ .]+")       # and no stub


def told_stacks(jhsdb, pid):
    """By thread: [(method, line, what jhsdb says of it)], innermost first; without a line: 0."""
    found, frames = {}, []
    for text in host.run(jhsdb, "jstack", "--pid", str(pid), stderr=None).splitlines():
        if match := THREAD.match(text):
            frames = found[int(match.group(1), 0)] = []
        elif match := FRAME.match(text):
            frames.append((HIDDEN.sub("", match.group(1)), int(match.group(2) or 0), match.group(3)))
    return {thread: frames for thread, frames in found.items() if frames}


def methods_of(frame):
    """[(method, line)], innermost first. A frame without a name is one that no JVM tells."""
    if not frame.lines:
        return [(f"[{frame.mark or 'no name'}]", 0)]
    return [(line.name, line.line) for line in frame.lines if METHOD.fullmatch(line.name)]


def same(found, told):
    """Hidden classes have lines that jhsdb does not tell."""
    return found[0] == told[0] and (found[1] == told[1] or told[1] == 0)


def difference_of(ours, theirs):
    """Of two lists of methods: what differs, or None."""
    for i, pair in enumerate(zip(ours, theirs)):
        if not same(*pair):
            return f"frame {i} is {pair[0]}, jhsdb has {pair[1]}"
    return None if len(ours) == len(theirs) else f"{len(ours)} frames, jhsdb has {len(theirs)}: {ours[:2]}, {theirs[:2]}"


def difference_below(frames, told):
    """The same, where jhsdb is imprecise in the innermost frame: `frames` are those below it."""
    ours = [method for frame in frames for method in frame]
    return difference_of(ours, told[max(len(told) - len(ours), 1):])


def difference(found, told):
    """Of a thread: what differs, or None."""
    ours = [methods_of(frame) for frame in found.frames]
    if "imprecise" not in told[0][2]:
        return difference_of([method for frame in ours for method in frame], told)
    fault = difference_below(ours[1:], told)
    # Before the innermost frame is made, and behind it, jhsdb misses the one that called it.
    return fault and difference_below(ours[2:], told) and fault


def is_unmade(found, told):
    """jhsdb misses only the innermost frame. For a moment it does so, where compiled code is called."""
    ours = [methods_of(frame) for frame in found.frames[1:]]
    return difference_of([method for frame in ours for method in frame], told) is None


class Comparison:
    """Counts what was compared."""

    def __init__(self):
        self.nr_stacks = self.nr_frames = self.nr_untold = self.nr_unmade = 0
        self.faults = []

    def add(self, found, told):
        for stack in found:
            if not stack.frames:
                continue
            if stack.tid not in told:
                self.nr_untold += 1
                continue
            self.nr_stacks += 1
            self.nr_frames += len(told[stack.tid])
            fault = difference(stack, told[stack.tid])
            if fault and is_unmade(stack, told[stack.tid]):
                self.nr_unmade += 1
            elif fault:
                self.faults.append(f"{fault}; the unwinder's result is {stack.result}")


def compare_process(options, pid, jhsdb):
    comparison = Comparison()
    for stacks in comparing.stacks_of(options, "hotspot", pid):
        comparison.add(stacks, told_stacks(jhsdb, pid))
    return comparison


def compare_case(options, scene, case):
    jhsdb = os.path.join(os.path.dirname(scene.runtime.command[0]), "jhsdb")
    version, found = comparing.run_load(scene, case, lambda pid: compare_process(options, pid, jhsdb))
    print(f"{version:<12} {case.name:<20} {found.nr_stacks:>5} stacks {found.nr_frames:>7} frames {len(found.faults):>4} stacks differ; "
          f"jhsdb has none of {found.nr_untold}", flush=True)
    faults = comparing.judge(f"{version}, {case.name}", found.faults, found.nr_stacks)
    if found.nr_unmade * LEAST_MADE > found.nr_stacks:
        faults.append(f"{version}, {case.name}: jhsdb misses the innermost frame of {found.nr_unmade} stacks")
    return faults if found.nr_stacks else [f"{version}, {case.name}: jhsdb tells of no thread"]


def check(options):
    host.require("java", "javac", "jhsdb")
    found = glob.glob("/usr/lib/jvm/*/bin/jhsdb") if options.versions else [shutil.which("jhsdb")]
    directories = sorted({os.path.dirname(os.path.realpath(path)) for path in found})
    return [fault for directory in directories
            for fault in comparing.run_cases(options, cases.Runtime("hotspot", "java", (f"{directory}/java",)), compare_case)]


if __name__ == "__main__":
    sys.exit(host.judge(check, comparing.parse(LOADS, 10)))
