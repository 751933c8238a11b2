#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind growth on a program that knows by how much its resident memory grows: by small and by huge pages,
by what a system call writes, by pages that are copied after a fork, by a mapped file, and by shared memory. The functions
that do it must have the growth that the kernel reports in /proc/PID/status.

    growth.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [os.path.join(HERE, "local"), os.path.join(HERE, "../tests/conformance")]

# pylint: disable=wrong-import-position
import host
from kinds import Destination, build, read_folded, record
import otlp_check
import schema

MB = 1 << 20
GROWN_MB = 300
STARTS = 2
# On each CPU, the distances between the points that choose samples are 1 MB on average, and 1.5 MB at most: that much is
# counted too early or too late where a function begins and where it ends. Two CPUs are usual, as threads move.
TOLERANCE = 0.02
# Beside others that grow fast, the agent raises the distances.
TOLERANCE_BESIDE_OTHERS = 0.25
WAYS = {"grow_small": "[anonymous memory]", "grow_huge": "[anonymous memory]", "grow_by_read": "[anonymous memory]",
        "grow_copied": "[anonymous memory]", "grow_file": "[file pages]", "grow_shared": "[shared memory]"}


def make_file(directory):
    path = os.path.join(directory, "content")
    with open(path, "wb") as file:
        for _ in range(GROWN_MB):
            file.write(os.urandom(4096) * 256)
    return path


def read_truth(output):
    """{way: (pid, bytes)}"""
    lines = [line.split() for line in output.splitlines() if line.startswith("grow_")]
    return {way: (pid, int(grown)) for way, pid, _, grown in lines}


def check_sums(stacks, truth, tolerance):
    """A stack begins with its process."""
    for way, (pid, grown) in truth.items():
        mine = [(frames, value) for frames, value in stacks if frames[0] == f"pid {pid}" and way in frames]
        found = sum(value for frames, value in mine if frames[-1] == WAYS[way])
        if abs(found - grown) > tolerance * grown:
            yield f"{way} grew by {grown / MB:.1f} MB, and has {found / MB:.1f} MB in the profile"
        other = sum(value for frames, value in mine if frames[-1] != WAYS[way])
        if other > tolerance * grown:
            yield f"{way} has {other / MB:.1f} MB of other memory than {WAYS[way]}"
        print(f"{way}: {grown / MB:.2f} MB grown, {found / MB:.2f} MB in the profile")


def check_growth(flamelet, directory, program, content):
    folded, svg, page = (os.path.join(directory, f"growth.{kind}") for kind in ("folded", "svg", "html"))
    done = record(flamelet, "--kind", "growth", "-g", "pid", "-o", folded, "-o", svg, "-o", page, "--", program,
                  str(GROWN_MB), content, *WAYS)
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    truth = read_truth(done.stdout)
    if set(truth) != set(WAYS) or min(grown for _, grown in truth.values()) < 0.9 * GROWN_MB * MB:
        yield f"the program did not grow as it should: {truth}"
    yield from check_sums(read_folded(folded), truth, TOLERANCE)
    for words in ("resident memory grew by 1", "memory           66", "[file pages]", "grow_small"):
        if words not in done.stdout:
            yield f"the summary lacks {words}: {done.stdout}"
    with open(svg, encoding="utf-8") as file:
        picture = file.read()
    for words in ("growth of resident memory", "grow_shared", "[shared memory]"):
        if words not in picture:
            yield f"the flame graph lacks {words}"


def check_machine(flamelet, directory, program, content):
    """The whole machine is recorded until the program has ended."""
    folded = os.path.join(directory, "machine.folded")
    with subprocess.Popen([flamelet, "record", "--kind", "growth", "-d", "0", "-q", "-g", "pid", "-o", folded]) as recording:
        time.sleep(STARTS)
        done = subprocess.run([program, str(GROWN_MB), content, "grow_small", "grow_huge"], stdout=subprocess.PIPE,
                              text=True, check=True)
        recording.send_signal(signal.SIGINT)
    if recording.returncode != 0:
        yield f"exit status {recording.returncode}"
        return
    yield from check_sums(read_folded(folded), read_truth(done.stdout), TOLERANCE_BESIDE_OTHERS)


def read_sums():
    """{(type, unit, period type): sum of all values}, and what is wrong with the requests."""
    sums, faults = {}, []
    for body in Destination.bodies:
        faults += otlp_check.report_lines(otlp_check.check(body))
        request = schema.otlp().ExportProfilesServiceRequest.FromString(body)
        strings = request.dictionary.string_table
        for profile in (profile for of_resource in request.resource_profiles for of_scope in of_resource.scope_profiles
                        for profile in of_scope.profiles):
            key = tuple(strings[i] for i in (profile.sample_type.type_strindex, profile.sample_type.unit_strindex,
                                             profile.period_type.type_strindex))
            sums[key] = sums.get(key, 0) + sum(sum(sample.values) for sample in profile.samples)
    return sums, faults


def check_export(flamelet, program, content):
    """An agent sends growth beside CPU time."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Destination)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with subprocess.Popen([flamelet, "agent", "--kind", "cpu,growth", "--comm", "growth", "--otlp-compression", "none",
                           "--otlp-endpoint", f"http://127.0.0.1:{server.server_port}"], stderr=subprocess.PIPE) as agent:
        time.sleep(STARTS)
        subprocess.run([program, str(GROWN_MB), content, "grow_small"], stdout=subprocess.DEVNULL, check=True)
        agent.terminate()
        agent.communicate()
    sums, faults = read_sums()
    yield from faults
    grown = sums.get(("rss_growth", "bytes", "memory"), 0) / MB
    if abs(grown - GROWN_MB) > TOLERANCE_BESIDE_OTHERS * GROWN_MB or ("samples", "count", "cpu") not in sums:
        yield f"the agent has sent {sums}"


def check_refusal(flamelet, directory):
    done = record(flamelet, "--kind", "growth", "--capture", "perf", "-d", "1", "-o", os.path.join(directory, "x.svg"))
    if done.returncode != 1 or "need --capture=bpf" not in done.stderr:
        yield f"perf: exit status {done.returncode}: {done.stderr}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    schema.skip_unless_available()
    with tempfile.TemporaryDirectory(prefix="flamelet-growth-", dir=os.getcwd()) as directory:
        program, content = build(directory, "growth"), make_file(directory)
        problems = [*check_growth(flamelet, directory, program, content),
                    *check_machine(flamelet, directory, program, content),
                    *check_export(flamelet, program, content), *check_refusal(flamelet, directory)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
