#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ELF files that ask for much memory or time when their unwind tables are made, run by a user without
privileges: the agent keeps its size, its workers stay below their bound, and what is lost is counted.

    unwind_bombs.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import platform
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import robustness

SECONDS = 10
AGENT_MAY_GROW_KB = 24 * 1024
WORKER_MAX_KB = (256 + 16 + 16) * 1024
TEXT = 4096
MB = 1 << 20

# The loops of robustness.py, run by a user without privileges.
RUN_FILES = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534)" + robustness.RUN_FILES
CIE = bytes.fromhex("0c000000" "00000000" "01" "00" "01" "78" "10" "000000")
DEBUG_CIE = bytes.fromhex("0c000000" "ffffffff" "01" "00" "01" "78" "10" "000000")


class Elf:
    """A file with a loop at TEXT, sections and segments."""

    def __init__(self):
        self.data = bytearray(robustness.LOOP.ljust(4096, b"\xcc"))    # from TEXT on
        self.names = bytearray(b"\0")
        self.sections = [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
        self.segments = [(TEXT, TEXT, 4096)]                # offset, address, length

    def add(self, name, offset, length, kind=1, flags=2):
        number = len(self.names)
        self.names += name.encode() + b"\0"
        self.sections.append(struct.pack("<IIQQQQIIQQ", number, kind, flags, (1 << 32) + offset,
                                         offset, length, 0, 0, 1, 0))

    def append(self, data):
        offset = TEXT + len(self.data)
        self.data += data
        return offset

    def write(self, path, hole=0):
        end = TEXT + len(self.data) + hole
        names = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, end, len(self.names), 0, 0, 1, 0)
        table = end + len(self.names)
        header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, table, 0, 64, 56, len(self.segments), 64,
            len(self.sections) + 1, len(self.sections))
        loads = b"".join(struct.pack("<IIQQQQQQ", 1, 5, offset, address, address, length, length, 4096)
                         for offset, address, length in self.segments)
        with open(path, "wb") as file:
            file.write((header + loads).ljust(TEXT, b"\0") + self.data)
            file.seek(end)
            file.write(bytes(self.names) + b"".join(self.sections) + names)


def overlapping_cies(path):
    elf = Elf()
    cies = CIE * (1 << 18)
    offset = elf.append(cies)
    for number in range(11):
        elf.add(".eh_frame", offset + 16 * number, len(cies) - 16 * number)
    elf.write(path)


def sparse(path):
    elf = Elf()
    elf.add(".eh_frame", TEXT + len(elf.data), 250 * MB)
    elf.write(path, hole=250 * MB)


def compressed(path):
    elf = Elf()
    frames = zlib.compress(DEBUG_CIE * (250 * MB // 16), 9)
    packed = struct.pack("<IIQQ", 1, 0, 250 * MB, 1) + frames
    elf.add(".debug_frame", elf.append(packed), len(packed), flags=0x800)
    elf.write(path)


def many_functions(path):
    elf = Elf()
    frames = bytearray(CIE)
    for number in range(1 << 20):
        frames += struct.pack("<IIQQ", 20, len(frames) + 4, TEXT + number % 4096, 1)
    elf.add(".eh_frame", elf.append(frames), len(frames))
    elf.write(path)


def real_data(path):
    elf = Elf()
    frames = b"\1" * (100 * MB)
    elf.add(".eh_frame", elf.append(frames), len(frames))
    elf.write(path)


def same_segments(path):
    elf = Elf()
    program = b"\x41" * (8 * MB)
    frames = CIE + struct.pack("<IIQQ", len(program) + 20, 20, TEXT, 1 << 30) + program
    elf.add(".eh_frame", elf.append(frames), len(frames))
    elf.segments = [(TEXT, TEXT, 4096)] + [(4096 * number, TEXT, 4096) for number in range(2, 60)]
    elf.write(path)


BOMBS = [overlapping_cies, sparse, compressed, many_functions, real_data, same_segments]


def children(pid):
    found = subprocess.run(["ps", "--ppid", str(pid), "-o", "rss=,comm="], stdout=subprocess.PIPE,
                           text=True, check=False).stdout
    return [(int(line.split()[0]), line.split()[1]) for line in found.splitlines()]


def run_agent(binary, load):
    """Returns (peak of the agent's resident kB, peak of its rows workers', its counters)."""
    command = [binary, "agent", "-F", "199", "--otlp-endpoint", "http://127.0.0.1:1"]
    process = subprocess.Popen(load)
    agent = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    worker_kb = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.1)
        worker_kb = max([worker_kb] + [kb for kb, name in children(agent.pid)
                                       if name == "rows-worker"])
    with open(f"/proc/{agent.pid}/status", encoding="utf-8") as status:
        peak_kb = int(re.search(r"VmHWM:\s*(\d+)", status.read()).group(1))
    agent.send_signal(signal.SIGTERM)
    _, message = agent.communicate(timeout=60)
    process.kill()
    process.wait()
    counters = {name: int(value)
                for name, value in re.findall(r"(\w+)=(\d+)", message.split("stopped: ")[-1])}
    return peak_kb, worker_kb, counters


def check(binary, directory):
    paths = []
    for bomb in BOMBS:
        paths.append(f"{directory}/{bomb.__name__}")
        bomb(paths[-1])
    os.chmod(directory, 0o755)
    usual_kb, _, _ = run_agent(binary, (sys.executable, "-c", RUN_FILES))
    peak_kb, worker_kb, counters = run_agent(binary, (sys.executable, "-c", RUN_FILES, *paths))
    print(f"agent {usual_kb} kB, with bombs {peak_kb} kB; workers at most {worker_kb} kB each")
    faults = []
    if peak_kb > usual_kb + AGENT_MAY_GROW_KB:
        faults.append(f"the agent took {peak_kb} kB, not {usual_kb} kB as usual")
    if worker_kb > WORKER_MAX_KB:
        faults.append(f"a worker took {worker_kb} kB")
    if worker_kb == 0:
        faults.append("there was no worker")
    if counters.get("unwind_bad_entries", 0) == 0 or counters.get("unwind_again", 0) == 0:
        faults.append(f"losses are not counted: {counters}")
    if counters.get("unwind_tables", 0) == 0:
        faults.append("no other file has a table")
    return faults


def main():
    if os.geteuid() != 0 or platform.machine() != "x86_64":
        print("SKIP: needs root, and x86-64")
        return 77
    with tempfile.TemporaryDirectory(prefix="flamelet-") as directory:
        faults = check(sys.argv[1], directory)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
