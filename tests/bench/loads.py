# SPDX-License-Identifier: Apache-2.0
"""The processes of a benchmark: loads, the agent with a destination, perf."""

import http.server
import os
import signal
import stat
import subprocess
import threading
import time

SOFTWARE = ("/usr", "/opt", "/home", "/root", "/srv", "/var")
DEBUG_FILES = "/usr/lib/debug"  # have no code
ELF64 = b"\x7fELF\x02\x01"
ELF_TYPES = (2, 3)      # ET_EXEC, ET_DYN
EM_X86_64 = 62


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


def start_agent(flamelet, hz, endpoint, interval="5s", options=()):
    return subprocess.Popen(
        [flamelet, "agent", "--frequency", str(hz), "--otlp-endpoint", endpoint, "--export-interval", interval,
         *options], stderr=subprocess.PIPE, text=True)


def stop_agent(agent):
    """Ends the agent and returns its counters."""
    agent.send_signal(signal.SIGTERM)
    log = agent.communicate()[1]
    if agent.returncode != 0:
        raise SystemExit(f"bench: agent failed:\n{log}")
    last = [line for line in log.splitlines() if "counters:" in line][-1]
    return {k: int(v) for k, v in (f.split("=") for f in last.replace('"', "").split() if f.count("=") == 1)
            if v.isdigit()}


def start_deep(deep, depth):
    """One on each CPU."""
    return [subprocess.Popen([deep, str(depth), "600"]) for _ in range(os.cpu_count())]


def end(processes):
    for process in processes:
        process.kill()
        process.wait()


def start_perf(hz, stacks, output):
    """perf record of all CPUs. `stacks` is "fp" or "dwarf": in the latter, a copy of 8 KB of each stack."""
    return subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(hz), "-a", "--call-graph",
                             stacks, "-o", output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop_perf(perf):
    perf.send_signal(signal.SIGINT)
    perf.wait()


def run_perf_script(data, *options):
    """perf script of a recording, which names and, where stacks were copied, unwinds: its CPU time and the number
    of samples."""
    script = subprocess.Popen(["perf", "script", "-i", data, "-F", "comm,ip,sym", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    nr_samples = sum(not line[:1].isspace() for line in script.stdout)
    _, _, usage = os.wait4(script.pid, 0)
    script.stdout.close()
    script.returncode = 0
    return usage.ru_utime + usage.ru_stime, nr_samples


def is_elf(path):
    """A program or library for this machine's 64-bit code."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return (head.startswith(ELF64) and int.from_bytes(head[16:18], "little") in ELF_TYPES
            and int.from_bytes(head[18:20], "little") == EM_X86_64)


def identity_of(path):
    """(device, inode) of a file that may be a program or library, else None."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    is_code = status.st_mode & 0o111 != 0 or ".so" in path or path.endswith(".node")
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) and is_code else None


def find_elf_files():
    """All programs and libraries of this machine, each once."""
    seen = {None}
    for folder, folders, names in (step for root in SOFTWARE for step in os.walk(root)):
        folders[:] = [name for name in folders if os.path.join(folder, name) != DEBUG_FILES]
        for name in names:
            path = os.path.join(folder, name)
            identity = identity_of(path)
            if identity not in seen and "\n" not in path and is_elf(path):
                seen.add(identity)
                yield path


def start_map_files(map_files, paths, files_a_second):
    """Maps the code of all files in one process; returns it when that is done, and how many files those were."""
    load = subprocess.Popen([map_files, "600", str(files_a_second)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, errors="surrogateescape")
    for path in paths:
        load.stdin.write(path + "\n")
    load.stdin.close()
    return load, int(load.stdout.readline())


def wait_until_steady(value, seconds, pause=1.0):
    """Until value() has not changed for five readings, but no longer than so many seconds."""
    readings = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        readings.append(value())
        if len(readings) >= 5 and len(set(readings[-5:])) == 1:
            return
        time.sleep(pause)
