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
import kinds

SECONDS = 4
# What the thread does besides waiting is counted by its clock: it may be preempted, too.
TOLERANCE = 0.3
KERNEL_LOCKS = {"map_a_page": "[rwsem write mmap_lock]"}
LOCKS = {"read_table": "[lock in locks+0x{table_lock:x}]", "read_heap": "[lock on the heap]"}
HOLDER = "[woken by hold_locks of locks]"


def find_symbol(program, name):
    """The virtual address of an object of a program."""
    done = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True)
    return next(int(line.split()[0], 16) for line in done.stdout.splitlines() if line.endswith(f" {name}"))


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


def check_threads(flamelet, program, locks):
    directory = os.path.dirname(program)
    folded, svg = os.path.join(directory, "lock.folded"), os.path.join(directory, "lock.svg")
    done = kinds.record(flamelet, "--kind", "lock", "-g", "thread", "-o", folded, "-o", svg, "--", program,
                        str(SECONDS))
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    truth = kinds.read_times(done.stdout, locks)
    stacks = kinds.read_seconds(folded)
    yield from check_times(stacks, truth, locks)
    for frames, seconds in stacks:
        if frames[0] in ("hold_locks", "wait_for_work") and frames[-1].startswith("[lock") and seconds > 0.1:
            yield f"{frames[0]} waits for no lock, and has {seconds:.3f} s: {frames}"
    if "threads waited for locks for" not in done.stdout:
        yield f"the summary does not tell the time: {done.stdout}"
    with open(svg, encoding="utf-8") as file:
        picture = file.read()
    for words in ("waiting for locks", *locks.values()):
        if words not in picture:
            yield f"the flame graph lacks {words}"


def check_wakers(flamelet, program, locks):
    """Who ends the wait for a lock of user space is who had it."""
    folded = os.path.join(os.path.dirname(program), "wakers.folded")
    done = kinds.record(flamelet, "--kind", "lock", "--waker", "-g", "thread", "-o", folded, "--", program, "2")
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    for function, lock in locks.items():
        mine = [(frames, seconds) for frames, seconds in kinds.read_seconds(folded)
                if frames[0] == function and lock in frames]
        longest = max(mine, key=lambda stack: stack[1], default=([], 0))[0]
        behind = longest[longest.index(lock) + 1:] if longest else []
        if behind[:1] != [HOLDER] or "hold_locks" not in behind:
            yield f"the waker of {function} is {behind}"


def check_refusal(flamelet, directory):
    done = kinds.record(flamelet, "--kind", "lock", "--capture", "perf", "-d", "1", "-o", os.path.join(directory, "x.svg"))
    if done.returncode != 1 or "lock need --capture=bpf" not in done.stderr:
        yield f"perf: exit status {done.returncode}: {done.stderr}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-locks-") as directory:
        program = kinds.build(directory, "locks")
        table_lock = find_symbol(program, "table_lock")
        locks = {function: lock.format(table_lock=table_lock) for function, lock in LOCKS.items()}
        kernel_locks = KERNEL_LOCKS
        if not knows_kernel_locks(flamelet):
            print("SKIP in part: this kernel is older than 5.19 and does not tell of its locks")
            kernel_locks = {}
        problems = [*check_threads(flamelet, program, {**locks, **kernel_locks}),
                    *check_wakers(flamelet, program, locks), *check_refusal(flamelet, directory)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
