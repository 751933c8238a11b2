#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind lock on threads that wait for locks: the flame graph must have each function that waits, for as
long as it waited by its own clock, and the name of the lock at the tip.

    locks.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import shutil
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
OTHER_WAIT_SECONDS = 0.2    # of threads that wait for no lock, until the program is known
KERNEL_LOCKS = {"map_a_page": {"[rwsem write mmap_lock]"}}
HEAP = {"[lock on the heap]"}
C_OBJECTS = {"read_table": "table_lock", "read_index": "index_lock", "write_index": "index_lock"}
RUST_OBJECTS = {"read_table": "locks::TABLE", "read_index": "locks::INDEX", "write_index": "locks::INDEX"}
HOLDER = "[woken by hold_locks of locks]"


def names_of(program, name):
    """The names of the locks in an object of a program: a lock may have several words for which threads wait."""
    base = next(line for line in host.run("readelf", "-lW", program).splitlines() if " LOAD " in line).split()[2]
    symbols = host.run("nm", "-S", "--demangle", program).splitlines()
    start, size = next(line.split()[:2] for line in symbols if line.endswith(f" {name}"))
    first = int(start, 16) - int(base, 16)
    return {f"[lock in {os.path.basename(program)}+0x{first + at:x}]" for at in range(int(size, 16))}


def find_locks(program, objects):
    """{function: names of the lock for which it waits}"""
    return {function: names_of(program, name) for function, name in objects.items()}


def knows_kernel_locks(flamelet):
    doctor = subprocess.run([flamelet, "doctor"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return any("waits for locks" in line and line.rstrip().endswith("can be recorded") for line in doctor.splitlines())


def check_times(stacks, truth, locks):
    """Threads have the names of their functions."""
    for function, names in locks.items():
        mine = [(frames[1:], seconds) for frames, seconds in stacks if frames[0] == function and frames[-1] in names]
        found, waited = sum(seconds for _, seconds in mine), truth[function]
        if abs(found - waited) > TOLERANCE * waited:
            yield f"{function} waited for {waited:.3f} s, and its lock has {found:.3f} s in the profile"
        longest = max(mine, key=lambda stack: stack[1], default=([], 0))[0]
        if not any(function in frame for frame in longest):
            yield f"{function} is not in the stack of its lock: {longest}"


def check_others(stacks):
    """Waits for the work, the post, the end of a thread, or that which has the locks."""
    for name in sorted({frames[0] for frames, _ in stacks}):
        mine = [(seconds, frames) for frames, seconds in stacks if frames[0] == name and frames[-1].startswith("[lock")]
        if name.startswith(("hold_", "wait_")) and sum(seconds for seconds, _ in mine) > OTHER_WAIT_SECONDS:
            yield f"{name} waits for no lock: {sum(seconds for seconds, _ in mine):.3f} s, {max(mine)}"


def check_picture(path, locks):
    with open(path, encoding="utf-8") as file:
        picture = file.read()
    if "waiting for locks" not in picture:
        yield "the flame graph does not say what it shows"
    for function, names in locks.items():
        if not any(name in picture for name in names):
            yield f"the flame graph lacks the lock of {function}"


def check_threads(flamelet, program, locks):
    directory = os.path.dirname(program)
    folded, svg = os.path.join(directory, "lock.folded"), os.path.join(directory, "lock.svg")
    done = kinds.record(flamelet, "--kind", "lock", "-g", "thread", "-o", folded, "-o", svg, "--", program,
                        str(SECONDS))
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    stacks = kinds.read_seconds(folded)
    yield from check_times(stacks, kinds.read_times(done.stdout, locks), locks)
    yield from check_others(stacks)
    if "threads waited for locks for" not in done.stdout:
        yield f"the summary does not tell the time: {done.stdout}"
    yield from check_picture(svg, locks)


def check_wakers(flamelet, program, locks):
    """Who ends the wait for a lock of user space is who had it."""
    folded = os.path.join(os.path.dirname(program), "wakers.folded")
    done = kinds.record(flamelet, "--kind", "lock", "--waker", "-g", "thread", "-o", folded, "--", program, "2")
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    for function, names in locks.items():
        mine = [(frames, seconds) for frames, seconds in kinds.read_seconds(folded)
                if frames[0] == function and names & set(frames)]
        longest = max(mine, key=lambda stack: stack[1], default=([], 0))[0]
        behind = next((longest[i + 1:] for i, frame in enumerate(longest) if frame in names), [])
        if behind[:1] != [HOLDER] or "hold_locks" not in behind:
            yield f"the waker of {function} is {behind}"


def check_refusal(flamelet, directory):
    done = kinds.record(flamelet, "--kind", "lock", "--capture", "perf", "-d", "1", "-o", os.path.join(directory, "x.svg"))
    if done.returncode != 1 or "lock need --capture=bpf" not in done.stderr:
        yield f"perf: exit status {done.returncode}: {done.stderr}"


def check_glibc(flamelet, directory, kernel_locks):
    program = kinds.build(directory, "locks")
    locks = {**find_locks(program, C_OBJECTS), "read_heap": HEAP}
    yield from check_threads(flamelet, program, {**locks, **kernel_locks})
    yield from check_wakers(flamelet, program, {function: locks[function] for function in ("read_table", "read_heap")})


def check_musl(flamelet, directory, kernel_locks):
    if not shutil.which("musl-gcc"):
        print("SKIP in part: musl-gcc is missing, for locks of musl")
        return
    program = kinds.build(directory, "locks", "musl-gcc", "-static")
    yield from check_threads(flamelet, program, {**find_locks(program, C_OBJECTS), "read_heap": HEAP, **kernel_locks})


def check_rust(flamelet, directory, _):
    rustc = shutil.which("rustc") or shutil.which(os.path.expanduser("~/.cargo/bin/rustc"))
    if not rustc:
        print("SKIP in part: rustc is missing, for locks of Rust")
        return
    program = os.path.join(directory, "locks")
    host.run(rustc, "-O", "-g", "-o", program, os.path.join(HERE, "locks.rs"), seconds=120)
    yield from check_threads(flamelet, program, find_locks(program, RUST_OBJECTS))


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    kernel_locks = KERNEL_LOCKS
    if not knows_kernel_locks(flamelet):
        print("SKIP in part: this kernel is older than 5.19 and does not tell of its locks")
        kernel_locks = {}
    problems = []
    for check in (check_glibc, check_musl, check_rust):
        with tempfile.TemporaryDirectory(prefix="flamelet-locks-") as directory:
            problems += [f"{check.__name__}: {problem}" for problem in check(flamelet, directory, kernel_locks)]
    with tempfile.TemporaryDirectory(prefix="flamelet-locks-") as directory:
        problems += check_refusal(flamelet, directory)
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
