# SPDX-License-Identifier: Apache-2.0
"""Measures what a page fault costs more while growth of memory is recorded. The baselines are the same program without
an agent, and beside one that records CPU time only, in turns of the same run."""

import subprocess
import time

import loads

HZ = 19
TURNS = 5
MEGABYTES, ROUNDS = 64, 20
WARM_UP_S = 3
KINDS = (None, "cpu", "cpu,growth")


def fault_ns(folder):
    done = subprocess.run([f"{folder}/fault", str(MEGABYTES), str(ROUNDS)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_turn(flamelet, folder, kind):
    """ns a fault."""
    if kind is None:
        return fault_ns(folder)
    agent = loads.start_agent(flamelet, HZ, loads.start_sink(), options=("--kind", kind))
    try:
        time.sleep(WARM_UP_S)
        return fault_ns(folder)
    finally:
        loads.stop_agent(agent)


def print_faults(flamelet, folder):
    turns = [[measure_turn(flamelet, folder, kind) for kind in KINDS] for _ in range(TURNS)]
    alone, cpu, growth = (min(turn[i] for turn in turns) for i in range(len(KINDS)))
    print(f"\nA page fault of new memory, ns of CPU time, the shortest of {TURNS * ROUNDS} runs of {MEGABYTES} MB:")
    print(f"  --kind cpu,growth {growth:.0f}; baseline: --kind cpu {cpu:.0f}, without an agent {alone:.0f}", flush=True)
