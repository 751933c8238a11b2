#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind offcpu on a service that is slow while its CPU is idle: the flame graph must have the function
that waits for the lock and the one that sleeps with it, for as long as they waited by their own clocks. Who ended the
waits must be there as well. Threads that wait for many things must have the reasons that are their names. The record of
an agent has the same times.

    off_cpu.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from kinds import build, read_seconds, read_times, record

SECONDS = 4
AGENT_STARTS = 3
# Waits are estimated from some of them; on a busy machine, from few. tests/bpf_kernel/test_off_cpu.c is stricter.
TOLERANCE = 0.3
# Who ends the wait, and what is in its stack.
WAKERS = {"hold_the_lock": ("[woken by timer]", "hrtimer"), "poll_often": ("[woken by timer]", "hrtimer"),
          "serve_request": ("[woken by hold_the_lock of off_cpu]", "unlock")}
REASONS = ("sleep", "pipe", "network", "poll", "futex", "child", "signal", "disk", "page-fault", "preempted")
# Of the time in which a thread could not run.
RIGHT_SHARE = 0.95
DISK_SECONDS = 0.05
WHOLE_TOLERANCE = 0.02
RUN_DELAY_TOLERANCE = 0.1   # it is exact, but a thread that waits before it has its name is not found
# What the kernel is asked for, at the tip.
TIPS = {"hold_the_lock": "nanosleep", "serve_request": "futex", "poll_often": "nanosleep"}


def split(frames):
    """The stack of a thread that waited, and that of its waker, if it is known."""
    wakers = [i for i, frame in enumerate(frames) if frame.startswith("[woken by ")]
    return (frames[:wakers[0]], frames[wakers[0]:]) if wakers else (frames, [""])


def check_times(stacks, truth, has_wakers):
    """Threads have the names of their functions. On a busy machine, it takes long until stacks have all their frames."""
    for function, waited in truth.items():
        mine = [(frames[1:], seconds) for frames, seconds in stacks if frames[0] == function]
        found = sum(seconds for _, seconds in mine)
        if abs(found - waited) > TOLERANCE * waited:
            yield f"{function} waited for {waited:.3f} s, and has {found:.3f} s in the profile"
        whole = [stack for stack in mine if function in stack[0]]
        longest, waker = split(max(whole, key=lambda stack: stack[1], default=([""], 0))[0])
        if TIPS[function] not in " ".join(longest[-3:]):
            yield f"{function} does not end in {TIPS[function]}: {longest}"
        if has_wakers and (waker[0] != WAKERS[function][0] or WAKERS[function][1] not in " ".join(waker)):
            yield f"the waker of {function} is {waker}"
        if any("schedule" in frame for frames, _ in mine for frame in split(frames)[0][-2:]):
            yield f"{function} has frames of the scheduler"


def check_finding(flamelet, pprof):
    """The finding names who had the lock."""
    done = subprocess.run([flamelet, "findings", "--json", pprof], stdout=subprocess.PIPE, text=True, check=True)
    wakers = [finding["wakers"] for finding in json.loads(done.stdout)["findings"] if finding["id"] == "lock-waits"]
    if not wakers or not wakers[0] or wakers[0][0]["name"] != "hold_the_lock of off_cpu":
        yield f"the finding does not name who had the lock: {done.stdout}"


def check_service(flamelet, directory, programs):
    folded, svg, pprof = (os.path.join(directory, f"wait.{ending}") for ending in ("folded", "svg", "pb.gz"))
    done = record(flamelet, "--kind", "offcpu", "--waker", "-g", "thread", "-o", folded, "-o", svg, "-o", pprof, "--",
                  programs["off_cpu"], str(SECONDS))
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    truth = read_times(done.stdout, TIPS)
    if set(truth) != set(TIPS):
        yield f"the service did not tell its times: {done.stdout}"
    yield from check_times(read_seconds(folded), truth, has_wakers=True)
    if "off_cpu \u2192 off_cpu" not in done.stdout:
        yield f"the summary does not tell who ended the waits: {done.stdout}"
    if "threads waited for" not in done.stdout:
        yield f"the summary does not tell the time: {done.stdout}"
    if "Waiting for a lock of the program in serv" not in done.stdout:
        yield f"the summary does not find the lock: {done.stdout}"
    yield from check_finding(flamelet, pprof)
    with open(svg, encoding="utf-8") as file:
        picture = file.read()
    for words in ("off the CPU", "serve_request"):
        if words not in picture:
            yield f"the flame graph lacks {words}"


