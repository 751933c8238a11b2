#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent with several kinds and a local record: what is asked of the record is what threads did by their own
clocks, for each kind.

    kept_kinds.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "local")]

# pylint: disable=wrong-import-position
import host
import kinds
import locks

SECONDS = 4
AGENT_STARTS = 3
GROWN_BYTES = 100 << 20
KINDS = "cpu,offcpu,lock,growth"
# The thread that waits most for a lock of the kernel.
FUNCTION, LOCK = "map_a_page", "[rwsem write mmap_lock]"


def keep(flamelet, directory, store):
    """Runs the program under an agent. {FUNCTION: seconds for which it waited}"""
    program = kinds.build(directory, "locks")
    with subprocess.Popen([flamelet, "agent", "--kind", KINDS, "--comm", "locks", "--comm", "tail", "--store", store],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as agent:
        time.sleep(AGENT_STARTS)
        done = subprocess.run([program, str(SECONDS)], stdout=subprocess.PIPE, text=True, check=True)
        subprocess.run(f"head -c {GROWN_BYTES} /dev/zero | tail >/dev/null", shell=True, check=True)
        agent.terminate()
    if agent.returncode != 0:
        raise RuntimeError(f"the agent ended with status {agent.returncode}")
    return kinds.read_times(done.stdout, [FUNCTION])


def ask(flamelet, store, directory, kind):
    """[(frames, value)]"""
    folded = os.path.join(directory, f"{kind}.folded")
    subprocess.run([flamelet, "query", "all", "--store", store, "--kind", kind, "-g", "thread", "-q", "-o", folded],
                   check=True)
    return kinds.read_folded(folded)


def value_of(stacks, is_wanted):
    return sum(value for frames, value in stacks if frames[0] == FUNCTION and is_wanted(frames))


def check(flamelet, directory):
    store = os.path.join(directory, "record")
    truth = keep(flamelet, directory, store)[FUNCTION]
    delay = value_of(ask(flamelet, store, directory, "lock"), lambda frames: frames[-1] == LOCK) / 1e9
    if abs(delay - truth) > locks.TOLERANCE * truth:
        yield f"{FUNCTION} waited for {truth:.3f} s, and the record has {delay:.3f} s of {LOCK}"
    if value_of(ask(flamelet, store, directory, "contentions"), lambda frames: frames[-1] == LOCK) == 0:
        yield f"the record does not count the waits for {LOCK}"
    if value_of(ask(flamelet, store, directory, "offcpu"), lambda frames: True) == 0:
        yield f"{FUNCTION} was never off the CPU"
    if not ask(flamelet, store, directory, "cpu"):
        yield "no thread ever ran"
    grown = sum(value for frames, value in ask(flamelet, store, directory, "growth") if frames[0] == "tail")
    if not 0.9 * GROWN_BYTES <= grown <= 1.5 * GROWN_BYTES:
        yield f"tail kept {GROWN_BYTES} bytes, and the record has {grown}"
    listed = subprocess.run([flamelet, "ls", "--store", store], stdout=subprocess.PIPE, text=True, check=True).stdout
    if "with offcpu, contentions, lock, growth" not in listed:
        yield f"ls does not list the kinds: {listed}"
    files = json.loads(subprocess.run([flamelet, "ls", "--json", "--store", store], stdout=subprocess.PIPE, text=True,
                                      check=True).stdout)["files"]
    if sum(file["totals"]["delay"] for file in files) < delay * 1e9:
        yield f"ls --json does not have the sums: {files}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: the agent needs root")
        return host.SKIP
    if not locks.knows_kernel_locks(flamelet):
        print("SKIP: this kernel is older than 5.19 and does not tell of its locks")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-kinds-") as directory:
        problems = list(check(flamelet, directory))
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
