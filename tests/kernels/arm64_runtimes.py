#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPython, Node and Java on arm64: records the load "calls" of tests/runtime in a virtual machine, and judges its stacks
as on x86-64.

    arm64_runtimes.py TREE BUILD [--keep DIRECTORY]

BUILD is the directory of a cross build of TREE (`cmake --preset arm64`). Exit status 0: no share is below its floor; 1: one
is; 77: it cannot run here."""

import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for directory in ("../../e2e/local", "../../e2e/symbols", "../guest", "../conformance", "../runtime"):
    sys.path.insert(0, os.path.join(HERE, directory))

# pylint: disable=wrong-import-position,wrong-import-order
import cases
import check_load
import debian_kernel
import guest as guests
import host
import judge
import machine
import recordings
import row as rows
import schema

KERNEL = debian_kernel.Kernel("6.1", "bookworm", "arm64")
SECTIONS = ("arm64-guest", "arm64-runtimes")    # of packages.txt
SECONDS_SYSROOT = 900
RECORD_SECONDS = 15
MIN_SAMPLES = 100
# A JVM compiles its methods for many seconds here, and replaces code whose name was not read yet. Its first samples may be
# from before it was inspected: docs/runtimes.md, "arm64".
FLOORS = {
    "cpython": {"rooted": 97, "chain": 97, "lines": 99, "named": 99},
    "v8": {"rooted": 97, "chain": 90, "lines": 97, "named": 97},
    "hotspot": {"rooted": 85, "chain": 75, "lines": 97, "named": 90},
}


class Guest(guests.Guest):
    timeout_s = 600

    def __init__(self, directory, tree, flamelet, sysroot):
        self.tree, self.sysroot = tree, sysroot
        super().__init__(directory, KERNEL, debian_kernel.fetch(KERNEL), flamelet, ())

    def make_machine(self, kernel_directory):
        shares = (self.tree, self.directory, os.path.dirname(self.flamelet))
        return machine.Machine(kernel_directory, self.directory, f"{self.directory}/guest.sh", self.logs, 4096, "arm64",
                               root=self.sysroot, cpu="cortex-a72", shares=shares)

    def prepare(self):
        variables = {"FLAMELET": self.flamelet, "FREQUENCY_HZ": guests.FREQUENCY_HZ, "SECONDS_LONG": RECORD_SECONDS}
        with open(f"{self.directory}/variables", "w", encoding="utf-8") as file:
            file.writelines(f"{name}='{value}'\n" for name, value in variables.items())
        shutil.copytree(cases.LOADS, f"{self.directory}/loads")
        cases.compile_java(f"{self.directory}/loads")
        shutil.copy(f"{HERE}/arm64_runtimes.sh", f"{self.directory}/guest.sh")


def make_sysroot(tree):
    try:
        done = subprocess.run([f"{tree}/cmake/arm64-sysroot.sh", *SECTIONS], check=True, stdout=subprocess.PIPE,
                              text=True, timeout=SECONDS_SYSROOT)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        raise host.Skip(f"the packages cannot be had: {failure}") from failure
    return done.stdout.strip()


def judge_load(guest, kind):
    """The faults of a runtime, whose shares are printed."""
    document = json.loads(guest.read(f"{kind}.json"))
    case = next(case for case in cases.CASES[kind] if case.name == "calls")
    runtime = cases.Runtime(kind, kind, ())
    samples = recordings.read(f"{guest.logs}/{kind}.pb.gz", schema.pprof().Profile)
    verdict = judge.judge(check_load.judged_samples(samples, runtime, case), judge.Truth(document["chains"]), kind)
    print(check_load.Row(runtime, document["version"], case, verdict), flush=True)
    faults = judge.faults(verdict, FLOORS[kind])
    if verdict.counts["samples"] < MIN_SAMPLES:
        faults.append(f"only {verdict.counts['samples']} samples")
    for text, count in verdict.faulty.most_common(judge.NR_EXAMPLES) if faults else ():
        print(f"    {count} samples: {text}", flush=True)
    return [f"{kind}: {fault}" for fault in faults]


def check_guest(guest):
    if "end" not in guest.facts:
        return [f"the guest did not come to its end: {guest.console[-500:]}"]
    faults = []
    check_load.print_head()
    for kind in FLOORS:
        status = guest.fact(f"{kind}.status")
        if status == "0":
            faults += judge_load(guest, kind)
        else:
            faults.append(f"{kind}: exit {status}: {guest.log(kind)[-300:]}")
    return faults


def measure(args, directory):
    tree = os.path.abspath(args.tree)
    sysroot = make_sysroot(tree)
    for number in range(rows.MAX_TRIES):
        guest = Guest(f"{directory}/{number}", tree, os.path.abspath(f"{args.build}/flamelet"), sysroot)
        guest.prepare()
        guest.run()
        if guest.has_begun():
            break
    return check_guest(guest)


def check(args):
    schema.skip_unless_available()
    host.require("qemu-system-aarch64", "protoc", "javac")
    return rows.in_directory(args.keep, lambda directory: measure(args, directory))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree")
    parser.add_argument("build")
    parser.add_argument("--keep", metavar="DIRECTORY", help="where the console, logs and profiles stay")
    return host.judge_anyone(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
