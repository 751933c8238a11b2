#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records processes from their first moment on: short-lived ones, ones that start again and again, and ones of many
different files.

    check_starts.py path/to/flamelet [CASE]...

Each process is busy in one function, and says for how much CPU time. The samples in this function, by its name, tell how
much of that time the profile has: what is missing is what the profiler needed to find the runtime in a new process.

Exit status 0: enough is there; 1: not enough; 77: it cannot run here."""

import argparse
import collections
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../..", folder))

# pylint: disable=wrong-import-position
import host
import recorder
import recordings
import schema
import versions

HZ = 199
LOADS = os.path.join(HERE, "loads")
PYTHON = "/usr/bin/python3"
FUNCTIONS = ("burn", "Burn.burn")
LATE_S = 0.2


class Burner:
    """Processes one after the other; how long each was busy, by its pid."""

    def __init__(self):
        self.busy_s = {}

    def run(self, *command):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
            output = process.communicate()[0]
        if process.returncode != 0:
            raise host.Failure(f"{command[0]}: exit {process.returncode}")
        self.busy_s[process.pid] = float(output.split()[-1])


def is_busy(sample):
    """Is it in the function, by its name?"""
    return any(line.name.partition("(")[0] in FUNCTIONS for location in sample.locations for line in location.lines)


def seen_seconds(samples):
    """By pid: the time that the profile has of the function."""
    seen = collections.Counter()
    for sample in samples:
        if is_busy(sample):
            seen[sample.labels["pid"]] += sample.count / HZ
    return seen


def short_lived(burner, _directory):
    """500 of 60 ms."""
    for _ in range(500):
        burner.run(PYTHON, "-S", "-E", f"{LOADS}/burn.py", "0.06")


def many_files(burner, directory):
    """Forty interpreters, each another file."""
    for number in range(40):
        program = shutil.copy(os.path.realpath(PYTHON), f"{directory}/python-{number}")
        with open(program, "ab") as file:
            file.write(f"{number}\n".encode())
        burner.run(program, f"{LOADS}/burn.py", "0.6")


def python_starts(burner, _directory):
    for _ in range(50):
        burner.run(PYTHON, f"{LOADS}/burn.py", "0.6")


def library_of_python():
    directory, architecture, name = sysconfig.get_config_vars("LIBDIR", "MULTIARCH", "INSTSONAME")
    for path in (f"{directory}/{name}", f"/usr/lib/{architecture}/{name}"):
        if name.startswith("libpython") and os.path.exists(path):
            return path
    raise host.Skip("there is no libpython to load")


def embedded_starts(burner, directory):
    """A libpython that a process loads when it is known already, and starts twice."""
    host.require("cc")
    library, program = library_of_python(), f"{directory}/embedded"
    host.run("cc", "-O1", "-o", program, f"{LOADS}/embedded.c", "-ldl")
    for _ in range(20):
        burner.run(program, library, f"{LOADS}/burn.py", "0.6")


def node_starts(burner, _directory):
    host.require("node")
    for _ in range(50):
        burner.run("node", f"{LOADS}/burn.js", "0.6")


def deno_starts(burner, _directory):
    """Its file is searched for V8 once, beside the first process."""
    deno, = (version for version in versions.VERSIONS if version.name.startswith("Deno"))
    runtime = deno.runtime()
    for _ in range(50):
        burner.run("env", *(f"{key}={value}" for key, value in runtime.environment), *runtime.start(), f"{LOADS}/burn.js", "0.6")


def java_starts(burner, directory):
    host.require("java", "javac")
    host.run("javac", "-d", directory, f"{LOADS}/Burn.java")
    for _ in range(50):
        burner.run("java", "-Xshare:auto", "-Xmx64m", "-cp", directory, "Burn", "0.6")


# The share of the time in the function that must be there in all; and of how many processes all but LATE_S must be. Both
# leave room for what a busy machine is late with: on a quiet one, 90 % and more of each are there.
CASES = {
    "short-lived": (short_lived, 75, 0),
    "many-files": (many_files, 80, 90),
    "python-starts": (python_starts, 80, 90),
    "embedded-starts": (embedded_starts, 60, 50),
    "node-starts": (node_starts, 60, 90),
    "deno-starts": (deno_starts, 60, 90),
    "java-starts": (java_starts, 60, 90),
}


def check_case(binary, name, directory):
    run, least, least_in_time = CASES[name]
    burner, path = Burner(), f"{directory}/{name}.pb.gz"
    recording = recorder.start([binary, "record", "-F", str(HZ), "-d", "0", "-o", path], f"{path}.log")
    try:
        run(burner, directory)
    finally:
        recorder.stop(recording)
    seen = seen_seconds(recordings.read(path, schema.pprof().Profile))
    total, found = sum(burner.busy_s.values()), sum(seen[pid] for pid in burner.busy_s)
    late = {pid: round(busy - seen[pid], 2) for pid, busy in burner.busy_s.items() if busy - seen[pid] > LATE_S}
    in_time = 100 - 100 * len(late) / len(burner.busy_s)
    print(f"{name:<16} {len(burner.busy_s):>4} processes, {100 * found / total:6.1f} % of their time is named, "
          f"{in_time:6.1f} % of them within {LATE_S} s", flush=True)
    if 100 * found < least * total or in_time < least_in_time:
        return [f"{name}: {100 * found / total:.1f} % of the time, late: {sorted(late.values())[-5:]}"]
    return []


def check(options):
    schema.skip_unless_available()
    faults = []
    with tempfile.TemporaryDirectory(prefix="flamelet-starts-") as directory:
        for name in options.cases:
            try:
                faults += check_case(options.binary, name, directory)
            except host.Skip as skip:
                print(f"SKIP {name}: {skip}", flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
