# SPDX-License-Identifier: Apache-2.0
"""Measures what a switch between threads costs more while waits are recorded. The baselines are the same program without
an agent, and beside one that records CPU time only, in turns of the same run."""

import subprocess
import time

import loads

HZ = 19
TURNS = 6
CPU, ROUNDS = 1, 400_000
WARM_UP_S = 3
KINDS = (None, "cpu", "cpu,offcpu", "cpu,offcpu,lock")
BUSY_SWITCHES = 200_000     # per second, on a busy machine


def switch_ns(folder):
    done = subprocess.run([f"{folder}/switches", str(CPU), str(ROUNDS)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_turn(flamelet, folder, kind):
    """ns a switch."""
    if kind is None:
        return switch_ns(folder)
    agent = loads.start_agent(flamelet, HZ, loads.start_sink(), options=("--kind", kind))
    try:
        time.sleep(WARM_UP_S)
        return switch_ns(folder)
    finally:
        loads.stop_agent(agent)


def print_switches(flamelet, folder):
    turns = [[measure_turn(flamelet, folder, kind) for kind in KINDS] for _ in range(TURNS)]
    shortest = [min(turn[i] for turn in turns) for i in range(len(KINDS))]
    alone, cpu = shortest[:2]
    print(f"\nA switch between two processes on one CPU, ns of CPU time, the shortest of {TURNS} runs:")
    for kind, ns in list(zip(KINDS, shortest))[2:]:
        print(f"  --kind {kind:16} {ns:6.0f}; baseline: --kind cpu {cpu:.0f}, without an agent {alone:.0f}; "
              f"{(ns - cpu) * BUSY_SWITCHES / 1e7:.1f} % of a CPU at {BUSY_SWITCHES} switches a second", flush=True)
