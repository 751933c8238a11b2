#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs that live for milliseconds have whole stacks with names, once their files
have been seen; that a file that is written over is read anew, and a library that is loaded where
another one was.

    short_lived.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host

NR_SLEEPERS = 100
FREQUENCY_HZ = "499"
MIN_SAMPLES = 20
CALLS = ["main", "outer_call", "middle_call", "hot_leaf"]
# Its libraries are alike but for names and for the frames of their functions, so that both are mapped at one address.
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void run_first(void (*work)(void))
{
	work();
	__asm__ volatile("");
}

__attribute__((noinline)) void run_second(void (*work)(void))
{
	work();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	unsigned long last = 0;
	int nr_same = 0;

	for (int i = 0; argc == 3 && i < NR_LOADS; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		void *work = library ? dlsym(library, "work") : NULL;

		if (!work)
			return 1;
		nr_same += (unsigned long)work >> 12 == last;
		last = (unsigned long)work >> 12;
		(i % 2 ? run_second : run_first)((void (*)(void))work);
		dlclose(library);
	}
	printf("%d\\n", nr_same);
	return 0;
}
"""
LIBRARY = """
#include <string.h>
#include <time.h>

volatile unsigned long sink;

static long cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((noinline)) void LEAF(long end)
{
	volatile char frame[FRAME];

	memset((void *)frame, 0, sizeof(frame));
	while (cpu_us() < end)
		for (int i = 0; i < 5000; i++)
			sink += frame[i % sizeof(frame)] + 1;
}

