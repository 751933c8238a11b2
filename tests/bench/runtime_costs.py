# SPDX-License-Identifier: Apache-2.0
"""Measures what language runtimes cost an agent: CPU time for each Python process that lives for a moment, and memory
beside the load of five languages. The baseline is the same agent without runtimes, in the same run."""

import os
import subprocess
import time

import loads
import measure
import mixed
import mixed_loads
import pods

BURN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../runtime/loads/burn.py")
PYTHON = "/usr/bin/python3"
LIFE_S = "0.06"
HZ = 99
NR_PROCESSES = 500
NR_FIRST = 20       # make the tables of Python's files
CGROUP = "/flamelet-bench-pythons"      # nothing else is sampled
SETTLE_S = 3        # for the last windows
ROUNDS = 3
KINDS = ("cpython", "none")
PARTS = ("agent", "rows-worker", "symbol-worker", "runtime-worker", "BPF")


def run_processes(nr):
    """As many at a time as there are CPUs."""
    command = [PYTHON, "-S", "-E", BURN, LIFE_S]
    running = []
    for _ in range(nr):
        if len(running) == os.cpu_count():
            running.pop(0).wait()
        running.append(pods.run_in(CGROUP, command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    for process in running:
        process.wait()


def read_parts(pid):
    return {**measure.parts_seconds(pid), "BPF": measure.bpf_run_ns(pid) / 1e9}


def measure_agent(flamelet, kinds):
    """us a process, by part."""
    agent = loads.start_agent(flamelet, HZ, loads.start_sink(), options=("--runtimes", kinds, "--cgroup", CGROUP))
    try:
        time.sleep(SETTLE_S)
        run_processes(NR_FIRST)
        time.sleep(SETTLE_S)
        before = read_parts(agent.pid)
        run_processes(NR_PROCESSES)
        time.sleep(SETTLE_S)
        after = read_parts(agent.pid)
    finally:
        loads.stop_agent(agent)
    return {part: (after.get(part, 0) - before.get(part, 0)) / NR_PROCESSES * 1e6 for part in after}


def median(runs, key):
    return sorted(key(run) for run in runs)[len(runs) // 2]


def print_processes(flamelet):
    print(f"\n{NR_PROCESSES} Python processes of {LIFE_S} s of CPU time each, {HZ} Hz: us a process, medians of {ROUNDS} "
          f"runs; baseline: --runtimes none\n{'--runtimes':10} " + " ".join(f"{part:>14}" for part in (*PARTS, "all")),
          flush=True)
    runs = {kinds: [] for kinds in KINDS}
    with measure.BpfStats(), pods.Cgroups() as cgroups:
        cgroups.make(CGROUP)
        for _ in range(ROUNDS):
            for kinds in KINDS:
                runs[kinds].append(measure_agent(flamelet, kinds))
    for kinds in KINDS:
        columns = [median(runs[kinds], lambda run, part=part: run.get(part, 0)) for part in PARTS]
        columns.append(median(runs[kinds], lambda run: sum(run.values())))
        print(f"{kinds:10} " + " ".join(f"{column:14.1f}" for column in columns), flush=True)


def print_memory(flamelet, folder):
    print("\nThe load of five languages: MB of the agent's cgroup at most, and without the page cache; baseline: "
          "--runtimes none", flush=True)
    with measure.BpfStats(), mixed_loads.LOADS["five"](folder):
        for kinds in ("cpython,hotspot,v8", "none"):
            found = mixed.measure_agent(flamelet, HZ, ("--runtimes", kinds))
            memory = found["memory"]
            print(f"  {kinds:18} {memory.get('peak', float('nan')):6.1f} {memory.get('anon', float('nan')):6.1f}; "
                  f"{found['user']:.1f} + {found['bpf']:.1f} us a sample", flush=True)


def print_runtimes(flamelet, folder):
    print_processes(flamelet)
    print_memory(flamelet, folder)
