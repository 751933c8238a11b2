#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks of stopped Pythons with those that py-spy finds at the same instant. The stacks are those of the
kernel side's unwinder, compiled for the host (python_stacks.c); the Pythons run the loads of tests/runtime.

    compare_stacks.py PYTHON_STACKS [--versions] [--stops NUMBER]

With --versions it is each of tests/runtime/versions.py that py-spy knows, instead of this machine's Python. py-spy is
$PY_SPY, or that of $PATH; with --versions, it is got from PyPI else.

Exit status 0: all frames are the same; 1: some are not; 77: it cannot run here."""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("tests/runtime", "e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../../..", folder))

# pylint: disable=wrong-import-position
import cases
import check_load
import fetch
import host
import versions

PY_SPY_VERSION = "0.4.3"
LOADS = ("calls", "threads", "deep 300", "alternate 60", "unicode", "tasks", "texts", "gil threads", "lines")
INSTALLED = versions.Version("cpython", "installed", "", "", "/usr/bin/python3")
PAUSE_S = 0.05
MAX_SHOWN = 3
# A frame of the interpreter itself, which Flamelet leaves out.
CLEANUP = ("__init__", "__init__", 0)


def find_py_spy(may_fetch):
    found = os.environ.get("PY_SPY") or shutil.which("py-spy")
    if found:
        return found
    if not may_fetch:
        raise host.Skip("py-spy is not installed")
    return fetch.installed(f"py-spy-{PY_SPY_VERSION}", sys.executable, "-m", "pip", "install", "--quiet",
                           f"py-spy=={PY_SPY_VERSION}", "--target") + "/bin/py-spy"


@dataclass
class Stack:
    result: int         # enum unwind_result
    frames: list = field(default_factory=list)      # (name, file, line), innermost first
    start_line: int = 0     # of the innermost function

    def is_like(self, frames):
        """py-spy tells the first line with code of a function that has executed nothing yet; Python itself does not."""
        if not self.frames or self.frames[1:] != frames[1:] or self.frames[0][:2] != frames[0][:2]:
            return False
        return self.frames[0] == frames[0] or self.frames[0][2] == self.start_line


class Unwinder:
    """python_stacks at work. It makes the tables of a process once."""

    def __init__(self, program, pid):
        self.process = subprocess.Popen([program, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stacks(self):
        """By thread pointer."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found, stack = {}, None
        while fields := self.process.stdout.readline().rstrip("\n").split("\t"):
            if fields == [""]:
                break
            if fields[0] == "thread":
                stack = found[int(fields[1])] = Stack(int(fields[2]))
            elif fields[0] == "-":
                stack.frames.append((f"[{fields[1]}]", "", 0))
            else:
                stack.start_line = stack.start_line or int(fields[1])
                stack.frames.append((fields[2], fields[3], int(fields[0])))
        if self.process.poll() is not None:
            raise host.Failure(f"python_stacks: exit {self.process.returncode}")
        return found

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def spied_stacks(py_spy, pid):
    """By thread pointer: the same frames."""
    command = [py_spy, "dump", "--json", "--nonblocking", "--pid", str(pid)]
    found = {thread["thread_id"]: [(frame["name"], frame["filename"], frame["line"]) for frame in thread["frames"]]
             for thread in json.loads(host.run(*command, stderr=None))}
    return {thread: [frame for frame in frames if frame != CLEANUP] for thread, frames in found.items() if frames}


def is_stopped(pid):
    """All threads are."""
    try:
        return all(host.read_text(path).rpartition(")")[2].split()[0] in "Tt" for path in
                   glob.glob(f"/proc/{pid}/task/*/stat"))
    except OSError:
        return False


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
            stack = found.get(thread, Stack(-1))
            self.nr_stacks += 1
            self.nr_frames += len(frames)
            self.nr_rooted += stack.result == 0
            if not stack.is_like(frames):
                self.faults.append(difference(stack.frames, frames))


def compare_load(options, load):
    pid, = load.pids()
    comparison, unwinder = Comparison(), Unwinder(options.program, pid)
    try:
        for _ in range(options.stops):
            time.sleep(PAUSE_S)
            os.kill(pid, signal.SIGSTOP)
            host.wait_until("the Python is stopped", lambda: is_stopped(pid), pause=0.001)
            comparison.add(unwinder.stacks(), spied_stacks(options.py_spy, pid))
            os.kill(pid, signal.SIGCONT)
    finally:
        unwinder.close()
    return comparison


def compare_case(options, scene, case):
    load = check_load.Load(scene, case)
    try:
        version, _ = load.read()
        found = compare_load(options, load)
    finally:
        load.stop()
    print(f"{scene.runtime.name:<24} {version:<10} {case.name:<14} {found.nr_stacks:>5} stacks {found.nr_rooted:>5} to the root "
          f"{found.nr_frames:>7} frames {len(found.faults):>4} stacks differ", flush=True)
    for fault in found.faults[:MAX_SHOWN]:
        print(f"    {fault}", flush=True)
    return [f"{scene.runtime.name}, {case.name}: {len(found.faults)} stacks of {found.nr_stacks}"] if found.faults else []


def compare_version(options, version):
    try:
        runtime = version.runtime()
        if runtime.root == "/" and not os.access(runtime.command[0], os.X_OK):
            raise host.Skip("it is not installed")
        with fetch.mounted_proc(runtime.root):
            scene = cases.Scene(runtime)
            try:
                return [fault for case in cases.CASES["cpython"] if case.name in LOADS
                        for fault in compare_case(options, scene, case)]
            finally:
                scene.close()
    except host.Skip as skip:
        print(f"SKIP {version.name}: {skip}", flush=True)
        return []
    except host.Failure as failure:
        return [f"{version.name}: {failure}"]


def check(options):
    options.py_spy = find_py_spy(options.versions)
    wanted = versions.VERSIONS if options.versions else [INSTALLED]
    return [fault for version in wanted if version.kind == "cpython" for fault in compare_version(options, version)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--versions", action="store_true")
    parser.add_argument("--stops", type=int, default=20)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
