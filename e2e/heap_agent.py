#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent --kind alloc,heap beside a program that knows what it keeps: what is in use is in the local record and in
what is exported, each time anew, and no more after the program has ended.

    heap_agent.py path/to/flamelet path/to/libflamelet-heap.so

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import http.server
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [HERE, os.path.join(HERE, "local"), os.path.join(HERE, "../tests/conformance")]

# pylint: disable=wrong-import-position
import heap
import host
from kinds import Destination
import otlp_check
import schema

SECONDS = 1
STARTS = 1.5
REPORT = 1
MB = 1e6
TYPES = {("inuse_space", "bytes"), ("inuse_objects", "count"), ("alloc_space", "bytes"), ("alloc_objects", "count")}


def run_program(program, library):
    """Returns what the program knows, and the times at which it has allocated everything and at which it ends."""
    with subprocess.Popen([program, str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=heap.with_library(library)) as process:
        time.sleep(REPORT)
        process.stdin.write("go\n")
        process.stdin.flush()
        lines = []
        while not lines or not lines[-1].startswith("alloc_by_thread"):
            lines.append(process.stdout.readline())
        begin = time.time()
        time.sleep(3 * REPORT)
        end = time.time()
        process.stdin.close()
    return heap.read_truth("".join(lines)), int(begin) + 2, int(end)


def ask(flamelet, store, directory, when, *words):
    """[(frames, value)]"""
    folded = os.path.join(directory, "asked.folded")
    if os.path.exists(folded):
        os.remove(folded)
    subprocess.run([flamelet, "query", when, "--store", store, "-q", "-o", folded, *words], check=False,
                   stderr=subprocess.DEVNULL)
    return heap.read_folded(folded)


def read_profiles():
    """[(type, unit, time, sum of values)], and what is wrong with the requests."""
    profiles, faults = [], []
    for body in Destination.bodies:
        faults += otlp_check.report_lines(otlp_check.check(body))
        request = schema.otlp().ExportProfilesServiceRequest.FromString(body)
        strings = request.dictionary.string_table
        profiles += [(strings[one.sample_type.type_strindex], strings[one.sample_type.unit_strindex], one.time_unix_nano / 1e9,
                      sum(sum(sample.values) for sample in one.samples))
                     for of_resource in request.resource_profiles for of_scope in of_resource.scope_profiles
                     for one in of_scope.profiles]
    return profiles, faults


def check_record(flamelet, store, directory, program_data):
    truth, begin, end = program_data
    truth.pop("alloc_by_child")
    for when in (f"{begin}..{end}", "all"):
        stacks = ask(flamelet, store, directory, when, "--kind", "heap")
        yield from heap.check_bytes(stacks, truth, 2, f"in use, {when}")
    objects = ask(flamelet, store, directory, "all", "--kind", "heap-objects")
    kept, found = truth["alloc_kept"][2] / (1 << 20), heap.sum_of(objects, "alloc_kept")
    if abs(found - kept) > 0.2 * kept:
        yield f"{kept} objects of alloc_kept are in use, and {found} are in the record"
    if ask(flamelet, store, directory, f"{end + 2}..", "--kind", "heap"):
        yield "what a program had that has ended is still in use"
    timeline = subprocess.run([flamelet, "timeline", f"{begin}..{end}", "--kind", "heap", "--step", "1s", "--by", "comm",
                               "--store", store], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    expected = sum(numbers[2] for numbers in truth.values())
    for line in timeline[1:]:
        if abs(float(line.split(",")[2]) - expected) > 0.2 * expected:
            yield f"{expected} bytes were in use all the time, and the timeline has {line}"


def check_export(program_data):
    truth, begin, end = program_data
    expected = sum(numbers[2] for numbers in truth.values())
    profiles, faults = read_profiles()
    yield from faults
    missing = TYPES - {(name, unit) for name, unit, _, _ in profiles}
    if missing:
        yield f"the agent has sent no {missing}"
    values = [value for name, _, when, value in profiles if name == "inuse_space" and begin <= when < end]
    print(f"in use: {expected / MB:.1f} MB, sent: {[round(value / MB, 1) for value in values]}")
    if not values or any(abs(value - expected) > 0.2 * expected for value in values):
        yield f"{expected} bytes were in use all the time, and the agent has sent {values}"
    late = [when for name, _, when, _ in profiles if name == "inuse_space" and when > end + 2]
    if late:
        yield f"after the program's end at {end}, something was in use at {late}"


def check(flamelet, library, directory):
    store, program = os.path.join(directory, "record"), heap.build(directory, "gcc", "heap")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Destination)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with subprocess.Popen([flamelet, "agent", "--kind", "alloc,heap", "--comm", "heap-gcc", "--store", store,
                           "--export-interval", f"{REPORT}s", "--otlp-compression", "none", "--otlp-endpoint",
                           f"http://127.0.0.1:{server.server_port}"], stderr=subprocess.PIPE) as agent:
        time.sleep(STARTS)
        program_data = run_program(program, library)
        time.sleep(4 * REPORT)
        agent.terminate()
        agent.communicate()
    if agent.returncode != 0:
        yield f"the agent ended with status {agent.returncode}"
    yield from check_record(flamelet, store, directory, program_data)
    yield from check_export(program_data)


def main(flamelet, library):
    if os.geteuid() != 0:
        print("SKIP: the agent needs root")
        return host.SKIP
    schema.skip_unless_available()
    with tempfile.TemporaryDirectory(prefix="flamelet-heap-", dir=os.getcwd()) as directory:
        problems = list(check(flamelet, library, directory))
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