void work(void)
{
	volatile char frame[FRAME];

	memset((void *)frame, 0, sizeof(frame));
	LEAF(cpu_us() + 30000);
	sink += frame[0];
}
"""
NR_LOADS = 100
MAKEFILE = """
sources = $(wildcard %(root)s/base/*.c %(root)s/k8s/*.c)
vpath %%.c %(root)s/base %(root)s/k8s
all: $(patsubst %%.c,%%.o,$(notdir $(sources)))
%%.o: %%.c
	gcc -O2 -std=gnu17 -D_GNU_SOURCE '-DFLAMELET_VERSION="0"' -isystem /usr/include/cjson -I%(root)s -c $< -o $@
"""

PROGRAM = """
#include <stdlib.h>
#include <time.h>

volatile unsigned long sink;

static long cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

%(before)s

__attribute__((noinline)) void hot_leaf(long end)
{
	while (cpu_us() < end)
		for (int i = 0; i < 5000; i++)
			sink += (unsigned long)i;
	sink++;
}

__attribute__((noinline)) void middle_call(long end)
{
	hot_leaf(end);
	sink++;
}

__attribute__((noinline)) void outer_call(long end)
{
	middle_call(end);
	sink++;
}

int main(int argc, char **argv)
{
	outer_call(cpu_us() + (argc > 1 ? atol(argv[1]) : 1000));
	return 0;
}
"""
# Code that is somewhere else in the file than the first version's.
MORE_CODE = """
__attribute__((noinline)) void other_code(long end)
{
%s
}
""" % "\n".join("	sink += (unsigned long)end * sink + %d;" % i for i in range(400))


def compile_program(directory, name, before=""):
    source = f"{directory}/{name}.c"
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM % {"before": before})
    host.run("gcc", "-O2", "-fomit-frame-pointer", source, "-o", f"{directory}/{name}")


def read_stacks(path, comms):
    """[(frames, root first, number of samples)] of these processes"""
    stacks = []
    for line in host.read_text(path).splitlines():
        frames, _, count = line.rpartition(" ")
        if frames.split(";")[0] in comms:
            stacks.append((frames.split(";")[1:], int(count)))
    return stacks


def is_whole(frames):
    """No word in brackets that says why the stack ends, or that a function has no name."""
    return not any(re.fullmatch(r"\[[^\]]*\]", frame) and frame not in ("[vdso]", "[anon]") for frame in frames)


def judge(what, stacks, least):
    total = sum(count for _, count in stacks)
    whole = sum(count for frames, count in stacks if is_whole(frames))
    print(f"{what}: {whole} of {total} stacks are whole")
    if total < MIN_SAMPLES:
        return [f"{what}: only {total} samples"]
    if whole < least * total:
        broken = [";".join(frames) for frames, _ in stacks if not is_whole(frames)]
        return [f"{what}: {whole} of {total} stacks are whole: {broken[:5]}"]
    return []


def of_short_programs(flamelet, directory):
    """Many processes sleep; another one is started fifty times a second."""
    compile_program(directory, "short")
    sleepers = [host.Process("sleeper", ["sleep", "600"], f"{directory}/sleeper.log") for _ in range(NR_SLEEPERS)]
    loop = host.Process("loop", ["sh", "-c", f"while :; do {directory}/short 4000; sleep 0.01; done"],
                        f"{directory}/loop.log")
    try:
        host.run(flamelet, "record", "-q", "-d", "5s", "-F", FREQUENCY_HZ, "--comm", "short",
                 "-o", f"{directory}/a.folded")
    finally:
        for process in [loop, *sleepers]:
            process.finish()
    stacks = read_stacks(f"{directory}/a.folded", ["short"])
    faults = judge("short programs", stacks, 0.9)
    named = sum(count for frames, count in stacks if all(call in frames for call in CALLS))
    total = sum(count for _, count in stacks)
    if named < 0.4 * total:
        faults.append(f"short programs: only {named} of {total} samples have {CALLS}")
    return faults


def of_a_build(flamelet, directory):
    """Some of this project's own files. The compiler's own tables are made while it runs for the first time."""
    with open(f"{directory}/Makefile", "w", encoding="utf-8") as file:
        file.write(MAKEFILE % {"root": os.path.dirname(HERE)})
    host.run(flamelet, "record", "-q", "-F", FREQUENCY_HZ, "-o", f"{directory}/b.folded", "--",
             "make", "-s", "-C", directory, "-j2", seconds=300)
    return judge("a build", read_stacks(f"{directory}/b.folded", ["make", "gcc", "cc1", "as", "sh"]), 0.85)


def of_a_file_that_is_written_over(flamelet, directory):
    """The same inode has another program, while the first one's names and tables are kept."""
    compile_program(directory, "first")
    compile_program(directory, "second", MORE_CODE)
    change = f"cat {directory}/second >{directory}/changing"
    runs = f"for i in 1 2 3 4 5 6 7 8 9 10; do {directory}/changing 100000; done"
    host.run("cp", f"{directory}/first", f"{directory}/changing")
    recorder = host.Process("recorder", [flamelet, "record", "-q", "-F", FREQUENCY_HZ, "-d", "0", "--comm", "changing",
                                         "-o", f"{directory}/c.folded"], f"{directory}/recorder.log")
    try:
        time.sleep(1)
        host.run("sh", "-c", f"{runs}; {change}; {runs}")
    finally:
        recorder.finish()
    stacks = read_stacks(f"{directory}/c.folded", ["changing"])
    faults = judge("a file that is written over", stacks, 0.9)
    strange = [frames for frames, _ in stacks if is_whole(frames) and
               ("other_code" in frames or ("hot_leaf" in frames and not all(call in frames for call in CALLS)))]
    return faults + [f"wrong callers: {frames}" for frames in strange[:3]]


def of_a_library_in_the_place_of_another(flamelet, directory):
    """dlclose() and dlopen(): the second library's code is where the first one's was a moment ago."""
    for name, text, options in (("loader", LOADER, (f"-DNR_LOADS={NR_LOADS}",)),
                                ("first.so", LIBRARY, ("-shared", "-fPIC", "-DLEAF=leaf_first", "-DFRAME=64")),
                                ("second.so", LIBRARY, ("-shared", "-fPIC", "-DLEAF=leaf_other", "-DFRAME=1600"))):
        with open(f"{directory}/{name}.c", "w", encoding="utf-8") as file:
            file.write(text)
        host.run("gcc", "-O2", "-fomit-frame-pointer", f"{directory}/{name}.c", "-o", f"{directory}/{name}", *options)
    output = host.run(flamelet, "record", "-q", "-F", FREQUENCY_HZ, "-o", f"{directory}/d.folded", "--",
                      f"{directory}/loader", f"{directory}/first.so", f"{directory}/second.so", seconds=60)
    if int(output.split()[-1]) < NR_LOADS // 2:
        raise host.Skip(f"libraries are not mapped at one address: {output}")
    stacks = read_stacks(f"{directory}/d.folded", ["loader"])
    faults = judge("a library in the place of another", stacks, 0.9)
    strange = [frames for frames, _ in stacks if ("run_first" in frames and "leaf_other" in frames) or
               ("run_second" in frames and "leaf_first" in frames)]
    return faults + [f"wrong callers: {frames}" for frames in strange[:3]]


CASES = (of_short_programs, of_a_build, of_a_file_that_is_written_over, of_a_library_in_the_place_of_another)


def check(flamelet):
    host.require("gcc", "make")
    faults = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as directory:
            faults += case(flamelet, directory)
    return faults


if __name__ == "__main__":
    sys.exit(host.judge(check, os.path.abspath(sys.argv[1])))
