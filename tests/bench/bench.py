#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of Flamelet, each figure beside a baseline taken in the same run.

usage: bench.py FLAMELET FOLDER [SECTION...]

FLAMELET is the binary, FOLDER has the loads that are built from this directory. Without sections all of them run: deep,
context, paths, tables, names, encoding, start, growth, interrupts, pods, runtimes, store, switches, beside, viewer, and the
loads of mixed_loads.py: five, langs, many, files. Needs root; the baselines need perf (linux-perf), those of the section
beside libbpf-tools as well, those of the viewer the npm registry. Figures are CPU times: they hold on a machine that does
other things too. Only the viewer has times on the clock beside them, and the section beside compares times of waits with
what other tools say of them."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import beside
import encoding
import growth
import interrupts
import loads
import measure
import mixed
import mixed_loads
import names
import paths as capture_paths
import pods
import runtime_costs
import start
import store
import switches
import viewer

WARM_UP_S = 4
WINDOW_S = 15
FIXED_LOOPS = "3000000000"
FIXED_HZ = 4999
ALL_FILES_HZ = 99
FILES_A_SECOND = 200
STEADY_S = 120

# Load, and how perf can find its frames.
BUILDS = (("deep", "fp"), ("deep_nofp", "dwarf"))


def measure_agent(flamelet, deep, depth, hz):
    processes = loads.start_deep(deep, depth)
    agent = loads.start_agent(flamelet, hz, loads.start_sink())
    try:
        time.sleep(WARM_UP_S)
        cpu, (ns, runs) = measure.cpu_seconds(agent.pid), measure.sampler_stats(agent.pid)
        worker_cpu = measure.children_cpu_seconds(agent.pid)
        sent = loads.Sink.nr_bytes
        time.sleep(WINDOW_S)
        cpu = measure.cpu_seconds(agent.pid) - cpu
        worker_cpu = measure.children_cpu_seconds(agent.pid) - worker_cpu
        ns_after, runs_after = measure.sampler_stats(agent.pid)
        rss = measure.memory_mb(agent.pid)[0]
        worker_rss = measure.children_memory_mb(agent.pid)[0]
        maps = measure.maps_mb(agent.pid)
    finally:
        loads.end(processes)
        counters = loads.stop_agent(agent)
    samples = runs_after - runs
    return {"samples": samples, "bpf_ns": (ns_after - ns) / samples, "cpu_us": cpu / samples * 1e6,
            "share": cpu / (WINDOW_S * os.cpu_count()) * 100, "rss": rss, "maps": maps,
            "worker_us": worker_cpu / samples * 1e6, "worker_rss": worker_rss,
            "wire": (loads.Sink.nr_bytes - sent) / samples, "lost": counters.get("ring_full", 0),
            "complete": 100 * counters.get("unwind_complete", 0) / max(1, counters.get("sampled", 0))}


