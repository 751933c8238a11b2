#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a Python with several threads and with one, and compares what the probe finds of it with what that Python
says (thread_facts.py): the states of its threads, whether they have the GIL or not, and the frames of those that wait.

    compare_places.py PROBE [--versions | --python COMMAND...]

COMMAND starts the Python to be tested, which is this one if there is none: "chroot DIR python3", for example. With
--versions it is each of tests/runtime/versions.py.
"""
import argparse
import json
import os
import re
import struct
import subprocess
import time

import pythons

FACTS = os.path.join(pythons.HERE, "thread_facts.py")
TIMEOUT_S = 20
BY_CODE, BY_CFRAME, BY_SHIM = range(3)
BYTES, UNITS, POINTER = range(3)


class Memory:
    def __init__(self, pid):
        self.file = open(f"/proc/{pid}/mem", "rb", buffering=0)

    def read(self, address, kind="Q"):
        self.file.seek(address)
        return struct.unpack("=" + kind, self.file.read(struct.calcsize("=" + kind)))[0]


class Probe:
    """The output of the probe for the first Python that a process maps."""

    def __init__(self, program, pid):
        self.text = subprocess.run([program, "--pid", str(pid)], capture_output=True, text=True, check=True).stdout
        self.values = dict(re.findall(r"^  (\S.*?) {2,}(\S+)$", self.text, re.M))
        self.place = [int(offset) for offset in re.findall(r" ([+-]\d+), load", self.text)]
        self.is_ready = "\n  ready" in self.text
        version = re.search(r": cpython (\d+)\.(\d+)\.(\d+)", self.text)
        self.version = [int(number) for number in version.groups()] if version else None

    def get(self, word):
        """The value whose label has the word."""
        found, = [value for label, value in self.values.items() if word in label]
        return None if found == "none" else int(found, 0)

    def state(self, memory, pointer):
        for offset in self.place:
            pointer = memory.read(pointer + offset)
        return pointer


def first_frame(probe, memory, state):
    cframe = probe.get("PyThreadState.cframe")
    if cframe is not None:
        state = memory.read(state + cframe)
    return memory.read(state + probe.get("current_frame"))


def position(probe, memory, frame, code):
    """As frame.f_lasti: in bytes."""
    kind, at = probe.get("enum cpython_instr"), frame + probe.get("f_lasti")
    if kind == POINTER:
        return memory.read(at) - code - probe.get("co_code_adaptive")
    return memory.read(at, "i") * (2 if kind == UNITS else 1)


def chain(probe, memory, state):
    kind, owner = probe.get("enum cpython_chain"), probe.get("is_entry or owner")
    frame = first_frame(probe, memory, state)
    while frame:
        if kind != BY_SHIM or memory.read(frame + owner, "B") < probe.get("owner of shims"):
            code = memory.read(frame + probe.get("f_executable")) & ~7
            yield [code, position(probe, memory, frame, code)]
        frame = memory.read(frame + probe.get("f_back"))


def faults(probe, memory, facts):
    if not probe.is_ready:
        yield "not ready: " + probe.text
        return
    if probe.version[:2] != facts["version"][:2] or probe.version[2] not in (0, facts["version"][2]):
        yield f"the version is {facts['version']}, not {probe.version}"
    for pointer, state in ((int(ident), state) for ident, state in facts["states"].items()):
        if probe.state(memory, pointer) != state:
            yield f"thread {pointer:#x}: its state is not at {probe.place}"
        if memory.read(state + probe.get("thread_id")) != pointer:
            yield f"thread {pointer:#x}: its state has another one"
    for ident, frames in facts["chains"].items():
        found = list(chain(probe, memory, facts["states"][ident]))
        if found != frames:
            yield f"thread {int(ident):#x}: the frames are {frames}, not {found}"


def compare(program, process):
    """Threads may be on the way to where they will stay, so that a difference is looked at again. The memory is that
    of the Python, and not of a program that started it, once it has answered."""
    end = time.monotonic() + TIMEOUT_S
    while True:
        process.stdin.write("\n")
        process.stdin.flush()
        facts = json.loads(process.stdout.readline())
        probe, memory = Probe(program, process.pid), Memory(process.pid)
        found = list(faults(probe, memory, facts))
        if not found:
            nr_frames = sum(map(len, facts["chains"].values()))
            print(f"Python {'.'.join(map(str, facts['version']))}: {len(facts['states'])} threads at {probe.place}, "
                  f"{nr_frames} frames", flush=True)
        if not found or time.monotonic() > end:
            return found


def run(program, command, environment, threads):
    with open(FACTS, encoding="utf-8") as source:
        command = [*command, "-c", source.read(), threads]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            return compare(program, process)
        finally:
            process.kill()


def has_ctypes(command, environment):
    try:
        return subprocess.run([*command, "-c", "import ctypes"], env=environment, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0
    except OSError:
        return False


def is_right(program, name, command, environment):
    if not has_ctypes(command, environment):
        print(f"{pythons.SKIP} {name}: it does not start, or has no ctypes", flush=True)
        return None
    found = [fault for threads in ("many", "one") for fault in run(program, command, environment, threads)]
    for fault in found:
        print(f"{name}: {fault}", flush=True)
    return not found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    pythons.add_options(parser)
    options = parser.parse_args()
    if os.uname().machine != "x86_64":
        print(f"{pythons.SKIP}: not x86-64")
        pythons.exit_with([])
    pythons.exit_with([is_right(options.program, *python) for python in pythons.wanted(options)])


main()
