# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a sample by both capture backends, beside perf, which copies stacks to a
file."""

import os
import time

import loads
import measure

WARM_UP_S = 4
WINDOW_S = 15
HZ = 99
IN_CONTEXT_HZ = 4999
DEPTHS = (5, 25, 100)
PATHS = ("bpf", "perf")


def cpu_us(pid):
    """A sample, of all that were due."""
    time.sleep(WARM_UP_S)
    cpu = measure.cpu_seconds(pid)
    time.sleep(WINDOW_S)
    return (measure.cpu_seconds(pid) - cpu) / (WINDOW_S * HZ * os.cpu_count()) * 1e6


def measure_path(flamelet, deep, depth, path):
    processes = loads.start_deep(deep, depth)
    agent = loads.start_agent(flamelet, HZ, loads.start_sink(), options=("--capture", path))
    try:
        cost, memory = cpu_us(agent.pid), measure.memory_mb(agent.pid)[0]
    finally:
        loads.end(processes)
        counters = loads.stop_agent(agent)
    whole = 100 * counters.get("unwind_complete", 0) / max(1, counters.get("sampled", 0))
    return f"{cost:9.1f} {memory:7.1f} {whole:8.1f} {counters.get('ring_full', 0):5}"


def measure_perf(deep, depth):
    processes = loads.start_deep(deep, depth)
    perf = loads.start_perf(HZ, "dwarf", "/dev/null")
    try:
        return cpu_us(perf.pid)
    finally:
        loads.end(processes)
        loads.stop_perf(perf)


def print_paths(flamelet, folder, has_perf, cost_in_context):
    """The agent's CPU time includes names and sending; that of perf record neither, and no unwinding."""
    deep = f"{folder}/deep_nofp"
    print(f"\nCapture paths, {HZ} Hz, no frame pointers: the agent's CPU time in us a sample, resident MB, whole stacks in %, "
          "lost:")
    print(f"{'frames':>8}" + "".join(f"   {path:>9} {'MB':>7} {'whole %':>8} {'lost':>5}" for path in PATHS)
          + "   baseline: perf record --call-graph dwarf")
    for depth in DEPTHS:
        line = f"{depth:8}" + "".join(f"   {measure_path(flamelet, deep, depth, path)}" for path in PATHS)
        print(line + (f"   {measure_perf(deep, depth):9.1f}" if has_perf else ""), flush=True)
    costs = []
    for path in PATHS:
        def start(path=path):
            return loads.start_agent(flamelet, IN_CONTEXT_HZ, loads.start_sink(), options=("--capture", path))

        costs.append(f"{path} {cost_in_context(deep, start, loads.stop_agent):.1f}")
    print(f"  CPU time added to the sampled task, us a sample at {IN_CONTEXT_HZ} Hz, 25 frames: {', '.join(costs)}; perf record is "
          "above", flush=True)
