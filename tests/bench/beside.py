# SPDX-License-Identifier: Apache-2.0
"""Puts what Flamelet says of waits beside what other tools say of the same seconds: perf's lock contention, and offcputime
and runqlat of libbpf-tools. A tool that is missing or does not run here is left out, with the reason."""

import collections
import os
import re
import shutil
import subprocess
import tempfile
import time

SECONDS = 5
WARM_UP_S = 2       # until Flamelet knows the loads
NR_ROWS = 5
CPU = 0
LOADS_OF_ONE_CPU = 3
LOCKS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "e2e", "locks.c")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
LOCK_TIP = re.compile(r"\[(spinlock|rwlock|mutex|rwsem|percpu_rwsem|rt_mutex|semaphore)\b")
# Functions of the kernel that take a lock for their caller.
LOCK_FUNCTION = re.compile(r"_*(native_|pv_)?(queued_|raw_)*(spin|read|write)_lock|_*(mutex|ww_mutex)_lock|_*down(_|$)|rwsem_"
                           r"|_*percpu_(down|rwsem)|rt_mutex_|osq_|do_raw_|.*_lock_slowpath")
HISTOGRAM_ROW = re.compile(r"\s*(\d+) -> (\d+)\s*: (\d+)")


def flamelet_stacks(flamelet, folder, *options):
    """Starts a recording of SECONDS. Returns a function that waits for it and returns [(frames, seconds)]."""
    path = f"{folder}/beside.folded"
    recording = subprocess.Popen([flamelet, "record", "-d", str(SECONDS), *options, "-o", path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)

    def finish():
        message = recording.communicate()[1]
        if recording.returncode != 0:
            raise SystemExit(f"bench: flamelet record failed:\n{message}")
        with open(path, encoding="utf-8") as file:
            rows = [line.rsplit(" ", 1) for line in file]
        return [(frames.split(";"), int(ns) / 1e9) for frames, ns in rows]

    return finish


def sum_by(rows):
    """{key: sum} of (key, seconds)."""
    sums = collections.Counter()
    for key, seconds in rows:
        sums[key] += seconds
    return sums


def print_row(name, theirs, ours):
    ratio = f"{ours / theirs:6.2f}" if theirs > 0 else "     -"
    print(f"  {name:46} {theirs * 1e3:11.3f} {ours * 1e3:11.3f} {ratio}")


def print_beside(title, tool, theirs, ours):
    """Both are {name: seconds}: the sums, and the largest rows of either."""
    print(f"\n{title}, ms in {SECONDS} s:\n  {'':46} {tool[:11]:>11} {'flamelet':>11}  ratio")
    print_row("sum", sum(theirs.values()), sum(ours.values()))
    largest = [key for sums in (theirs, ours) for key, _ in collections.Counter(sums).most_common(NR_ROWS)]
    for key in dict.fromkeys(largest):
        print_row(key, theirs.get(key, 0), ours.get(key, 0))


def leave_out(tool, reason):
    print(f"\nSKIP: {tool}: {reason}", flush=True)


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


def caller_of(frames):
    """Who wants the lock: the function behind those that take it."""
    names = [re.sub(r"_\[k\]$", "", frame).split(".")[0] for frame in frames[:-1]]
    return next((name for name in reversed(names) if not LOCK_FUNCTION.match(name)), "-")


def read_perf_locks(text):
    """{type and caller: seconds} of lines "CONTENDED TOTAL UNIT MAX UNIT AVG UNIT TYPE[:USE] CALLER"."""
    sums = collections.Counter()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 9 and words[0].isdigit():
            caller = words[8].split("+")[0].split(".")[0]
            sums[f"{words[7].split(':')[0]} {caller}"] += float(words[1]) * UNITS[words[2]]
    return sums


def print_kernel_locks(flamelet, folder, has_perf):
    if not has_perf:
        leave_out("perf lock contention", "perf is not installed")
        return
    data = f"{folder}/lock.data"
    # perf wants tracefs, which need not be mounted: in a mount namespace of its own.
    commands = (f"mount -t tracefs beside /sys/kernel/tracing && perf lock record -q -a -o {data} -- sleep {SECONDS} >&2 && "
                f"perf lock contention -i {data}")
    finish = flamelet_stacks(flamelet, folder, "--kind", "lock")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", commands], capture_output=True, text=True, check=False)
    stacks = finish()
    theirs = read_perf_locks(done.stdout + done.stderr)
    if done.returncode != 0 or not theirs:
        leave_out("perf lock contention", last_line(done.stderr))
        return
    rows = [(LOCK_TIP.match(frames[-1]), frames, seconds) for frames, seconds in stacks]
    ours = sum_by((f"{tip.group(1)} {caller_of(frames)}", seconds) for tip, frames, seconds in rows if tip)
    kinds = [sum_by((key.split()[0], seconds) for key, seconds in sums.items()) for sums in (theirs, ours)]
    print_beside("Waits for locks of the kernel, by kind", "perf lock", *kinds)
    print_beside("The same, by caller", "perf lock", theirs, ours)


def read_offcputime(text):
    """{thread name: seconds} of "    -    NAME (TID)" and, in the next line, microseconds."""
    lines = text.splitlines()
    rows = [(re.match(r"\s+-\s+(.*) \(\d+\)$", line), after) for line, after in zip(lines, lines[1:])]
    return sum_by((match.group(1), int(after) / 1e6) for match, after in rows if match)


def print_off_cpu(flamelet, folder, pid):
    if not shutil.which("offcputime"):
        leave_out("offcputime", "libbpf-tools is not installed")
        return
    finish = flamelet_stacks(flamelet, folder, "--kind", "offcpu", "-p", str(pid), "-g", "thread")
    done = subprocess.run(["offcputime", "--stack-storage-size", "16384", "-p", str(pid), str(SECONDS)], capture_output=True,
                          text=True, check=False)
    ours = sum_by((frames[0], seconds) for frames, seconds in finish())
    theirs = read_offcputime(done.stdout)
    if done.returncode != 0 or not theirs:
        leave_out("offcputime", last_line(done.stderr))
        return
    print_beside("Time off the CPU of threads that wait for locks, by thread", "offcputime", theirs, ours)


def run_delay_seconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as stat:
        return int(stat.read().split()[1]) / 1e9


def read_runqlat(text):
    """The least and the most that a histogram in microseconds can stand for, in seconds."""
    rows = [[int(word) for word in match.groups()] for match in map(HISTOGRAM_ROW.match, text.splitlines()) if match]
    return sum(low * nr for low, _, nr in rows) / 1e6, sum((high + 1) * nr for _, high, nr in rows) / 1e6


def print_run_queue(flamelet, folder, pid):
    if not shutil.which("runqlat"):
        leave_out("runqlat", "libbpf-tools is not installed")
        return
    finish = flamelet_stacks(flamelet, folder, "--kind", "runq", "-p", str(pid))
    begin_s, begin = time.monotonic(), run_delay_seconds(pid)
    done = subprocess.run(["runqlat", "-p", str(pid), str(SECONDS), "1"], capture_output=True, text=True, check=False)
    kernel = (run_delay_seconds(pid) - begin) / (time.monotonic() - begin_s)
    ours = sum(seconds for _, seconds in finish()) / SECONDS
    least, most = (seconds / SECONDS for seconds in read_runqlat(done.stdout))
    if done.returncode != 0 or most == 0:
        leave_out("runqlat", last_line(done.stderr))
        return
    print(f"\nTime in the run queue of one of {LOADS_OF_ONE_CPU} busy programs on one CPU, s a second: flamelet {ours:.3f}; "
          f"runqlat {least:.3f} to {most:.3f}, as its histogram allows; schedstat {kernel:.3f}", flush=True)


def print_with_locks(flamelet, folder, has_perf):
    program = f"{folder}/locks"
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", program, LOCKS], check=True)
    with subprocess.Popen([program, "600"], stdout=subprocess.DEVNULL) as load:
        try:
            time.sleep(WARM_UP_S)
            print_kernel_locks(flamelet, folder, has_perf)
            print_off_cpu(flamelet, folder, load.pid)
        finally:
            load.kill()


def print_with_one_cpu(flamelet, folder, deep):
    taskset = ("taskset", "-c", str(CPU), deep, "10", "600")
    programs = [subprocess.Popen(taskset) for _ in range(LOADS_OF_ONE_CPU)]
    try:
        time.sleep(WARM_UP_S)
        print_run_queue(flamelet, folder, programs[0].pid)
    finally:
        for program in programs:
            program.kill()
            program.wait()


def print_tools(flamelet, folder, has_perf):
    with tempfile.TemporaryDirectory(prefix="flamelet-beside-") as own:
        print_with_locks(flamelet, own, has_perf)
        print_with_one_cpu(flamelet, own, f"{folder}/deep")
