#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Flamelet costs, each figure beside a baseline taken in the same run.

usage: bench.py FLAMELET DEEP

FLAMELET is the binary, DEEP the load of deep.c. Needs root; the baseline needs perf (linux-perf).
Figures are CPU times, never wall times: they hold on a machine that does other things too."""

import http.server
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

BPF_PROG_TYPE_PERF_EVENT = "7"  # enum bpf_prog_type
STATS_SYSCTL = "/proc/sys/kernel/bpf_stats_enabled"
WARM_UP_S = 4
WINDOW_S = 15
FIXED_LOOPS = "3000000000"
FIXED_HZ = 4999


class Sink(http.server.BaseHTTPRequestHandler):
    """An OTLP endpoint that takes everything and counts it."""

    protocol_version = "HTTP/1.1"
    nr_bytes = 0

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        Sink.nr_bytes += length
        self.rfile.read(length)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def start_sink():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def cpu_seconds(pid):
    """CPU time of all threads, to the nanosecond: clock ticks would hide a profiler that costs little."""
    total_ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
            total_ns += int(stat.read().split()[0])
    return total_ns / 1e9


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        values = dict(line.split(":", 1) for line in status)
    return int(values["VmRSS"].split()[0]) / 1024, int(values["VmHWM"].split()[0]) / 1024


def bpf_objects(pid):
    """What the kernel tells of each BPF program and map that the process holds, from its fdinfo."""
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as info:
            fields = dict(line.split(":", 1) for line in info if ":" in line)
        yield {key: value.strip() for key, value in fields.items()}


def sampler_stats(pid):
    for fields in bpf_objects(pid):
        if fields.get("prog_type") == BPF_PROG_TYPE_PERF_EVENT and "run_time_ns" in fields:
            return int(fields["run_time_ns"]), int(fields["run_cnt"])
    raise SystemExit("bench: the sampler is not loaded")


def maps_mb(pid):
    sizes = {fields["map_id"]: int(fields["memlock"]) for fields in bpf_objects(pid)
             if "map_id" in fields and "memlock" in fields}
    return sum(sizes.values()) / 2**20


def start_loads(deep, depth, nr):
    return [subprocess.Popen([deep, str(depth), "600"]) for _ in range(nr)]


def end(processes):
    for process in processes:
        process.kill()
        process.wait()


def start_agent(flamelet, hz, endpoint):
    return subprocess.Popen(
        [flamelet, "agent", "--frequency", str(hz), "--otlp-endpoint", endpoint, "--export-interval", "5s"],
        stderr=subprocess.PIPE, text=True)


def stop_agent(agent):
    """Ends the agent and returns its counters."""
    agent.send_signal(signal.SIGTERM)
    log = agent.communicate()[1]
    if agent.returncode != 0:
        raise SystemExit(f"bench: agent failed:\n{log}")
    last = [line for line in log.splitlines() if "stopped:" in line][-1]
    return {k: int(v) for k, v in (f.split("=") for f in last.replace('"', "").split() if f.count("=") == 1)
            if v.isdigit()}


def measure_agent(flamelet, deep, depth, hz):
    loads = start_loads(deep, depth, os.cpu_count())
    agent = start_agent(flamelet, hz, start_sink())
    try:
        time.sleep(WARM_UP_S)
        cpu, (ns, runs), sent = cpu_seconds(agent.pid), sampler_stats(agent.pid), Sink.nr_bytes
        time.sleep(WINDOW_S)
        cpu = cpu_seconds(agent.pid) - cpu
        ns_after, runs_after = sampler_stats(agent.pid)
        rss, peak = memory_mb(agent.pid)
        maps = maps_mb(agent.pid)
    finally:
        end(loads)
        counters = stop_agent(agent)
    samples = runs_after - runs
    return {"samples": samples, "bpf_ns": (ns_after - ns) / samples, "cpu_us": cpu / samples * 1e6,
            "share": cpu / (WINDOW_S * os.cpu_count()) * 100, "rss": rss, "peak": peak, "maps": maps,
            "wire": (Sink.nr_bytes - sent) / samples, "lost": counters.get("ring_full", 0)}


def measure_perf(deep, depth, hz):
    """perf record with frame-pointer stacks on the same load: it neither names nor sends anything."""
    with tempfile.TemporaryDirectory() as folder:
        loads = start_loads(deep, depth, os.cpu_count())
        perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(hz), "-a", "-g", "-o",
                                 f"{folder}/perf.data"], stderr=subprocess.DEVNULL)
        try:
            time.sleep(WARM_UP_S)
            cpu = cpu_seconds(perf.pid)
            time.sleep(WINDOW_S)
            cpu = cpu_seconds(perf.pid) - cpu
            rss, peak = memory_mb(perf.pid)
        finally:
            end(loads)
            perf.send_signal(signal.SIGINT)
            perf.wait()
    samples = WINDOW_S * hz * os.cpu_count()
    return {"cpu_us": cpu / samples * 1e6, "rss": rss, "peak": peak}


def fixed_work_ns(deep):
    """CPU time of a fixed piece of work: what is added to it under a profiler is spent in its context."""
    runs = [int(subprocess.run([deep, "25", "0", FIXED_LOOPS], capture_output=True, check=True).stdout)
            for _ in range(3)]
    return sorted(runs)[1]


def cost_in_context(deep, start, stop):
    alone = fixed_work_ns(deep)
    profiler = start()
    time.sleep(WARM_UP_S)
    under = fixed_work_ns(deep)
    stop(profiler)
    return (under - alone) / (under / 1e9 * FIXED_HZ) / 1e3


def perf_in_context(deep):
    with tempfile.TemporaryDirectory() as folder:
        def start():
            return subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FIXED_HZ), "-a", "-g",
                                     "-o", f"{folder}/perf.data"], stderr=subprocess.DEVNULL)

        def stop(perf):
            perf.send_signal(signal.SIGINT)
            perf.wait()

        return cost_in_context(deep, start, stop)


def print_agent(flamelet, deep, has_perf):
    print(f"{'load':24} {'Hz':>5} {'samples':>8} {'BPF ns/sample':>14} {'agent us/sample':>16} {'CPU %':>7} "
          f"{'RSS MB':>7} {'maps MB':>8} {'wire B/sample':>14}   baseline: perf record -g us/sample, RSS MB")
    for depth, hz in ((5, 99), (25, 99), (100, 99), (25, 19)):
        agent = measure_agent(flamelet, deep, depth, hz)
        line = (f"{depth:3} frames, all CPUs     {hz:5} {agent['samples']:8} {agent['bpf_ns']:14.0f} "
                f"{agent['cpu_us']:16.1f} {agent['share']:7.3f} {agent['rss']:7.1f} {agent['maps']:8.1f} "
                f"{agent['wire']:14.1f}   ")
        if has_perf:
            perf = measure_perf(deep, depth, hz)
            line += f"{perf['cpu_us']:.1f}, {perf['peak']:.1f}"
        print(line + (f"  LOST {agent['lost']}" if agent["lost"] else ""), flush=True)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    if os.geteuid() != 0:
        print("SKIP: benchmarks load BPF programs, which needs root")
        return 77
    flamelet, deep = sys.argv[1:]
    has_perf = shutil.which("perf") is not None
    with open(STATS_SYSCTL, encoding="ascii") as sysctl:
        before = sysctl.read()
    with open(STATS_SYSCTL, "w", encoding="ascii") as sysctl:
        sysctl.write("1")
    try:
        print_agent(flamelet, deep, has_perf)
    finally:
        with open(STATS_SYSCTL, "w", encoding="ascii") as sysctl:
            sysctl.write(before)

    def start():
        return start_agent(flamelet, FIXED_HZ, start_sink())

    print(f"\nCPU time added to the sampled task, us a sample at {FIXED_HZ} Hz, 25 frames (kernel entry, timer and all):")
    print(f"  flamelet {cost_in_context(deep, start, stop_agent):.1f}")
    if has_perf:
        print(f"  perf record -g {perf_in_context(deep):.1f}")
    else:
        print("  perf: SKIP, not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
