#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind runq on a program with a CPU limit, and on one without that wants the same CPU: the first one is
throttled for as long as its cgroup's cpu.stat says, and the second one never is.

    throttled.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from findings import cgroup_of
from kinds import RECORD_SECONDS, read_seconds

SECONDS = 8
# A fifth of a CPU, but that before other cgroups: what it waits for after a throttled period is not in cpu.stat.
LIMIT_V1 = {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 20_000, "cpu.shares": 262_144}
LIMIT_V2 = {"cpu.max": "20000 100000", "cpu.weight": 10_000}
TOLERANCE = 0.1         # of the time that cpu.stat counts
MIN_THROTTLED = 0.4     # of the time that passed; 0.8, if others left it the CPU at once
MAX_OTHERS = 0.01       # the same, of the program that has no limit
SPIN = "while :; do :; done"


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def throttled_seconds(cgroup, is_v1):
    stat = dict(line.split() for line in host.read_text(f"{cgroup}/cpu.stat").splitlines())
    return int(stat["throttled_time"]) / 1e9 if is_v1 else int(stat["throttled_usec"]) / 1e6


def spin(directory, name, cpu, cgroup=None):
    """Starts a program of that name, which always wants to run on a CPU."""
    def enter():
        os.sched_setaffinity(0, {cpu})
        if cgroup:
            write(f"{cgroup}/cgroup.procs", 0)

    program = os.path.join(directory, name)
    os.symlink("/bin/sh", program)
    return subprocess.Popen([program, "-c", SPIN], preexec_fn=enter)    # pylint: disable=subprocess-popen-preexec-fn


def record_programs(flamelet, pids, cgroup, is_v1, folded):
    """Returns the exit status, what was printed, and for how long the cgroup was throttled meanwhile."""
    command = [flamelet, "record", "--kind", "runq", "-d", str(SECONDS), "-g", "thread,reason", "-o", folded]
    for pid in pids:
        command += ["-p", str(pid)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as recording:
        start = recording.stderr.readline()     # it begins
        before = throttled_seconds(cgroup, is_v1)
        time.sleep(SECONDS)
        throttled = throttled_seconds(cgroup, is_v1) - before
        _, errors = recording.communicate(timeout=RECORD_SECONDS)
    return recording.returncode, start + errors, throttled


def sum_reasons(folded):
    sums = {"limited": {}, "unlimited": {}}
    for (thread, reason, *_), seconds in read_seconds(folded):
        sums[thread][reason] = sums[thread].get(reason, 0) + seconds
    return sums


def check_sums(sums, throttled):
    print(f"cpu.stat: throttled for {throttled:.3f} s; {sums}")
    found = sums["limited"].get("throttled", 0)
    if throttled < MIN_THROTTLED * SECONDS:
        yield f"the limit held the program up for {throttled:.3f} s only"
    if abs(found - throttled) > TOLERANCE * throttled:
        yield f"{found:.3f} s are throttled, and cpu.stat says {throttled:.3f} s"
    if sums["unlimited"].get("throttled", 0) > MAX_OTHERS * SECONDS:
        yield f"a program without a limit waits for {sums['unlimited']}"
    if sums["unlimited"].get("preempted", 0) == 0:
        yield f"a program that shares its CPU was not preempted: {sums['unlimited']}"


def check(options, directory):
    cgroup, is_v1 = cgroup_of("cpu", f"e2e-throttled-{os.getpid()}")
    cpu = min(os.sched_getaffinity(0))
    folded = os.path.join(directory, "queue.folded")
    os.mkdir(cgroup)
    programs = []
    try:
        for name, value in (LIMIT_V1 if is_v1 else LIMIT_V2).items():
            write(f"{cgroup}/{name}", value)
        programs.append(spin(directory, "limited", cpu, cgroup))
        programs.append(spin(directory, "unlimited", cpu))
        status, errors, throttled = record_programs(options.binary, [program.pid for program in programs], cgroup, is_v1,
                                                    folded)
    finally:
        for program in programs:
            program.kill()
            program.wait()
        host.remove_cgroup(cgroup)
    if status != 0:
        return [f"exit status {status}: {errors}"]
    return [*check_sums(sum_reasons(folded), throttled)]


if __name__ == "__main__":
    sys.exit(host.main(check, "throttled"))
