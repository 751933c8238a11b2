#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flamelet beside processes that mean it no good, and on a machine that has little to give.

    robustness.py path/to/flamelet path/to/deep

Set FLAMELET_E2E_HOTPLUG=1 to have CPU 1 go offline for a moment as well. (Hierarchies of version 1
take such a CPU out of their cpusets for good.)

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import platform
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "local"))

# pylint: disable=wrong-import-position
import host

ODD_NAMES = [b"a\nb;c\"d'", b"\xc3\xa4" * 7 + b"\xe2", b"\x1b[31mred", b"<i>&]]>", b"\x01\x7f",
             b"\x9b2J", b"\xc2\x9b2J", b"\xff\xfe", b"\xe2\x80\xaetxt"]
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MAX_RESIDENT_KB = 400 * 1024    # with sanitizers; it takes a tenth without
CPU1 = "/sys/devices/system/cpu/cpu1/online"

# Burns CPU time under the name given in hex.
SPIN = """
import sys
with open("/proc/self/comm", "wb") as comm:
    comm.write(bytes.fromhex(sys.argv[1]))
while True:
    pass
"""

# Runs a loop that stands in the files given, 4096 bytes behind their start, each in turn.
RUN_FILES = """
import ctypes, mmap, sys
loops = []
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        start = libc.mmap(None, 8192, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE,
                          file.fileno(), 0)
    loops.append(ctypes.CFUNCTYPE(None, ctypes.c_long)(start + 4096))
while True:
    for loop in loops:
        loop(20_000_000)
"""
# push %rbp; mov %rsp,%rbp; mov %rdi,%rcx; 1: dec %rcx; jnz 1b; pop %rbp; ret
LOOP = bytes.fromhex("554889e54889f948ffc975fb5dc3")


class Load:
    """Processes that run in the meantime."""

    def __init__(self, *commands):
        self.commands = commands
        self.processes = []

    def __enter__(self):
        self.processes = [subprocess.Popen(command) for command in self.commands]
        try:
            host.wait_until_busy(*[process.pid for process in self.processes])
        except host.Failure:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def spin(name=b"spin"):
    return sys.executable, "-c", SPIN, name.hex()


def record(binary, directory, *options, preexec=None, prefix=(), **streams):
    """Returns (exit status, standard error, seconds, peak of resident kB so far)."""
    begin = time.monotonic()
    streams.setdefault("stdout", subprocess.DEVNULL)
    done = subprocess.run([*prefix, binary, "record", "-F", "99", "-o", f"{directory}/x.svg", "-o",
                           f"{directory}/x.folded", *options], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=100, check=False,
                          preexec_fn=preexec, **streams)
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return done.returncode, done.stderr, time.monotonic() - begin, peak_kb


def folded(directory):
    with open(f"{directory}/x.folded", "rb") as file:
        return file.read()


def count(directory, part=b""):
    return sum(int(line.rsplit(b" ", 1)[1])
               for line in folded(directory).splitlines() if part in line)


def odd_names(binary, directory):
    """Whatever a process calls itself, files stay well-formed and every line is one stack."""
    with Load(*[spin(name) for name in ODD_NAMES]):
        status, message, _, _ = record(binary, directory, "-d", "2")
    faults = [] if status == 0 else [f"exit status {status}: {message}"]
    ElementTree.parse(f"{directory}/x.svg")
    text = folded(directory)
    faults += [f"no stack in {line!r}" for line in text.splitlines()
               if not re.search(rb";.* \d+$", line)]
    faults += [f"no process {shown}" for shown in
               (rb"a\x0ab:c", rb"\x1b[31mred;", rb"\x01\x7f;", rb"\x9b2J;", rb"\xc2\x9b2J;",
                rb"\xff\xfe;", rb"\xe2\x80\xaetxt;") if shown not in text]
    for what, shown in (("the folded text", text), ("the summary", message.encode())):
        if HARMFUL.search(shown.decode()):
            faults.append(f"control characters in {what}")
    return faults


