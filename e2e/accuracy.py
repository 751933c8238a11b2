#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`flamelet record` against a program whose CPU time the kernel accounts for.

    accuracy.py path/to/flamelet [OPTION-OF-RECORD...]

How CPU times are compared over the same span: the program (busy.c) idles until the recording has
begun, is busy until told to stop, and idles again before the recording ends. So all CPU time that
it uses between two readings of /proc/PID/stat falls into the profile, and neither reading has to
hit a moment.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
import record_errors
import recorder as recorders
import whole_stacks

FREQUENCY_HZ = 99
BUSY_SECONDS = 3.5
TOLERANCE = 0.02
SUMMARY_MAX_LINES = 12
KERNEL_FRAME = re.compile(r"[A-Za-z_][\w.]*(?: \[\w+\])?_\[k\]$")


class Recording:
    """The three files and the log of one run of `flamelet record`."""

    def __init__(self, directory):
        self.outputs = [f"{directory}/a.{extension}" for extension in ("pb.gz", "folded", "svg")]
        self.pprof, self.folded, self.svg = self.outputs
        self.log_path = f"{directory}/record.log"
        self.cpu_s = self.wall_s = 0.0

    def stacks(self):
        """[(frames, root first, number of samples)]"""
        lines = host.read_text(self.folded).splitlines()
        return [(line.rpartition(" ")[0].split(";"), int(line.rpartition(" ")[2]))
                for line in lines]


def compile_busy(directory):
    program = f"{directory}/busy"
    host.run("gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
             "-fno-optimize-sibling-calls", "-pthread", f"{HERE}/busy.c", "-o", program)
    return program


def make_recording(record, busy, directory):
    """Records the busy program, which is at work in the middle of the recording."""
    recording = Recording(directory)
    command = [*record, "-d", "0", "-p", str(busy.pid)]
    for output in recording.outputs:
        command += ["-o", output]
    recorder = recorders.start(command, recording.log_path)
    time.sleep(0.2)
    begin, cpu_before = time.monotonic(), host.cpu_seconds(busy.pid)
    os.kill(busy.pid, signal.SIGUSR1)
    time.sleep(BUSY_SECONDS)
    os.kill(busy.pid, signal.SIGUSR2)
    recording.wall_s = time.monotonic() - begin
    time.sleep(0.2)
    recording.cpu_s = host.cpu_seconds(busy.pid) - cpu_before
    if not recorder.is_alive():
        raise host.Failure("the recording ended too early: " + recorder.log())
    recorders.stop(recorder)
    return recording


def check_cpu_time(recording):
    """2 %; where the program had to share the CPUs, it is partly chance whom a sample hits."""
    found = sum(count for _, count in recording.stacks())
    expected = recording.cpu_s * FREQUENCY_HZ
    elsewhere = max(0.0, recording.wall_s * os.cpu_count() * FREQUENCY_HZ - expected)
    allowed = TOLERANCE * expected
    if elsewhere > 0.05 * expected:
        allowed += 2 * elsewhere ** 0.5
    error = found - expected
    print(f"CPU time by /proc {recording.cpu_s:.2f} s = {expected:.0f} samples, found {found}: "
          f"{100 * error / expected:+.2f} %, allowed {100 * allowed / expected:.1f} %")
    return [] if abs(error) <= allowed else ["the CPU time in the profile is wrong"]


def check_names(recording):
    """main and the hot function under it, and the kernel's functions, by name."""
    stacks = recording.stacks()
    hot = sum(count for frames, count in stacks
              if "main" in frames and "busy_leaf" in frames[frames.index("main"):])
    kernel = [frame for frames, _ in stacks for frame in frames if frame.endswith("_[k]")]
    nameless = sorted({frame for frame in kernel if not KERNEL_FRAME.match(frame)})
    print(f"main ... busy_leaf {hot} samples, {len(set(kernel))} kernel functions")
    faults = [] if hot else ["no stack with main and busy_leaf"]
    if os.cpu_count() > 1 and not any("read" in frame for frame in kernel):
        faults.append("no kernel function of read(2)")
    if len(nameless) > len(set(kernel)) / 20:
        faults.append(f"kernel frames without a name: {nameless[:5]}")
    return faults


