# SPDX-License-Identifier: Apache-2.0
"""Measures how soon an agent that starts on a busy machine names what it samples, and the cost of
its start."""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time

import loads
import measure
import otlp_windows

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder)
                for folder in ("../../e2e/local", "../../e2e/symbols")]

# pylint: disable=wrong-import-position
import elf_names
import host

NR_PROCESSES = 500
NR_COPIES = 12          # of each program, with a build id of its own: different files to a profiler
HZ = 99
RECORD_S = 12
RUNS = 3
ENOUGH = 0.99
BUILD_ID_NOTE = b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"
UNNAMED = re.compile(r"\+0x[0-9a-f]+$")
NOT_KNOWN = "[process not known yet]"   # the only frame of a process's first sample

DEBUG_DIR = "/usr/lib/debug"
# A few milliseconds of work a second.
PROGRAMS = {
    "bash": ("-c", "exec 3<> <(:); while :; do for ((i = 0; i < 500; i++)); do x=$i; done;"
             " read -t 1 -u 3; done"),
    "perl": ("-e", "while (1) { for ($i = 0; $i < 20000; $i++) {} select(undef, undef, undef, 1); }"),
    "python3": ("-S", "-c", "import time\nwhile True:\n    sorted(range(6000), key=str)\n    time.sleep(1)"),
}


def copy_with_build_id(source, target, number):
    with open(source, "rb") as file:
        data = bytearray(file.read())
    place = data.find(BUILD_ID_NOTE) + len(BUILD_ID_NOTE)
    data[place:place + 20] = number.to_bytes(20, "little")
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, stat.S_IRWXU)


def copy_programs(folder):
    """Paths and arguments of many programs that are made from a few."""
    commands = []
    for name, arguments in PROGRAMS.items():
        source = os.path.realpath(shutil.which(name, path="/usr/bin:/bin"))
        for number in range(NR_COPIES):
            target = f"{folder}/{name}-{number}"
            copy_with_build_id(source, target, len(commands) + 1)
            commands.append([target, *arguments])
    return commands


@contextlib.contextmanager
def many_processes(folder):
    commands = copy_programs(folder)
    processes = [subprocess.Popen(commands[i % len(commands)], stdin=subprocess.DEVNULL)
                 for i in range(NR_PROCESSES)]
    try:
        time.sleep(5)
        yield len(commands)
    finally:
        loads.end(processes)


class Judge:
    """Decides by binutils whether a frame without a name could have one. Before a file is read its
    frames have file offsets, which are no virtual addresses in programs that are not
    position-independent."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}
        # If the agent cannot read the root directory of the first process, it finds no separate
        # debug files.
        self.debug_dirs = (DEBUG_DIR,) if os.path.isdir(f"/proc/1/root{DEBUG_DIR}") else ()

    def has_symbol(self, path, address):
        if not path.startswith("/"):
            return False
        if path not in self.files:
            try:
                self.files[path] = elf_names.ElfNames(path, self.folder, self.debug_dirs)
            except (host.Failure, OSError):
                self.files[path] = None
        names = self.files[path]
        if names is None:
            return False
        is_address = names.section_of(address) is not None
        return bool(names.holders(address if is_address else names.address_of(address) or 0))

    def share_named(self, frames):
        named = sum(count for (_, _, name), count in frames.items()
                    if not UNNAMED.search(name) and name != NOT_KNOWN)
        missing = sum(count for (path, address, name), count in frames.items()
                      if UNNAMED.search(name) and self.has_symbol(path, address))
        return named / max(1, named + missing)


class CpuLog:
    """CPU time of the agent and its worker over time."""

    def __init__(self, pid):
        self.pid, self.readings, self.is_over = pid, [], False
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        while not self.is_over:
            with contextlib.suppress(OSError):
                self.readings.append((time.time(), measure.own_cpu_seconds(self.pid),
                                      measure.children_cpu_seconds(self.pid)))
            time.sleep(0.2)

    def stop(self):
        self.is_over = True
        self.thread.join()

    def until(self, when):
        """(the agent's, its worker's)"""
        return max(((t, own, worker) for t, own, worker in self.readings if t <= when),
                   default=(0, 0, 0))[1:]


def record_start(flamelet, read_windows):
    """Time of exec, windows, CPU log."""
    sink = otlp_windows.Sink.start()
    begin = time.time()
    agent = loads.start_agent(flamelet, HZ, sink.url, interval="1s")
    log = CpuLog(agent.pid)
    try:
        time.sleep(RECORD_S)
    finally:
        log.stop()
        loads.stop_agent(agent)
    return begin, read_windows(sink.requests), log


def measure_start(flamelet, read_windows, judge):
    begin, windows, log = record_start(flamelet, read_windows)
    for window in windows:
        if window.frames and judge.share_named(window.frames) >= ENOUGH:
            own, worker = log.until(window.arrived)
            later = log.until(begin + RECORD_S)
            return {"end": window.end - begin, "arrived": window.arrived - begin, "own": own, "worker": worker,
                    "steady": (sum(later) - own - worker) / (begin + RECORD_S - window.arrived),
                    "first": judge.share_named(windows[0].frames)}
    return None


def median(runs, key):
    return sorted(run[key] for run in runs)[len(runs) // 2]


def print_runs(runs):
    print(f"  the first window with {ENOUGH:.0%} of the user frames that have a symbol named ended "
          f"{median(runs, 'end'):.1f} s after the start and was there after {median(runs, 'arrived'):.1f} s "
          f"(the very first window: {median(runs, 'first'):.1%} named)")
    print(f"  CPU time up to then: agent {median(runs, 'own'):.2f} s, its worker {median(runs, 'worker'):.2f} s; "
          f"baseline, the agent afterwards: {median(runs, 'steady'):.3f} s a second", flush=True)


def print_perf(folder):
    """perf on the same machine: no figure of the same kind, but what a user would wait for otherwise."""
    begin = time.time()
    data = f"{folder}/perf.data"
    perf = loads.start_perf(HZ, "fp", data)
    time.sleep(2)
    cpu = measure.own_cpu_seconds(perf.pid)
    loads.stop_perf(perf)
    script_cpu, nr_samples = loads.run_perf_script(data)
    print(f"  baseline: perf record for 2 s, then perf script: {time.time() - begin:.1f} s, CPU time "
          f"{cpu:.2f} + {script_cpu:.2f} s, {nr_samples} samples, frame pointers only", flush=True)


def print_first_names(flamelet):
    read_windows = otlp_windows.make_reader()
    if read_windows is None:
        print("\nprotoc or Python's protobuf is not installed: the time to the first names is left out")
        return
    with tempfile.TemporaryDirectory() as folder, many_processes(folder) as nr_programs:
        judge = Judge(folder)
        print(f"\nAn agent that starts beside {NR_PROCESSES} processes of {nr_programs} programs, {HZ} Hz; "
              f"medians of {RUNS} runs:", flush=True)
        runs = [measure_start(flamelet, read_windows, judge) for _ in range(RUNS)]
        if None in runs:
            print(f"  NOT REACHED in {RECORD_S} s", flush=True)
            return
        print_runs(runs)
        if shutil.which("perf"):
            print_perf(folder)