def elf(nr_symbols, size):
    """An ELF file with a loop, whose symbol table claims to be so long."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 512, 0, 64, 56, 1, 64, 4, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 8192, 8192, 4096)
    code = struct.pack("<IIQQQQIIQQ", 0, 1, 6, 4096, 4096, 4096, 0, 0, 1, 0)
    symbols = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 8192, nr_symbols * 24, 3, 0, 1, 24)
    strings = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 8192, size - 8192, 0, 0, 1, 0)
    return (header + load).ljust(512, b"\0") + bytes(64) + code + symbols + strings


def odd_files(binary, directory):
    """Code in files that are no ELF files, or lie about themselves, is named by its address."""
    if platform.machine() != "x86_64":
        return []
    contents = {"noise": (os.urandom(4096), 1 << 20),
                "liar": (elf(1 << 32, 1 << 40), 1 << 40),
                "zeros": (elf(4_000_000, 1 << 30), 1 << 30)}
    for name, (start, size) in contents.items():
        with open(f"{directory}/{name}", "wb") as file:
            file.write(start.ljust(4096, b"\0") + LOOP)
            file.truncate(size)
    paths = [f"{directory}/{name}" for name in contents]
    with Load((sys.executable, "-c", RUN_FILES, *paths)):
        status, message, seconds, peak_kb = record(binary, directory, "-d", "2")
    faults = [] if status == 0 else [f"exit status {status}: {message}"]
    faults += [f"{name} is in no stack"
               for name in contents if count(directory, name.encode()) == 0]
    if seconds > 40:
        faults.append(f"took {seconds:.0f} s")
    if peak_kb > MAX_RESIDENT_KB:
        faults.append(f"took {peak_kb} kB")
    return faults


def ends_in_time(binary, directory):
    """Samples that come faster than they are handled do not keep it from ending."""
    with Load(*[spin()] * 2):
        status, message, seconds, _ = record(binary, directory, "-F", "10000", "-d", "2")
    faults = [] if status == 0 else [f"exit status {status}: {message}"]
    return faults + ([f"took {seconds:.0f} s"] if seconds > 25 else [])


def stopped_for_a_while(binary, directory):
    """An agent that does not run loses samples, and counts them."""
    command = [binary, "agent", "-F", "999", "--otlp-endpoint", "http://127.0.0.1:1"]
    with Load(*[(sys.argv[2], "200", "600")] * os.cpu_count()):
        agent = host.Process("agent", command, f"{directory}/agent.log")
        host.wait_until("the agent samples", lambda: "sampling at" in agent.log() or not agent.is_alive())
        for number, pause in ((signal.SIGSTOP, 3), (signal.SIGCONT, 10)):
            time.sleep(pause)
            agent.child.send_signal(number)
        time.sleep(1)
        status = agent.finish()
    message = agent.log()
    counters = dict(re.findall(r"(\w+)=(\d+)", message.split("stopped: ")[-1]))
    faults = [] if status == 0 else [f"exit status {status}: {message}"]
    if int(counters.get("ring_full", 0)) == 0:
        faults.append(f"no losses counted: {message}")
    if counters.get("sampled") != counters.get("samples"):
        faults.append(f"not all that was sent arrived: {message}")
    return faults


def little_to_give(binary, directory):
    """Limits, and descriptors that are closed."""
    def limit(kind, value):
        return lambda: resource.setrlimit(kind, (value, value))

    faults = []
    with Load(*[spin()] * os.cpu_count()):
        status, message, _, _ = record(binary, directory, "-d", "0.5",
                                       preexec=limit(resource.RLIMIT_NOFILE, 64))
        if status != 0:
            faults.append(f"with 64 descriptors: exit status {status}: {message}")
        os.unlink(f"{directory}/x.svg")
        status, message, _, _ = record(binary, directory, "-d", "0.5",
                                       preexec=limit(resource.RLIMIT_FSIZE, 1000))
        if status != 1 or "too large" not in message:
            faults.append(f"with files of 1000 bytes: exit status {status}: {message}")
        status, message, _, _ = record(binary, directory, "-d", "0.5", preexec=lambda: os.close(1))
        if status != 1 or "summary" not in message:
            faults.append(f"without standard output: exit status {status}: {message}")
    return faults + [f"left behind: {name}" for name in os.listdir(directory) if ".tmp" in name]


def cpu_that_was_offline(binary, directory):
    """A CPU that was offline too shortly to be noticed is sampled again."""
    if not os.environ.get("FLAMELET_E2E_HOTPLUG") or not os.access(CPU1, os.W_OK):
        return []
    with Load(*[spin()] * (2 * os.cpu_count())):
        toggle = subprocess.Popen(["/bin/sh", "-c", f"sleep 2; echo 0 >{CPU1}; echo 1 >{CPU1}"])
        status, message, _, _ = record(binary, directory, "-C", "1", "-d", "6")
        toggle.wait()
    faults = [] if status == 0 else [f"exit status {status}: {message}"]
    return faults + ([] if count(directory) > 300 else [f"only {count(directory)} samples"])


CASES = [odd_names, odd_files, ends_in_time, stopped_for_a_while, little_to_give,
         cpu_that_was_offline]


def check():
    faults = []
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="flamelet-") as directory:
            found = case(sys.argv[1], directory)
        print(f"{case.__name__}: {'right' if not found else 'WRONG'}", flush=True)
        faults += [f"{case.__name__}: {fault}" for fault in found]
    return faults


if __name__ == "__main__":
    sys.exit(host.judge(check))
