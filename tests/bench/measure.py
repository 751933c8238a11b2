# SPDX-License-Identifier: Apache-2.0
"""Reads the cost of processes, BPF programs and BPF maps from the kernel."""

import http.client
import os
import socket

BPF_PROG_TYPE_PERF_EVENT = "7"  # enum bpf_prog_type
STATS_SYSCTL = "/proc/sys/kernel/bpf_stats_enabled"
ENDED = "ended"


def children(pid):
    """Of Flamelet: the processes that read files for it."""
    return [int(folder) for folder in os.listdir("/proc") if folder.isdigit() and parent_of(folder) == pid]


def stat_fields(pid):
    """From field 3 of /proc/PID/stat on."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()


def parent_of(pid):
    try:
        return int(stat_fields(pid)[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def ended_children_seconds(pid):
    cutime, cstime = stat_fields(pid)[13:15]
    return (int(cutime) + int(cstime)) / os.sysconf("SC_CLK_TCK")


def children_cpu_seconds(pid):
    total = ended_children_seconds(pid)
    for child in children(pid):
        try:
            total += own_cpu_seconds(child)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total


def cpu_seconds(pid):
    """Of a process and of its children, living or not."""
    return own_cpu_seconds(pid) + children_cpu_seconds(pid)


def own_cpu_seconds(pid):
    """CPU time of all threads, to the nanosecond: clock ticks would hide a profiler that costs little."""
    total_ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
            total_ns += int(stat.read().split()[0])
    return total_ns / 1e9


def part_of(pid):
    """The worker that a child is, by the command it runs."""
    with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as command:
        return command.read().split("\0")[1]


def parts_seconds(pid):
    """CPU time of the agent, of its workers by their kind, and of what has ended."""
    parts = {"agent": own_cpu_seconds(pid), ENDED: ended_children_seconds(pid)}
    for child in children(pid):
        try:
            seconds, part = own_cpu_seconds(child), part_of(child)
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
        parts[part] = parts.get(part, 0) + seconds
    return parts


def memory_mb(pid):
    """Resident memory, now and at most."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        values = dict(line.split(":", 1) for line in status)
    return int(values["VmRSS"].split()[0]) / 1024, int(values["VmHWM"].split()[0]) / 1024


def children_memory_mb(pid):
    """The same, of the living children together."""
    now = peak = 0
    for child in children(pid):
        try:
            memory = memory_mb(child)
        except (FileNotFoundError, ProcessLookupError, KeyError):
            continue
        now, peak = now + memory[0], peak + memory[1]
    return now, peak


def fdinfo(pid, fd):
    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as info:
        fields = dict(line.split(":", 1) for line in info if ":" in line)
    return {key: value.strip() for key, value in fields.items()}


def bpf_objects(pid):
    """Returns the fdinfo of each BPF program and map that the process holds."""
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            yield fdinfo(pid, fd)
        except FileNotFoundError:
            pass


def sampler_stats(pid):
    for fields in bpf_objects(pid):
        if fields.get("prog_type") == BPF_PROG_TYPE_PERF_EVENT and "run_time_ns" in fields:
            return int(fields["run_time_ns"]), int(fields["run_cnt"])
    raise SystemExit("bench: the sampler is not loaded")


def bpf_run_ns(pid):
    """Run time of all BPF programs."""
    return sum({fields["prog_id"]: int(fields["run_time_ns"]) for fields in bpf_objects(pid)
                if "run_time_ns" in fields}.values())


def maps_mb(pid):
    sizes = {fields["map_id"]: int(fields["memlock"]) for fields in bpf_objects(pid)
             if "map_id" in fields and "memlock" in fields}
    return sum(sizes.values()) / 2**20


class BpfStats:
    """Has the kernel count the run time of BPF programs in the meantime."""

    def __enter__(self):
        with open(STATS_SYSCTL, encoding="ascii") as sysctl:
            self.before = sysctl.read()
        self.write("1")

    def __exit__(self, *_):
        self.write(self.before)

    @staticmethod
    def write(value):
        with open(STATS_SYSCTL, "w", encoding="ascii") as sysctl:
            sysctl.write(value)


class Metrics:
    """Reads the agent's metrics from the Unix socket of its --listen."""

    def __init__(self, path):
        self.path = path

    def read(self):
        """Each series and its value."""
        connection = http.client.HTTPConnection("localhost", timeout=5)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        try:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        finally:
            connection.close()
        return {series: float(value) for series, value in (line.rsplit(" ", 1) for line in lines
                                                           if line and not line.startswith("#"))}
