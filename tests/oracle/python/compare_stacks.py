#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks of stopped Pythons with those that py-spy finds at the same instant. The stacks are those of the
kernel side's unwinder, compiled for the host (runtime_stacks.c); the Pythons run the loads of tests/runtime.

    compare_stacks.py RUNTIME_STACKS [--versions] [--stops NUMBER] [--case NAME]...

With --versions it is each of tests/runtime/versions.py that py-spy knows, instead of this machine's Python. py-spy is
$PY_SPY, or that of $PATH, or else it is got from PyPI.

Exit status 0: all frames are the same; 1: some are not; 77: it cannot run here."""

import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("tests/oracle/runtimes", "tests/runtime", "e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../../..", folder))

# pylint: disable=wrong-import-position
import comparing
import fetch
import host
import stopped

PY_SPY_VERSION = "0.4.3"
LOADS = ("calls", "threads", "deep 300", "alternate 60", "unicode", "tasks", "texts", "gil threads", "lines")
# A frame of the interpreter itself, which Flamelet leaves out.
CLEANUP = ("__init__", "__init__", 0)


def find_py_spy():
    found = os.environ.get("PY_SPY") or shutil.which("py-spy")
    if found:
        return found
    return fetch.installed(f"py-spy-{PY_SPY_VERSION}", sys.executable, "-m", "pip", "install", "--quiet",
                           f"py-spy=={PY_SPY_VERSION}", "--target") + "/bin/py-spy"


class Stack:
    """The Python frames of a thread."""

    def __init__(self, found):
        self.result = found.result
        lines = [frame.lines[0] if frame.lines else stopped.Line(f"[{frame.mark or 'no name'}]", "", 0) for frame in found.frames]
        self.frames = [(line.name, line.file, line.line) for line in lines]
        self.start_line = lines[0].start_line if lines else 0

    def is_like(self, frames):
        """py-spy tells the first line with code of a function that has executed nothing yet; Python itself does not."""
        if not self.frames or self.frames[1:] != frames[1:] or self.frames[0][:2] != frames[0][:2]:
            return False
        return self.frames[0] == frames[0] or self.frames[0][2] == self.start_line


def spied_stacks(py_spy, pid):
    """By thread pointer: the frames that py-spy tells."""
    command = [py_spy, "dump", "--json", "--nonblocking", "--pid", str(pid)]
    found = {thread["thread_id"]: [(frame["name"], frame["filename"], frame["line"]) for frame in thread["frames"]]
             for thread in json.loads(host.run(*command, stderr=None))}
    return {thread: [frame for frame in frames if frame != CLEANUP] for thread, frames in found.items() if frames}


def difference(ours, theirs):
    place = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), min(len(ours), len(theirs)))
    return (f"{len(ours)} frames, py-spy has {len(theirs)}; at {place}: {ours[place:place + 2]}, py-spy has "
            f"{theirs[place:place + 2]}")


class Comparison:
    """Counts what was compared."""

    def __init__(self):
        self.nr_stacks = self.nr_frames = self.nr_rooted = 0
        self.faults = []

    def add(self, found, spied):
        for thread, frames in spied.items():
            stack = found.get(thread, Stack(stopped.Stack()))
            self.nr_stacks += 1
            self.nr_frames += len(frames)
            self.nr_rooted += stack.result == 0
            if not stack.is_like(frames):
                self.faults.append(difference(stack.frames, frames))


def compare_process(options, pid):
    comparison = Comparison()
    for stacks in comparing.stacks_of(options, "cpython", pid):
        comparison.add({stack.thread: Stack(stack) for stack in stacks}, spied_stacks(options.py_spy, pid))
    return comparison


def compare_case(options, scene, case):
    version, found = comparing.run_load(scene, case, lambda pid: compare_process(options, pid))
    print(f"{scene.runtime.name:<24} {version:<10} {case.name:<14} {found.nr_stacks:>5} stacks {found.nr_rooted:>5} to the root "
          f"{found.nr_frames:>7} frames {len(found.faults):>4} stacks differ", flush=True)
    return comparing.judge(f"{scene.runtime.name}, {case.name}", found.faults, found.nr_stacks)


def check(options):
    options.py_spy = find_py_spy()
    return comparing.run_versions(options, "cpython", "/usr/bin/python3", compare_case)


if __name__ == "__main__":
    sys.exit(host.judge(check, comparing.parse(LOADS, 20)))
