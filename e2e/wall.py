#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind wall on threads that run, that sleep, and that do both: each has as much time as has passed, in
its functions, and as much of it in run queues and on a CPU as the kernel counts.

    wall.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from kinds import RECORD_SECONDS, build, read_seconds

SECONDS = 10
THREADS = ("wall", "idle", "busy", "mixed", "sleeper", "brief")
TOLERANCE = 0.005       # of the time that has passed
# The same of the kernel's counters. These are read a little earlier or later than the recording begins and ends, which
# is added; and the kernel does not count the time that a hypervisor took from a thread that had a CPU.
QUEUE_TOLERANCE = 0.02
RUN_TOLERANCE = 0.05
FRAMES = {("busy", "running"): "be_busy", ("mixed", "running"): "run_us", ("mixed", "sleep"): "be_mixed",
          ("idle", "signal"): "be_idle", ("sleeper", "sleep"): "sleep_often", ("brief", "running"): "run_often",
          ("brief", "sleep"): "run_often"}


def read_counters(pid):
    """{name of a thread: seconds (with a CPU, in run queues)}, as the kernel counts them."""
    counters = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as comm, \
                open(f"/proc/{pid}/task/{tid}/schedstat", encoding="utf-8") as schedstat:
            counters[comm.read().strip()] = [int(number) / 1e9 for number in schedstat.read().split()[:2]]
    return counters


def record_program(flamelet, pid, folded):
    """Returns what flamelet printed, its exit status, by how much the counters of threads grew meanwhile, and how late
    they were read."""
    with subprocess.Popen([flamelet, "record", "--kind", "wall", "-d", str(SECONDS), "-p", str(pid), "-g",
                           "thread,reason", "-o", folded], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as recording:
        start = recording.stderr.readline()     # it begins
        begin = time.monotonic()
        before = read_counters(pid)
        late = time.monotonic() - begin
        time.sleep(max(0, begin + SECONDS - time.monotonic()))
        after = read_counters(pid)
        late += time.monotonic() - begin - SECONDS
        output, errors = recording.communicate(timeout=RECORD_SECONDS)
    grown = {name: [later - earlier for earlier, later in zip(before[name], after[name])] for name in before}
    return output, start + errors, recording.returncode, grown, late


def run(flamelet, directory):
    folded = os.path.join(directory, "wall.folded")
    with subprocess.Popen([build(directory, "wall")], stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        done = record_program(flamelet, program.pid, folded)
        program.kill()
    return *done, folded


def check_thread(thread, times, passed, counters, late):
    print(f"{thread}: {sum(times.values()):.4f} s of {passed:.4f} s: {times}; the kernel counts {counters}")
    if abs(sum(times.values()) - passed) > TOLERANCE * passed:
        yield f"{thread} has {times}, which is not {passed:.3f} s"
    if (times.get("running", 0) > 0) != (thread not in ("wall", "idle")):
        yield f"{thread} ran for {times.get('running', 0):.3f} s"
    queued = times.get("preempted", 0) + times.get("run-queue", 0)
    for what, seconds, counted, tolerance in (("ran", times.get("running", 0), counters[0], RUN_TOLERANCE),
                                              ("was in run queues", queued, counters[1], QUEUE_TOLERANCE)):
        if abs(seconds - counted) > tolerance * passed + late:
            yield f"{thread} {what} for {seconds:.3f} s, and the kernel counts {counted:.3f} s"


def check(options, directory):
    output, errors, status, counters, late, folded = run(options.binary, directory)
    if status != 0:
        return [f"exit status {status}: {errors}"]
    sums, frames, faults = {}, {}, []
    for (thread, reason, *stack), seconds in read_seconds(folded):
        sums.setdefault(thread, {})
        sums[thread][reason] = sums[thread].get(reason, 0) + seconds
        frames.setdefault((thread, reason), set()).update(stack)
    passed = sum(sums.get("idle", {}).values())     # it never runs, so its time is exact
    if passed < SECONDS * (1 - TOLERANCE):
        faults.append(f"a thread that never runs has {passed:.3f} s of {SECONDS} s")
    for thread in THREADS:
        faults += check_thread(thread, sums.get(thread, {}), passed, counters[thread], late)
    faults += [f"{key} lacks {name}" for key, name in FRAMES.items() if name not in frames.get(key, ())]
    if "threads ran and waited for" not in output:
        faults.append(f"the summary does not tell the time: {output}")
    return faults


if __name__ == "__main__":
    sys.exit(host.main(check, "wall"))