def check_svg(recording):
    """Well-formed, and it says in words what it draws."""
    text = "".join(ElementTree.parse(recording.svg).getroot().itertext())
    return [f"no {name} in the SVG" for name in ("main", "busy_leaf") if name not in text]


def check_pprof(recording):
    """Read by Google's own reader where Go is, else at least by protoc."""
    if shutil.which("go"):
        command = ["go", "tool", "pprof", "-top", "-nodecount=1000", recording.pprof]
        return check_pprof_top(recording, host.run(
            *command, seconds=200, stderr=subprocess.DEVNULL))
    with subprocess.Popen(["gzip", "-dc", recording.pprof], stdout=subprocess.PIPE) as gzip:
        text = host.run("protoc", "--decode_raw", stdin=gzip.stdout)
    print("SKIP go tool pprof: Go is not installed; protoc decoded the file")
    return [] if '"busy_leaf"' in text else ["no busy_leaf in the pprof file"]


def check_pprof_top(recording, text):
    faults = [f"no {name} in the pprof file" for name in ("main", "busy_leaf")
              if not re.search(rf"\s{name}$", text, re.MULTILINE)]
    match = re.search(r"% of ([\d.]+)(ms|s) total", text)
    seconds = float(match[1]) / {"ms": 1000, "s": 1}[match[2]] if match else 0.0
    in_folded = sum(count for _, count in recording.stacks()) / FREQUENCY_HZ
    if abs(seconds - in_folded) > 0.011:
        faults.append(f"pprof says {seconds} s, the folded text {in_folded:.2f} s")
    return faults


def check_summary(recording):
    lines = host.read_text(recording.log_path).splitlines()
    faults = [f"the summary does not name {path}" for path in recording.outputs
              if not any(os.path.basename(path) in line for line in lines)]
    if len(lines) > SUMMARY_MAX_LINES:
        faults.append(f"the summary has {len(lines)} lines")
    return faults


CHECKS = (check_cpu_time, check_names, check_svg, check_pprof, check_summary)


def guarded(check, *arguments):
    """Runs a check; what it could not cope with counts as a fault, and the others still run."""
    try:
        faults = check(*arguments)
    except (host.Failure, OSError, ValueError, ElementTree.ParseError,
            subprocess.TimeoutExpired) as error:
        faults = [str(error)]
    print(f"{'FAIL' if faults else 'ok':<5} {check.__name__}", flush=True)
    return [f"{check.__name__}: {fault}" for fault in faults]


def test_accuracy(record, directory):
    busy = host.Process("busy", [compile_busy(directory), str(os.cpu_count())],
                        f"{directory}/busy.log")
    try:
        recording = make_recording(record, busy, directory)
    except host.Failure as failure:
        return [str(failure)]
    finally:
        busy.finish(first=signal.SIGKILL)
    return [fault for check in CHECKS for fault in guarded(check, recording)]


def test_cases(cases, subject, directory):
    faults = []
    for case in cases:
        case_directory = f"{directory}/{case.__name__}"
        os.mkdir(case_directory)
        faults += guarded(case, subject, case_directory)
    return faults


def check(binary, *options):
    host.require("gcc", "protoc", "setpriv")
    record = [binary, "record", *options]
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        os.chmod(directory, 0o755)
        faults = test_accuracy(record, directory)
        faults += test_cases(whole_stacks.CASES, record, directory)
        if not options:
            faults += test_cases(record_errors.CASES, binary, directory)
    return faults


if __name__ == "__main__":
    sys.exit(host.judge(check, os.path.abspath(sys.argv[1]), *sys.argv[2:]))
