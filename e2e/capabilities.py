# SPDX-License-Identifier: Apache-2.0
"""Reads the privileges of a process from /proc, and starts processes with fewer privileges."""

import ctypes
import os
import platform
import re
import struct

import host

BITS = {"DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "SYS_PTRACE": 19, "SYS_ADMIN": 21, "SYSLOG": 34,
        "PERFMON": 38, "BPF": 39, "CHECKPOINT_RESTORE": 40}

CALLS = {"x86_64": {"perf_event_open": 298, "bpf": 321},
         "aarch64": {"perf_event_open": 241, "bpf": 280}}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_ALLOW, SECCOMP_ERRNO = 0x7fff0000, 0x00050000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06


def mask(names):
    return sum(1 << BITS[name] for name in names)


def names_of(bits):
    known = [name for name, bit in BITS.items() if bits >> bit & 1]
    return "+".join(known) + (f" and {bits & ~mask(known):x}" if bits & ~mask(known) else "") or "none"


def with_capabilities(names):
    """The prefix that gives root just these, as a container runtime does."""
    wanted = "-all" + "".join(f",+{name.lower()}" for name in names)
    return ["setpriv", f"--bounding-set={wanted}", "--inh-caps=-all"]


def refuse_call(name, error):
    """For the child: from now on this system call fails."""
    number = CALLS[platform.machine()][name]
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, SECCOMP_ERRNO | error),
        (RETURN, 0, 0, SECCOMP_ALLOW)))
    buffer = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)))
    if ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) != 0:
        raise OSError("no seccomp filter can be set")


def status_of(path):
    """The sets and flags of a process or thread; {} when it has ended."""
    lines = re.findall(r"^(Cap\w+|NoNewPrivs|Seccomp):\s+(\w+)$", host.read_text(f"{path}/status"),
                       re.MULTILINE)
    return {key: int(value, 16) for key, value in lines}


def children(pid):
    return host.read_text(f"/proc/{pid}/task/{pid}/children").split() + [
        child for task in os.listdir(f"/proc/{pid}/task") if task != str(pid)
        for child in host.read_text(f"/proc/{pid}/task/{task}/children").split()]


def listening(pid):
    """Sockets of this process that others could connect to, or send to."""
    inodes = set()
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(f"/proc/{pid}/fd/{number}")))
        except FileNotFoundError:
            pass
    found = []
    for table, state, inode in (("tcp", 3, 9), ("tcp6", 3, 9), ("udp", 3, 9), ("udp6", 3, 9),
                                ("unix", 3, 6)):
        for line in host.read_text(f"/proc/{pid}/net/{table}").splitlines()[1:]:
            words = line.split()
            is_open = words[state] in ("0A", "07") or table == "unix" and int(words[3], 16) & 0x10000
            if is_open and words[inode] in inodes:
                found.append(f"{table} {line.strip()}")
    return found
