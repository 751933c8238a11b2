#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind wall on threads that run, that sleep, and that do both: each has as much time as has passed, in
its functions.

    wall.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from kinds import build, read_seconds, record

SECONDS = 6
# Of the time that has passed. What is estimated from samples varies on a busy machine.
TOLERANCES = {"wall": 0.02, "idle": 0.02, "busy": 0.1, "mixed": 0.2, "sleeper": 0.2}
BUSY_SHARE = 0.95
FRAMES = {("busy", "running"): "be_busy", ("mixed", "running"): "run_ms", ("mixed", "sleep"): "be_mixed",
          ("idle", "signal"): "be_idle", ("sleeper", "sleep"): "sleep_often"}


def run(flamelet, directory):
    folded = os.path.join(directory, "wall.folded")
    with subprocess.Popen([build(directory, "wall")], stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        done = record(flamelet, "--kind", "wall", "-d", str(SECONDS), "-p", str(program.pid), "-g", "thread,reason",
                      "-o", folded)
        program.kill()
    return done, folded


def check(flamelet, directory):
    done, folded = run(flamelet, directory)
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    sums, frames = {}, {}
    for (thread, reason, *stack), seconds in read_seconds(folded):
        sums.setdefault(thread, {})
        sums[thread][reason] = sums[thread].get(reason, 0) + seconds
        frames.setdefault((thread, reason), set()).update(stack)
    passed = sum(sums.get("idle", {}).values())     # it never runs, so its time is exact
    if passed < SECONDS * (1 - TOLERANCES["idle"]):
        yield f"a thread that never runs has {passed:.3f} s of {SECONDS} s"
    for thread, tolerance in TOLERANCES.items():
        times = sums.get(thread, {})
        print(f"{thread}: {sum(times.values()):.3f} s of {passed:.3f} s: {times}")
        if abs(sum(times.values()) - passed) > tolerance * passed:
            yield f"{thread} has {times}, which is not {passed:.3f} s"
        # One that sleeps often runs for so short that it may have no sample.
        if thread != "sleeper" and (times.get("running", 0) > 0) != (thread not in ("wall", "idle")):
            yield f"{thread} ran for {times.get('running', 0):.3f} s"
    of_busy = sums.get("busy", {})
    if sum(of_busy.get(reason, 0) for reason in ("running", "preempted")) < BUSY_SHARE * sum(of_busy.values()):
        yield f"a thread that never sleeps has {of_busy}"
    yield from (f"{key} lacks {name}" for key, name in FRAMES.items() if name not in frames.get(key, ()))
    if "threads ran and waited for" not in done.stdout:
        yield f"the summary does not tell the time: {done.stdout}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-wall-") as directory:
        problems = [*check(flamelet, directory)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
