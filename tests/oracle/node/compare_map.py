#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the frames of stopped Nodes with what V8 itself tells by --perf-basic-prof: for each address of code, the
function with its file and the line where it begins. The frames are those of the kernel side's unwinder, compiled for the
host (runtime_stacks.c), which does not read that; the Nodes run the loads of tests/runtime.

    compare_map.py RUNTIME_STACKS [--versions] [--stops NUMBER] [--case NAME]...

With --versions it is each of tests/runtime/versions.py, instead of this machine's Node.

The addresses are found in another way: by the list of frame pointers, from the innermost frame to the first entry from
C++. Each load also runs with --interpreted-frames-native-stack, by which frames of the interpreter have addresses of
their own; without it, those are only counted.

Exit status 0: all frames are the same; 1: some are not; 77: it cannot run here."""

import bisect
import dataclasses
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("tests/oracle/runtimes", "tests/runtime", "e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../../..", folder))

# pylint: disable=wrong-import-position
import comparing
import host
import stopped

LOADS = ("calls", "deep 400", "async", "inlined")
# The log that V8 writes as well is of no use.
MAP = ("--perf-basic-prof", "--no-logfile-per-isolate", "--logfile=/dev/null")
WITH_INTERPRETER = "--interpreted-frames-native-stack"
MAX_FRAMES = 2000
ENTRIES = (2, 4)    # in the place of the context, in frames by which C++ calls JavaScript
# Type of the code, its tier, the name, the file, the line and the column where the function begins.
FUNCTION = re.compile(r"(?:JS|LazyCompile|Function|Script|Eval):(?:o?[~^+*])?'*(.*?) ?([^ ]*?):(\d+)(?::\d+)?$")
INTERPRETER = re.compile(r"BytecodeHandler:|Builtin:(Interpreter|BaselineOrInterpreter)")
V8_BYTECODE = 4     # enum runtime_frame
ANONYMOUS = ("(anonymous)", "")


@dataclasses.dataclass(frozen=True)
class Entry:
    start: int
    end: int
    name: str
    file: str
    line: int   # 0: it is no function in JavaScript

    def is_interpreter(self):
        return self.line == 0 and INTERPRETER.match(self.name)


class Map:
    """Of code to functions. V8 adds a line when it makes code; later ones replace earlier ones at the same place."""

    def __init__(self, path):
        self.path = path
        self.position = 0
        self.starts, self.entries = [], []

    def read(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            file.seek(self.position)
            text = file.read()
        self.position += len(text.encode("utf-8", errors="replace"))
        for line in text.splitlines():
            start, size, name = line.split(" ", 2)
            self.add(int(start, 16), int(start, 16) + int(size, 16), name)

    def add(self, start, end, name):
        first = bisect.bisect_left(self.starts, start)
        if first > 0 and self.entries[first - 1].end > start:
            first -= 1
        last = bisect.bisect_left(self.starts, end)
        match = FUNCTION.match(name)
        entry = Entry(start, end, match.group(1), match.group(2), int(match.group(3))) if match else Entry(start, end, name, "", 0)
        self.starts[first:last], self.entries[first:last] = [start], [entry]

    def find(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        return self.entries[index] if index >= 0 and address < self.entries[index].end else None


def is_same(frame, entry):
    """The outermost of inlined functions is the one that was compiled. Functions without a name have one of Flamelet's."""
    if entry.line == 0:
        return frame.kind == V8_BYTECODE
    line = frame.lines[-1] if frame.lines else stopped.Line("", "", 0)
    return (line.name == entry.name or line.name in ANONYMOUS and not entry.name) and line.file == entry.file \
        and line.start_line == entry.line


class Memory:
    """Of a process."""

    def __init__(self, pid):
        self.file = open(f"/proc/{pid}/mem", "rb", buffering=0)

    def words(self, address, number):
        self.file.seek(address)
        return struct.unpack(f"<{number}Q", self.file.read(8 * number))


def entries_of(stack, memory, functions):
    """What the map has of the frames in JavaScript from the innermost one on; None: the stack is not in such code."""
    address, fp, found = stack.ip, stack.fp, []
    if not functions.find(address):
        return None
    for _ in range(MAX_FRAMES):
        entry = functions.find(address)
        context, caller_fp, returns_to = memory.words(fp - 8, 3)
        if entry and (entry.line or entry.is_interpreter()):
            found.append(entry)
        if not entry or context in ENTRIES:
            break
        address, fp = returns_to - 1, caller_fp
    return found


def difference(frames, entries):
    """Of the outermost `entries`: what differs, or None."""
    for i, entry in enumerate(entries):
        if i >= len(frames) or not is_same(frames[i], entry):
            return f"frame {i} of {len(entries)} is {frames[i] if i < len(frames) else 'missing'}, V8 has {entry}"
    return None


class Comparison:
    """Counts what was compared."""

    def __init__(self):
        self.nr_stacks = self.nr_functions = self.nr_interpreted = 0
        self.faults = []

    def add(self, stacks, memory, functions):
        for stack in stacks:
            entries = entries_of(stack, memory, functions)
            if not entries:
                continue
            self.nr_stacks += 1
            self.nr_functions += sum(entry.line > 0 for entry in entries)
            self.nr_interpreted += sum(entry.line == 0 for entry in entries)
            frames = [frame for frame in stack.frames if not frame.mark]
            fault = difference(frames, entries)
            # Where the innermost frame is not made yet, the frame pointer is that of its caller's.
            if fault and difference(frames[:1] + frames[2:], entries) and \
                    (entries[0].line or difference(frames, entries[1:])):
                self.faults.append(fault)


def compare_process(options, pid):
    path = f"/proc/{pid}/root/tmp/perf-{pid}.map"
    comparison, functions, memory = Comparison(), Map(path), Memory(pid)
    try:
        for stacks in comparing.stacks_of(options, "v8", pid):
            functions.read()
            comparison.add(stacks, memory, functions)
    finally:
        os.unlink(path)
    return comparison


def compare_mode(options, scene, case):
    version, found = comparing.run_load(scene, case, lambda pid: compare_process(options, pid))
    name = f"{case.name}{', interpreter' if WITH_INTERPRETER in case.options else ''}"
    print(f"{scene.runtime.name:<24} {version:<10} {name:<24} {found.nr_stacks:>4} stacks {found.nr_functions:>6} functions "
          f"{found.nr_interpreted:>6} without an address {len(found.faults):>4} stacks differ", flush=True)
    faults = comparing.judge(f"{scene.runtime.name}, {name}", found.faults, found.nr_stacks)
    return faults if found.nr_functions else [f"{scene.runtime.name}, {name}: no address is in the map"]


def compare_case(options, scene, case):
    return [fault for flags in (MAP, (*MAP, WITH_INTERPRETER))
            for fault in compare_mode(options, scene, dataclasses.replace(case, options=flags))]


def check(options):
    return comparing.run_versions(options, "v8", "/usr/bin/node", compare_case)


if __name__ == "__main__":
    sys.exit(host.judge(check, comparing.parse(LOADS, 20)))
