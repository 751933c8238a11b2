# SPDX-License-Identifier: Apache-2.0
"""Checks that `flamelet record` finds the whole stacks of a program without frame pointers
(frameless.c). Each case takes the words that start a recording, `flamelet record` and options, and
an empty directory, and returns what is wrong."""

import os
import signal

import host
import recorder

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "frameless"
CALLS = ["main", "outer_call", "middle_call", "inner_call", "hot_leaf"]
MIN_SAMPLES = 50
CPU_SECONDS = 2


def compile_frameless(directory):
    program = f"{directory}/{NAME}"
    host.run("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-fomit-frame-pointer",
             f"{HERE}/frameless.c", "-o", program)
    return program


def is_whole(frames):
    """From _start through main() and all that it calls, without a gap: up to the leaf, or to the
    function where the CPU was before. main() looks at a clock, too."""
    if frames[1:2] != ["_start"] or "main" not in frames:
        return False
    called = [frame for frame in frames[frames.index("main"):]
              if not frame.endswith("_[k]") and "clock_gettime" not in frame]
    return called == CALLS[:len(called)] or called[:len(CALLS)] == CALLS


def read_stacks(path):
    """[(frames, root first, number of samples)] of the program"""
    stacks = []
    for line in host.read_text(path).splitlines():
        frames, _, count = line.rpartition(" ")
        if frames.split(";")[0] == NAME:
            stacks.append((frames.split(";"), int(count)))
    return stacks


def check(path, least):
    """At least this share of the samples is whole, and nearly all are in the leaf."""
    stacks = read_stacks(path)
    total = sum(count for _, count in stacks)
    whole = sum(count for frames, count in stacks if is_whole(frames))
    hot = sum(count for frames, count in stacks if is_whole(frames) and CALLS[-1] in frames)
    print(f"without frame pointers: {whole} of {total} stacks are whole, {hot} from the leaf")
    if total < MIN_SAMPLES:
        return [f"only {total} samples"]
    broken = [";".join(frames) for frames, _ in stacks if not is_whole(frames)]
    faults = [] if whole >= least * total else [f"{whole} of {total} stacks are whole: {broken[:5]}"]
    if hot < 0.9 * total:
        faults.append(f"only {hot} of {total} samples are from {CALLS[-1]}")
    return faults


def of_a_running_program(record, directory):
    program = host.Process(NAME, [compile_frameless(directory), "600"], f"{directory}/program.log")
    try:
        host.wait_until_busy(program.pid)
        recorder.record_work([*record, "-o", f"{directory}/a.folded"], program.pid, CPU_SECONDS,
                             f"{directory}/record.log")
    finally:
        program.finish(first=signal.SIGKILL)
    return check(f"{directory}/a.folded", 0.99)


def of_a_command(record, directory):
    """The first samples come before its files are read, which takes longer on a busy machine."""
    program = compile_frameless(directory)
    host.run(*record, "-q", "-o", f"{directory}/a.folded", "--", program, "2")
    return check(f"{directory}/a.folded", 0.9)


CASES = (of_a_running_program, of_a_command)
