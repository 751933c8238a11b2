#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make demo` on an idle machine shows three programs whole: from _start, with their functions, the inlined ones among them.
They end with the recording, and do not run where they are not wanted.

    demo.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import collections
import os
import sys
import tempfile

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host

RUN = os.path.join(E2E, "../demo/run")
SECONDS = 8
MIN_SAMPLES = 20
MIN_WHOLE = 0.98        # of the stacks that were taken when tables were there
MIN_READY = 0.5         # of all: on a busy machine that takes a second
MIN_NAMED = 0.98
NOT_YET = ("[unwind table not loaded yet]", "[process not known yet]")

# Thread: functions that are seen on the way.
PROGRAMS = {
    "compress": ["main", "find_matches", "find_longest_match", "match_length_[i]"],
    "report": ["main", "make_report", "parse_value", "parse_object", "sum_by_customer"],
    "perl": ["perl_run", "Perl_runops_standard", "Perl_pp_match"],
}


def run_demo(binary, directory, programs):
    """Returns what it prints, and the stacks: [(frames, root first, number of samples)] by thread."""
    output = f"{directory}/{programs}.folded"
    text = host.run(RUN, binary, f"{directory}/programs", output, str(SECONDS), seconds=300,
                    env={**os.environ, "PROGRAMS": programs})
    stacks = collections.defaultdict(list)
    for line in host.read_text(output).splitlines():
        frames, _, count = line.rpartition(" ")
        name, *frames = frames.split(";")
        stacks[name].append((frames, int(count)))
    return text, stacks


def share(stacks, is_right):
    total = sum(count for _, count in stacks)
    return sum(count for frames, count in stacks if is_right(frames)) / total


def is_named(frames):
    return not any("+0x" in frame for frame in frames)


def check_program(name, functions, stacks):
    total = sum(count for _, count in stacks)
    if total < MIN_SAMPLES:
        return [f"{name} has {total} samples"]
    ready = [(frames, count) for frames, count in stacks if frames[0] not in NOT_YET]
    nr_ready = sum(count for _, count in ready)
    if nr_ready < MIN_READY * total:
        return [f"tables were there for {nr_ready} of {total} samples of {name}"]
    whole, named = share(ready, lambda frames: frames[0] == "_start"), share(ready, is_named)
    seen = {frame for frames, _ in stacks for frame in frames}
    print(f"{name}: {total} samples, {nr_ready} with tables, of these {100 * whole:.1f} % whole, {100 * named:.1f} % named")
    faults = [f"{name} is never seen in {wanted}" for wanted in functions
              if not any(wanted in frame for frame in seen)]
    if whole < MIN_WHOLE:
        faults.append(f"{100 * whole:.1f} % of {name} is whole")
    if named < MIN_NAMED and name != "perl":
        faults.append(f"{100 * named:.1f} % of {name} is named")
    return faults


def left_running(directory):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        command = host.read_text(f"/proc/{pid}/cmdline") if os.path.exists(f"/proc/{pid}/cmdline") else ""
        if f"{directory}/programs/" in command or "demo/words.pl" in command:
            found.append(command.replace("\0", " "))
    return found


def check(binary):
    faults = []
    with tempfile.TemporaryDirectory(prefix="flamelet-demo-") as directory:
        text, stacks = run_demo(binary, directory, "always")
        for name, functions in PROGRAMS.items():
            faults += check_program(name, functions, stacks[name])
        if f"written         {directory}/" not in text or "compress (C), report (C++), words.pl (Perl)" not in text:
            faults.append(f"it does not say what it does: {text}")
        faults += [f"still there: {command}" for command in left_running(directory)]
        text, stacks = run_demo(binary, directory, "never")
        if "Beside the recording" in text or set(PROGRAMS) & set(stacks):
            faults.append(f"programs run that are not wanted: {text}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    options = parser.parse_args()
    return host.judge(check, os.path.abspath(options.binary))


if __name__ == "__main__":
    sys.exit(main())
