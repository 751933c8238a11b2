#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind lock on threads that wait for locks: the flame graph must have each function that waits, for as
long as it waited by its own clock, and the name of the lock at the tip.

    locks.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host

SECONDS = 4
# What the thread does besides waiting is counted by its clock: it may be preempted, too.
TOLERANCE = 0.3
LOCKS = {"map_a_page": "[rwsem write mmap_lock]"}


def build(directory):
    program = os.path.join(directory, "locks")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", program, os.path.join(HERE, "locks.c")], check=True)
    return program


def record(flamelet, *arguments):
    return subprocess.run([flamelet, "record", "--kind", "lock", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, check=False)


def read_folded(path):
    """[(frames, seconds)]"""
    with open(path, encoding="utf-8") as file:
        lines = [line.rsplit(" ", 1) for line in file]
    return [(frames.split(";"), int(ns) / 1e9) for frames, ns in lines]


def knows_kernel_locks(flamelet):
    doctor = subprocess.run([flamelet, "doctor"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return any("waits for locks" in line and line.rstrip().endswith("can be recorded") for line in doctor.splitlines())


def check_times(stacks, truth, locks):
    """Threads have the names of their functions."""
    for function, lock in locks.items():
        mine = [(frames[1:], seconds) for frames, seconds in stacks if frames[0] == function and frames[-1] == lock]
        found, waited = sum(seconds for _, seconds in mine), truth[function]
        if abs(found - waited) > TOLERANCE * waited:
            yield f"{function} waited for {waited:.3f} s, and {lock} has {found:.3f} s in the profile"
        longest = max(mine, key=lambda stack: stack[1], default=([], 0))[0]
        if function not in longest:
            yield f"{function} is not in the stack of {lock}: {longest}"


def check_threads(flamelet, directory, locks):
    folded, svg = os.path.join(directory, "lock.folded"), os.path.join(directory, "lock.svg")
    done = record(flamelet, "-g", "thread", "-o", folded, "-o", svg, "--", build(directory), str(SECONDS))
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    truth = {name: float(waited) for name, waited in
             (line.split() for line in done.stdout.splitlines() if line.split()[0] in locks)}
    yield from check_times(read_folded(folded), truth, locks)
    if "threads waited for locks for" not in done.stdout:
        yield f"the summary does not tell the time: {done.stdout}"
    with open(svg, encoding="utf-8") as file:
        picture = file.read()
    for words in ("waiting for locks", *locks.values()):
        if words not in picture:
            yield f"the flame graph lacks {words}"


def check_refusal(flamelet, directory):
    done = record(flamelet, "--capture", "perf", "-d", "1", "-o", os.path.join(directory, "x.svg"))
    if done.returncode != 1 or "--kind lock need --capture=bpf" not in done.stderr:
        yield f"perf: exit status {done.returncode}: {done.stderr}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    locks = LOCKS
    if not knows_kernel_locks(flamelet):
        print("SKIP: this kernel is older than 5.19 and does not tell of its locks")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-locks-") as directory:
        problems = [*check_threads(flamelet, directory, locks), *check_refusal(flamelet, directory)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