def measure_perf(deep, depth, hz, stacks):
    """perf on the same load: `record` neither names nor sends anything, `script` names and unwinds afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        processes = loads.start_deep(deep, depth)
        perf = loads.start_perf(hz, stacks, data)
        try:
            time.sleep(WARM_UP_S)
            cpu = measure.cpu_seconds(perf.pid)
            time.sleep(WINDOW_S)
            cpu = measure.cpu_seconds(perf.pid) - cpu
            peak = measure.memory_mb(perf.pid)[1]
        finally:
            loads.end(processes)
            loads.stop_perf(perf)
        script_cpu, nr_scripted = loads.run_perf_script(data)
    return {"record_us": cpu / (WINDOW_S * hz * os.cpu_count()) * 1e6, "peak": peak,
            "script_us": script_cpu / max(1, nr_scripted) * 1e6}


def print_load(flamelet, deep, depth, hz, stacks, has_perf):
    agent = measure_agent(flamelet, deep, depth, hz)
    line = (f"{os.path.basename(deep):10} {depth:7} {hz:5} {agent['samples']:8} {agent['complete']:10.1f} "
            f"{agent['bpf_ns']:14.0f} {agent['cpu_us']:16.1f} {agent['worker_us']:9.1f} {agent['share']:7.3f} "
            f"{agent['rss']:7.1f} {agent['worker_rss']:9.1f} {agent['maps']:8.1f} {agent['wire']:14.1f}   ")
    if has_perf:
        perf = measure_perf(deep, depth, hz, stacks)
        line += f"{stacks:5} {perf['record_us']:9.1f} {perf['script_us']:9.1f} {perf['peak']:7.1f}"
    print(line + (f"  LOST {agent['lost']}" if agent["lost"] else ""), flush=True)


def print_loads(flamelet, folder, has_perf):
    """Loads on all CPUs; deep_nofp is deep without frame pointers. CPU time and its share are those of the agent and of
    its symbol worker, whose part stands beside; memory is that of each."""
    print(f"{'load':10} {'frames':>7} {'Hz':>5} {'samples':>8} {'complete %':>10} {'BPF ns/sample':>14} "
          f"{'agent us/sample':>16} {'of worker':>9} {'CPU %':>7} {'RSS MB':>7} {'worker MB':>9} {'maps MB':>8} "
          f"{'wire B/sample':>14}   baseline: perf record us/sample, perf script us/sample, record's RSS MB")
    for name, stacks in BUILDS:
        for depth, hz in ((5, 99), (25, 99), (100, 99), (25, 19)):
            print_load(flamelet, f"{folder}/{name}", depth, hz, stacks, has_perf)


def fixed_work_ns(deep):
    """CPU time of a fixed piece of work: what is added to it under a profiler is spent in its context."""
    runs = [int(subprocess.run([deep, "25", "0", FIXED_LOOPS], capture_output=True, check=True).stdout)
            for _ in range(3)]
    return sorted(runs)[1]


def cost_in_context(deep, start, stop):
    """us a sample."""
    alone = fixed_work_ns(deep)
    profiler = start()
    time.sleep(WARM_UP_S)
    under = fixed_work_ns(deep)
    stop(profiler)
    return (under - alone) / (under / 1e9 * FIXED_HZ) / 1e3


def print_in_context(flamelet, folder, has_perf):
    print(f"\nCPU time added to the sampled task, us a sample at {FIXED_HZ} Hz, 25 frames (kernel entry, timer "
          "and all):")
    for name, stacks in BUILDS:
        deep = f"{folder}/{name}"
        cost = cost_in_context(deep, lambda: loads.start_agent(flamelet, FIXED_HZ, loads.start_sink()),
                               loads.stop_agent)
        line = f"  {name:10} flamelet {cost:.1f}"
        if has_perf:
            cost = cost_in_context(deep, lambda: loads.start_perf(FIXED_HZ, stacks, "/dev/null"),
                                   loads.stop_perf)
            line += f", baseline: perf record --call-graph {stacks} {cost:.1f}"
        print(line, flush=True)


def print_tables(folder, paths):
    print(f"\nUnwind tables of the {len(paths)} programs and libraries of this machine:", flush=True)
    subprocess.run([f"{folder}/cfi_bench"], input="\n".join(paths) + "\n", text=True,
                   errors="surrogateescape", check=True)


def read_memory(agent):
    return (measure.memory_mb(agent.pid) + measure.children_memory_mb(agent.pid)
            + (measure.maps_mb(agent.pid),))


def print_all_loaded(flamelet, folder, paths):
    """One process maps the code of every file, and is sampled."""
    agent = loads.start_agent(flamelet, ALL_FILES_HZ, loads.start_sink())
    load = None
    try:
        time.sleep(WARM_UP_S)
        before = read_memory(agent)
        load, nr_mapped = loads.start_map_files(f"{folder}/map_files", paths, FILES_A_SECOND)
        loads.wait_until_steady(lambda: measure.maps_mb(agent.pid), STEADY_S)
        after = read_memory(agent)
    finally:
        loads.end([load] if load else [])
        counters = loads.stop_agent(agent)
    print(f"\nThe agent with the code of {nr_mapped} files mapped by a process that is sampled (resident, peak; "
          "its worker's; BPF maps in MB):")
    print("  baseline, before: {:.1f}, {:.1f}; {:.1f}, {:.1f}; {:.1f}".format(*before))
    print("  with all of them: {:.1f}, {:.1f}; {:.1f}, {:.1f}; {:.1f}".format(*after))
    found = {key: value for key, value in counters.items() if key.startswith(("table", "unwind", "elf", "symbol"))}
    print("  " + " ".join(f"{key}={value}" for key, value in found.items()), flush=True)


def print_pods(flamelet, folder):
    with measure.BpfStats():
        pods.print_excluded(flamelet, folder)
    pods.print_refreshes(flamelet, folder)
    pods.print_idle(flamelet)
    pods.print_first(flamelet, folder)


def print_deep(flamelet, folder, has_perf):
    with measure.BpfStats():
        print_loads(flamelet, folder, has_perf)


def print_tables_and_memory(flamelet, folder):
    paths = list(loads.find_elf_files())
    print_tables(folder, paths)
    print_all_loaded(flamelet, folder, paths)
    names.print_tables(flamelet, folder, paths)


def mixed_section(name):
    return lambda flamelet, folder, has_perf: mixed.print_load(name, flamelet, folder, has_perf)


# In the order in which they run.
SECTIONS = {
    "deep": print_deep,
    "context": print_in_context,
    "paths": lambda flamelet, folder, has_perf: capture_paths.print_paths(flamelet, folder, has_perf, cost_in_context),
    "tables": lambda flamelet, folder, _: print_tables_and_memory(flamelet, folder),
    "names": lambda flamelet, folder, _: names.print_resolving(flamelet, folder),
    "encoding": lambda _, folder, __: encoding.print_encoding(folder),
    "start": lambda flamelet, _, __: start.print_first_names(flamelet),
    "growth": lambda flamelet, folder, _: growth.print_faults(flamelet, folder),
    "interrupts": lambda flamelet, folder, _: interrupts.print_softirqs(flamelet, folder),
    "pods": lambda flamelet, folder, _: print_pods(flamelet, folder),
    "runtimes": lambda flamelet, folder, _: runtime_costs.print_runtimes(flamelet, folder),
    "store": lambda flamelet, folder, _: store.print_record(flamelet, folder),
    "switches": lambda flamelet, folder, _: switches.print_switches(flamelet, folder),
    "beside": beside.print_tools,
    "viewer": lambda _, folder, __: viewer.print_viewers(folder),
    **{name: mixed_section(name) for name in mixed_loads.LOADS},
}


def main():
    if len(sys.argv) < 3 or not SECTIONS.keys() >= set(sys.argv[3:]):
        raise SystemExit(__doc__)
    if os.geteuid() != 0:
        print("SKIP: benchmarks load BPF programs, which needs root")
        return 77
    flamelet, folder = sys.argv[1:3]
    has_perf = shutil.which("perf") is not None
    if not has_perf:
        print("perf is not installed: its baselines are left out")
    for name, section in SECTIONS.items():
        if len(sys.argv) == 3 or name in sys.argv[3:]:
            section(flamelet, folder, has_perf)
    return 0


if __name__ == "__main__":
    sys.exit(main())
