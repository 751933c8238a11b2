#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares how many instructions a kernel's verifier looked at with what instructions.txt says.

    check_instructions.py [--write] PROGRAM_SIZES               runs it, on this machine
    check_instructions.py [--write] --of RELEASE ARCHITECTURE FILE    what it has printed elsewhere

A kernel goes by the longest series that its release begins with; one of no series is told and is no fault. --write
puts what was measured into the file. Exit status 1: a program grew, or is not in both; 77: it cannot run here."""

import argparse
import os
import platform
import subprocess
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.txt")
MAX_GROWTH_PERCENT = 10


def parse(lines):
    """Pairs, of all but comments, of the words that come first and the number that ends the line."""
    words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {tuple(line[:-1]): int(line[-1]) for line in words}


def parse_sizes(text):
    """{program: instructions}, of what program_sizes prints."""
    return {program: number for (program,), number in parse(text.splitlines()).items()}


def read(path=PATH):
    """The comments on top, and {(series, architecture, program): instructions}."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [line for line in lines if line.startswith("#")], parse(lines)


def series_of(release, known):
    """A series that is not known is the first two numbers."""
    fitting = [series for series, _, _ in known if f"{release}.".startswith(f"{series}.")]
    return max(fitting, key=len, default=".".join(release.split(".")[:2]))


def compare(release, architecture, sizes, known):
    """The faults; None: nothing is known of that kernel."""
    series = series_of(release, known)
    expected = {program: number for (*kernel, program), number in known.items() if kernel == [series, architecture]}
    if not expected:
        return None
    faults = [f"{program}: {expected[program]} instructions before, {number} now"
              for program, number in sizes.items()
              if number * 100 > expected.get(program, number) * (100 + MAX_GROWTH_PERCENT)]
    return faults + [f"{program}: only in one of what was measured and instructions.txt"
                     for program in sorted(sizes.keys() ^ expected.keys())]


def version_key(item):
    (series, architecture, program), _ = item
    return architecture, [int(number) for number in series.split(".")], program


def write(release, architecture, sizes, path=PATH):
    comments, known = read(path)
    series = series_of(release, known)
    kept = {key: number for key, number in known.items() if key[:2] != (series, architecture)}
    kept |= {(series, architecture, program): number for program, number in sizes.items()}
    lines = [" ".join([*key, str(number)]) for key, number in sorted(kept.items(), key=version_key)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(comments + lines) + "\n")


def measure(program):
    done = subprocess.run([program], check=False, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        sys.exit(done.returncode)
    return parse_sizes(done.stdout)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--of", nargs=2, metavar=("RELEASE", "ARCHITECTURE"))
    parser.add_argument("source", help="program_sizes, or with --of a file of its lines")
    return parser.parse_args()


def main():
    args = parse_args()
    if args.of:
        with open(args.source, encoding="utf-8") as file:
            sizes = parse_sizes(file.read())
    else:
        sizes = measure(args.source)
    kernel = args.of or (platform.release(), platform.machine())
    if args.write:
        write(*kernel, sizes)
    faults = compare(*kernel, sizes, read()[1])
    for program, number in sizes.items():
        print(program, number)
    print("\n".join([f"instructions.txt has nothing of {' '.join(kernel)}"] if faults is None else faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
