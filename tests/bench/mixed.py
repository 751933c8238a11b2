# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a sample on loads of several languages, many processes and many files, by
part, beside perf in the same run."""

import subprocess
import tempfile
import time

import loads
import measure
import memory_cgroup
import mixed_loads

START_S = 10
WINDOW_S = 30
PERF_START_S = 2
PERF_WINDOW_S = 10
RATES = (20, 99)
PARTS = ("agent", "rows-worker", "symbol-worker", "runtime-worker", "jit-worker", "transport-worker", "kubelet-worker")
HEAD = (f"{'load':6} {'Hz':>3} {'samples':>7} {'root %':>6} | {'agent':>6} {'rows':>6} {'symbol':>6} {'runtime':>7} {'jit':>6} {'transp.':>7} "
        f"{'kubelet':>7} {'ended':>6} | {'user':>6} {'BPF':>6} {'all-in':>6} | {'start s':>7} | {'peak':>6} {'now':>6} "
        f"{'anon':>6} {'file':>6} {'kernel':>6} | {'record':>6} {'script':>6} {'both':>6}")


class Snapshot:
    """Cost of an agent up to now."""

    def __init__(self, agent, metrics):
        self.bpf_ns = measure.bpf_run_ns(agent.pid)
        self.parts = measure.parts_seconds(agent.pid)
        counted = metrics.read()
        self.samples = counted['flamelet_kernel_samples_total{result="sent"}']
        self.whole = counted['flamelet_stack_stops_total{reason="complete"}']
        # Neither has a user stack.
        self.without_stack = (counted['flamelet_stack_stops_total{reason="kernel_thread"}']
                              + counted['flamelet_stack_stops_total{reason="no_stack"}'])


def start_agent_in(cgroup, flamelet, hz, socket, options):
    """In a cgroup of its own, whose memory is its own from the first page on."""
    command = [flamelet, "agent", "--frequency", str(hz), "--otlp-endpoint", loads.start_sink(), "--export-interval",
               "5s", "--listen", f"unix:{socket}", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=cgroup.enter)


def parts_between(before, after, samples):
    """us a sample of each part. A worker that has ended since takes what it had before to those that have ended."""
    taken = {name: (after.parts.get(name, 0) - before.parts.get(name, 0)) / samples * 1e6
             for name in (*PARTS, measure.ENDED)}
    taken[measure.ENDED] += sum(min(0, us) for us in taken.values())
    return {name: max(0, us) for name, us in taken.items()}


def measure_agent(flamelet, hz, options=()):
    with tempfile.TemporaryDirectory() as folder, memory_cgroup.MemoryCgroup("flamelet-bench") as cgroup:
        agent = start_agent_in(cgroup, flamelet, hz, f"{folder}/http", options)
        try:
            time.sleep(START_S)
            metrics = measure.Metrics(f"{folder}/http")
            before = Snapshot(agent, metrics)
            time.sleep(WINDOW_S)
            after = Snapshot(agent, metrics)
            memory = cgroup.read()
        finally:
            loads.stop_agent(agent)
    samples = max(1, after.samples - before.samples)
    threads = after.without_stack - before.without_stack
    parts = parts_between(before, after, samples)
    return {"samples": samples, "root": 100 * (after.whole - before.whole) / max(1, samples - threads), "parts": parts,
            "user": sum(parts.values()), "bpf": (after.bpf_ns - before.bpf_ns) / samples / 1e3,
            "start": sum(before.parts.values()), "memory": memory}


def measure_perf(hz):
    """us a sample of record and of script, without inlined functions, which Flamelet has."""
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        perf = loads.start_perf(hz, "dwarf", data)
        try:
            time.sleep(PERF_START_S)
            cpu = measure.cpu_seconds(perf.pid)
            time.sleep(PERF_WINDOW_S)
            cpu = measure.cpu_seconds(perf.pid) - cpu
        finally:
            loads.stop_perf(perf)
        script_cpu, nr_scripted = loads.run_perf_script(data, "--no-inline")
    nr_recorded = nr_scripted * PERF_WINDOW_S / (PERF_START_S + PERF_WINDOW_S)
    return cpu / max(1, nr_recorded) * 1e6, script_cpu / max(1, nr_scripted) * 1e6


def print_row(name, hz, agent, perf):
    parts = agent["parts"]
    columns = " ".join(f"{parts[part]:{width}.1f}" for part, width in zip((*PARTS, measure.ENDED), (6, 6, 6, 7, 6, 7, 7, 6)))
    memory = " ".join(f"{agent['memory'].get(key, float('nan')):6.1f}" for key in ("peak", "now", "anon", "file", "kernel"))
    line = (f"{name:6} {hz:3} {agent['samples']:7.0f} {agent['root']:6.1f} | {columns} | {agent['user']:6.1f} "
            f"{agent['bpf']:6.1f} {agent['user'] + agent['bpf']:6.1f} | {agent['start']:7.2f} | {memory} | ")
    if perf:
        line += f"{perf[0]:6.1f} {perf[1]:6.1f} {sum(perf):6.1f}"
    print(line.rstrip(), flush=True)


def print_load(name, flamelet, folder, has_perf):
    """Agent and workers, user and system time."""
    print(f"\n{name}: us a sample of agent and workers in the {WINDOW_S} s after the first {START_S}; CPU time of those first "
          "seconds; MB of the cgroup they run in;\nbaseline: us a sample of perf record --call-graph dwarf and perf script "
          "--no-inline")
    print(HEAD, flush=True)
    with measure.BpfStats():
        for hz in RATES:
            with mixed_loads.LOADS[name](folder):
                agent = measure_agent(flamelet, hz)
                print_row(name, hz, agent, measure_perf(hz) if has_perf else None)
