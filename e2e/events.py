#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind sw:EVENT on a program that knows how many events its functions make: by both capture backends, the
functions have these numbers. An event that the machine does not count is refused with a message.

    events.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from kinds import build, read_folded, record

NR = 60000
FUNCTIONS = {"fault_often", "fault_seldom", "sleep_often"}
# A sample stands for a period of events on one CPU; a thread that moves leaves a part of one on each.
TOLERANCE = 0.05
# perf copies 32 KB of the stack for each sample.
PERIODS = {"bpf": {"page-faults": "101", "context-switches": "11"}, "perf": {"page-faults": "499"}}


def read_truth(output, event):
    """{function: events}, of those that made many."""
    lines = [line.split() for line in output.splitlines() if line.split()[0] in FUNCTIONS]
    return {function: int(nr) for function, name, nr in lines if name == event and int(nr) > NR / 20}


def check_sums(stacks, truth, what):
    """The first stacks of a program may be cut off before the function, but they count."""
    cut_off = sum(value for frames, value in stacks if not FUNCTIONS & set(frames))
    if not truth:
        yield f"{what}: the program made none"
    for function, nr in truth.items():
        found = sum(value for frames, value in stacks if function in frames and "main" in frames)
        print(f"{what}: {function} made {nr}, and has {found} in the profile, beside {cut_off} without a function")
        if found > (1 + TOLERANCE) * nr or found + cut_off < (1 - TOLERANCE) * nr or found < nr / 2:
            yield f"{what}: {function} made {nr}, and has {found} in the profile, beside {cut_off} without a function"


def check_event(flamelet, directory, program, backend, event, period):
    folded, svg = os.path.join(directory, "events.folded"), os.path.join(directory, "events.svg")
    done = record(flamelet, "--kind", f"sw:{event}", "--event-period", period, "--capture", backend, "-o", folded, "-o", svg,
                  "--", program, str(NR))
    if done.returncode != 0:
        yield f"{backend}, {event}: exit status {done.returncode}: {done.stderr}"
        return
    yield from check_sums(read_folded(folded), read_truth(done.stdout, event), f"{backend}: {event}")
    if f" {event} in " not in done.stdout:
        yield f"the summary does not count {event}: {done.stdout}"
    with open(svg, encoding="utf-8") as file:
        picture = file.read()
    if f"by {event}" not in picture or event not in picture:
        yield f"the flame graph does not say {event}"


def check_hardware(flamelet, directory):
    """Cycles, or a message that says why not. `flamelet doctor` says the same."""
    folded = os.path.join(directory, "cycles.folded")
    done = record(flamelet, "--kind", "hw:cycles", "-o", folded, "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
    doctor = subprocess.run([flamelet, "doctor"], stdout=subprocess.PIPE, text=True, check=False).stdout
    if done.returncode == 0:
        if "can be counted: cycles" not in doctor:
            yield f"cycles are counted, and doctor says: {doctor}"
        if not any(frames[0] == "sh" for frames, _ in read_folded(folded)):
            yield "the shell has no cycles"
        return
    print("no performance monitoring unit: hw:cycles is refused")
    if "does not count cycles" not in done.stderr or "hardware events      are not counted" not in doctor:
        yield f"hw:cycles: exit status {done.returncode}: {done.stderr}; doctor says: {doctor}"


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    problems = []
    with tempfile.TemporaryDirectory(prefix="flamelet-events-") as directory:
        program = build(directory, "events")
        for backend, events in PERIODS.items():
            for event, period in events.items():
                problems += check_event(flamelet, directory, program, backend, event, period)
        problems += check_hardware(flamelet, directory)
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