def check_kept(flamelet, directory, programs):
    """An agent keeps the waits in its record, beside CPU time."""
    store, folded = os.path.join(directory, "record"), os.path.join(directory, "kept.folded")
    program = programs["off_cpu"]
    with subprocess.Popen([flamelet, "agent", "--kind", "cpu,offcpu", "--comm", "off_cpu", "--store", store],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as agent:
        time.sleep(AGENT_STARTS)
        done = subprocess.run([program, str(SECONDS)], stdout=subprocess.PIPE, text=True, check=True)
        agent.terminate()
    truth = read_times(done.stdout, TIPS)
    query = [flamelet, "query", "all", "--store", store, "-s", '{comm="off_cpu"}', "-g", "thread,reason", "-q", "-o", folded]
    asked = subprocess.run([*query, "--kind", "offcpu"], stderr=subprocess.PIPE, text=True, check=False)
    if asked.returncode != 0:
        yield f"query: exit status {asked.returncode}: {asked.stderr}"
        return
    yield from check_times(read_seconds(folded), truth, has_wakers=False)
    yield from check_top(flamelet, store)
    waits = sum_reasons(folded).get("serve_request", {})
    if waits.get("futex", 0) < 0.8 * truth["serve_request"]:
        yield f"serve_request waits for a lock, and the record has {waits}"


def check_top(flamelet, store):
    """The table of the record tells which threads were blocked, and where."""
    table = json.loads(subprocess.run([flamelet, "top", "--range", "all", "--store", store, "--json", "--by", "thread"],
                                      stdout=subprocess.PIPE, check=True).stdout)
    rows = {row["name"].split(" ")[0]: row for row in table["rows"]}
    row = rows.get("serve_request", {"wait": 0, "hottest_wait": None})
    functions = [frame["function"] for frame in (row["hottest_wait"] or {"frames": []})["frames"]]
    if row["wait"] < 0.05 or "serve_request" not in functions:
        yield f"top has {row} for serve_request"


def find_seconds(stacks, function):
    return sum(seconds for frames, seconds in stacks if function in frames)


def check_deadlock(flamelet, directory, programs):
    """Threads that began to wait before the recording, and never run: they have waited all the time, in their functions."""
    folded = os.path.join(directory, "deadlock.folded")
    with subprocess.Popen([programs["deadlock"]], stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        done = record(flamelet, "--kind", "offcpu", "-d", str(SECONDS), "-p", str(program.pid), "-g", "reason", "-o", folded)
        program.kill()
    if done.returncode != 0:
        yield f"deadlock: exit status {done.returncode}: {done.stderr}"
        return
    stacks = read_seconds(folded)
    whole = find_seconds(stacks, "main")
    if whole < SECONDS * (1 - WHOLE_TOLERANCE):
        yield f"a thread that waits all the time has {whole:.3f} s of {SECONDS} s"
    for function in ("move_money", "cancel_order"):
        found = find_seconds(stacks, function)
        if abs(found - whole) > WHOLE_TOLERANCE * whole:
            yield f"{function} has {found:.3f} s of {whole:.3f} s"
    if any(frames[0] != "futex" or "main" not in frames and "start_thread" not in frames for frames, _ in stacks):
        yield f"stacks of the deadlock are not whole: {stacks}"


def has_exit():
    """Whether the kernel tells that a thread runs again: since Linux 6.15 or so."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        return b"btf_trace_sched_exit_tp" in file.read()


def sum_reasons(folded):
    """{thread: {reason: seconds}}"""
    sums = {}
    for (thread, reason, *_), seconds in read_seconds(folded):
        of_thread = sums.setdefault(thread, {})
        of_thread[reason] = of_thread.get(reason, 0) + seconds
    return sums


def find_waker(folded, thread):
    """Who ended most of a thread's waits for what its name says."""
    sums = {}
    for (name, reason, *frames), seconds in read_seconds(folded):
        if name == reason == thread:
            waker = split(frames)[1][0]
            sums[waker] = sums.get(waker, 0) + seconds
    return max(sums, key=sums.get, default="")


def check_rivals(folded):
    """Two threads share a CPU: most of the time that one of them waits for it, its own process has it, as far as it is
    known for which wait the time stands."""
    sums = {}
    for (thread, reason, *frames), seconds in read_seconds(folded):
        if thread == "preempted" and reason in ("preempted", "run-queue") and "[waiting for a CPU]" not in frames[-1]:
            sums[frames[-1]] = sums.get(frames[-1], 0) + seconds
    named = {frame: seconds for frame, seconds in sums.items() if frame.startswith("[CPU used by ")}
    if sum(named.values()) < RIGHT_SHARE * sum(sums.values()) or "[CPU used by wait_reasons]" not in named:
        yield f"the thread that was preempted has the tips {sums}"


def check_run_delay(output, waits):
    """Two threads share a CPU all the time: the kernel must have counted the same for them."""
    truth = sum(float(line.split()[1]) for line in output.splitlines() if line.startswith("preempted "))
    found = waits.get("preempted", 0) + waits.get("run-queue", 0)
    if truth == 0:
        print("SKIP: this kernel does not count run delays (CONFIG_SCHED_INFO)")
    elif abs(found - truth) > RUN_DELAY_TOLERANCE * truth:
        yield f"threads waited for a CPU for {truth:.3f} s, and have {found:.3f} s in the profile"


def check_reasons(flamelet, directory, programs):
    folded, program = os.path.join(directory, "reasons.folded"), programs["wait_reasons"]
    with tempfile.TemporaryDirectory(prefix="waits-", dir=os.getcwd()) as disk:
        done = record(flamelet, "--kind", "offcpu", "--waker", "-g", "thread,reason", "-o", folded, "--", program,
                      "3", disk)
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    sums = sum_reasons(folded)
    for thread in REASONS:
        waits = {reason: seconds for reason, seconds in sums.get(thread, {}).items()
                 if reason == thread or reason not in ("preempted", "run-queue", "signal")}
        if thread in ("disk", "page-fault") and sum(waits.values()) < DISK_SECONDS:
            print(f"SKIP: the file system of {os.getcwd()} does not wait for a disk")
        elif waits.get(thread, 0) < RIGHT_SHARE * sum(waits.values()) or not waits:
            yield f"the reasons of thread {thread} are {waits}"
    for thread, waker in {"pipe": "[woken by sleep of wait_reasons]", "network": "[woken by network]"}.items():
        if find_waker(folded, thread) != waker:
            yield f"the waker of thread {thread} is {find_waker(folded, thread)}"
    yield from check_run_delay(done.stdout, sums.get("preempted", {}))
    if has_exit():
        yield from check_rivals(folded)
    if "waited for" not in done.stdout or "for a CPU " not in done.stdout:
        yield f"the summary tells no reasons: {done.stdout}"


def check_selection(flamelet, directory, _programs):
    """Of all waits, only those for a pipe that take 20 ms and more."""
    folded = os.path.join(directory, "few.folded")
    done = record(flamelet, "--kind", "offcpu", "--reason", "pipe", "--min-block", "20ms", "-g", "thread,reason", "-o",
                  folded, "--", "sh", "-c", "for i in 1 2 3 4 5; do (sleep 0.1; echo) | cat; (sleep 0.002; echo) | cat; done")
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    sums = sum_reasons(folded)
    if {reason for reasons in sums.values() for reason in reasons} != {"pipe"}:
        yield f"other waits than those for a pipe: {sums}"
    if sums.get("cat", {}).get("pipe", 0) < 0.45:
        yield f"cat waited five times for 100 ms: {sums}"


def check_kernel_threads(flamelet, directory, _programs):
    """Idle threads of the kernel do not count. One with a name of its own waits no longer than the recording takes."""
    folded = os.path.join(directory, "machine.folded")
    done = record(flamelet, "--kind", "offcpu", "-d", "2", "-g", "thread,reason", "-o", folded)
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    for thread, waits in sum_reasons(folded).items():
        if thread.startswith("rcu_") and sum(waits.values()) > 2.5:
            yield f"{thread} waited in 2 s for {waits}"


def check_cgroup(flamelet, directory, programs):
    """Waits outside of the cgroup do not count, not even those at the beginning."""
    cgroups = host.cgroup_mounts()[1]
    if cgroups is None:
        print("SKIP: no cgroup2 file system is mounted")
        return
    folded, name = os.path.join(directory, "cgroup.folded"), f"off-cpu-{os.getpid()}"
    os.mkdir(f"{cgroups}/{name}")
    try:
        with subprocess.Popen(["sh", "-c", 'echo $$ > "$0"; exec "$@"', f"{cgroups}/{name}/cgroup.procs",
                               programs["off_cpu"], "60"], stdout=subprocess.DEVNULL):
            time.sleep(1)
            done = record(flamelet, "--kind", "offcpu", "--cgroup", f"/{name}", "-d", "2", "-g", "comm", "-o", folded)
            host.kill_cgroup(f"{cgroups}/{name}")
        names = {frames[0] for frames, _ in read_seconds(folded)} if done.returncode == 0 else done.stderr
        if names != {"off_cpu"}:
            yield f"a recording of a cgroup has the waits of {names}"
    finally:
        host.kill_cgroup(f"{cgroups}/{name}")
        host.remove_cgroup(f"{cgroups}/{name}")


def check_refusal(flamelet, directory, _programs):
    done = record(flamelet, "--kind", "offcpu", "--capture", "perf", "-d", "1", "-o", os.path.join(directory, "x.svg"))
    if done.returncode != 1 or "need --capture=bpf" not in done.stderr:
        yield f"perf: exit status {done.returncode}: {done.stderr}"


# The agent of the first one would see the program of the second one.
BESIDE_EACH_OTHER = ((check_kept, check_cgroup), (check_deadlock,), (check_selection, check_kernel_threads),
                     (check_refusal,))


def run_checks(checks, flamelet, directory, programs):
    return [problem for check in checks for problem in check(flamelet, directory, programs)]


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-off-cpu-") as directory:
        programs = {name: build(directory, name) for name in ("off_cpu", "deadlock", "wait_reasons")}
        problems = [*check_service(flamelet, directory, programs), *check_reasons(flamelet, directory, programs)]
        with concurrent.futures.ThreadPoolExecutor() as pool:   # these wait most of the time
            parts = [pool.submit(run_checks, checks, flamelet, directory, programs) for checks in BESIDE_EACH_OTHER]
            problems += [problem for part in parts for problem in part.result()]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
