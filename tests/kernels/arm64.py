#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flamelet on arm64, in virtual machines: with and without pointer authentication what matrix.py measures, the unwinder
against libdw, and once the unit tests.

    arm64.py TREE BUILD [--all] [--keep DIRECTORY] [--x86 TABLE]

BUILD is the directory of a cross build of TREE (`cmake --preset arm64`). TABLE is what tests/oracle/unwind/oracle.py left of the
same programs on x86-64: no figure may be more than a point below it. --all compares all programs with libdw, and tries
more kernels. Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import dataclasses
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for directory in ("../../e2e/local", "../guest", "../conformance"):
    sys.path.insert(0, os.path.join(HERE, directory))

# pylint: disable=wrong-import-position
import debian_kernel
import guest as guests
import host
import machine
import pods
import row as rows

INTERPRETER = re.compile(r"program interpreter: (\S+)\]")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
RUNPATH = re.compile(r"\(RUNPATH\).*\[(.*)\]")
LIBRARIES = "/lib/aarch64-linux-gnu"
ORACLE_ROW = re.compile(r"^(\S+) +\d+ +([\d.]+) +\d+ +([\d.]+) ", re.MULTILINE)
# (what went wrong, as oracle.py says it); of too few stacks there are no figures.
ORACLE_FAULT = re.compile(r"^(\S+) .*FAIL(?: \(|: )([^)\n]+)", re.MULTILINE)
TOO_FEW = re.compile(r"only \d+ stacks|not done after")
MAX_BELOW = 1.0
# oracle.py says why.
OTHERWISE = ("coroutines", "root")
SKIPPED, KILLED = 77, 137
# Unit tests of what depends on the processor: unwinding, its code, bytes and numbers. The others, and those that try every
# failure, take long in emulation; --all runs them, too.
OF_PROCESSOR = re.compile(r"bpf_host/|/test_(unwinder|cfi|code|dwarf|row_(packer|table)|gopclntab|functions|extents|maps"
                          r"|demangle|kallsyms|perf_record|perf_ring|worker_sandbox|elf_(info|block)|builder|pb|utf8|parse"
                          r"|hash|strbuf|zstd|gzip)")


@dataclasses.dataclass(frozen=True)
class Case:
    """A kernel on a processor, with the programs that are compared with libdw there."""
    series: str
    suite: str
    name: str
    cpu: str
    programs: str
    compared: str
    has_units: bool = False
    is_extra: bool = False

    def kernel(self):
        return debian_kernel.Kernel(self.series, self.suite, "arm64")


PAC = "max,pauth-impdef=on"
# Not the recursion: its stacks are paired with copies by time and address, and in an emulation they grow and shrink between.
CASES = (
    Case("6.1", "bookworm", "cortex-a72", "cortex-a72", "programs",
         "c-gcc-O2 c-clang-O2 c++-gcc-O2 exceptions signals coroutines dynamic-frames static musl rust go python3",
         has_units=True),
    Case("6.1", "bookworm", "pauth", PAC, "pac/programs",
         "c-gcc-O0 c-gcc-O2 c-clang-O2 c++-gcc-O2 exceptions signals dynamic-frames tail-calls plt-lazy"),
    Case("6.12", "trixie", "cortex-a72", "cortex-a72", "programs", "c-gcc-O2", is_extra=True),
    Case("7", "trixie-backports", "pauth", PAC, "pac/programs", "c-gcc-O2", is_extra=True),
)


class Sysroot:
    """Libraries of arm64 by what a program says: none of it can be run here."""

    def __init__(self, path):
        self.path = path

    def library(self, name, runpath):
        """(place in the guest, path here)"""
        own = os.path.join(runpath, name)  # a path where the linker was given one
        if os.path.isabs(own) and os.path.exists(own):
            return own, own
        return f"{LIBRARIES}/{name}", f"{self.path}{LIBRARIES}/{name}"

    def needed_by(self, path):
        """{place: path} of the loader and the libraries of a program or library."""
        text = host.run("readelf", "--wide", "--dynamic", "--program-headers", path)
        loader, runpath = INTERPRETER.search(text), RUNPATH.search(text)
        found = {loader[1]: self.path + loader[1]} if loader else {}
        found.update(self.library(name, runpath[1] if runpath else "")
                     for name in NEEDED.findall(text) if not name.startswith("ld-"))
        return found

    def files(self, programs):
        """The programs and all that they need, by their places in the guest."""
        found, waiting = {}, {path: path for path in programs}
        while waiting:
            found.update(waiting)
            waiting = {place: path for known in waiting.values() for place, path in self.needed_by(known).items()
                       if place not in found}
        return found


class Guest(guests.Guest):
    timeout_s = 900

    def __init__(self, directory, build, case, containers):
        self.build, self.case = build, case
        super().__init__(directory, case.kernel(), debian_kernel.fetch(case.kernel()), f"{build.path}/flamelet",
                         containers)

    def make_machine(self, kernel_directory):
        programs = [container.program for container in self.containers]
        return machine.Machine(kernel_directory, self.directory, f"{self.directory}/guest.sh", self.logs,
                               guests.MEMORY_MB, "arm64", root=self.build.sysroot.path, cpu=self.case.cpu,
                               files=self.build.sysroot.files(programs),
                               shares=(self.build.tree, os.path.dirname(self.directory)))

    def write_more(self, has_all):
        """Writes the files that arm64_more.sh reads."""
        oracle = f"{self.build.path}/tests/oracle/unwind/unwind_oracle"
        command = f"{self.build.tree}/tests/oracle/unwind/oracle.py --slow {oracle}" if os.path.exists(oracle) else ""
        programs = f"{self.build.path}/tests/oracle/unwind/{self.case.programs}"
        names = "" if has_all else self.case.compared
        with open(f"{self.directory}/variables", "a", encoding="utf-8") as file:
            file.write(f"ORACLE='{command}'\nORACLE_PROGRAMS='{programs}'\nORACLE_NAMES='{names}'\n")
        units = self.build.unit_tests(has_all) if self.case.has_units else []
        for half in range(2):
            with open(f"{self.directory}/units.{half}", "w", encoding="utf-8") as file:
                file.writelines(f"{name} {' '.join(command)}\n" for name, command in units[half::2])
        with open(f"{HERE}/arm64_more.sh", encoding="utf-8") as script, \
                open(f"{self.directory}/more.sh", "w", encoding="utf-8") as file:
            file.write(script.read())


class Build:
    """A cross build."""

    def __init__(self, tree, path):
        self.tree, self.path = os.path.abspath(tree), os.path.abspath(path)
        found = re.search(r"^CMAKE_SYSROOT:PATH=(.*)$", host.read_text(f"{path}/CMakeCache.txt"), re.MULTILINE)
        self.sysroot = Sysroot(found[1])
        sizes = f"{self.path}/tests/kernels/program_sizes"
        self.program_sizes = sizes if os.path.exists(sizes) else ""

    def unit_tests(self, has_all):
        """(name, command) of each that was built."""
        text = host.run("ctest", "--test-dir", self.path, "-L", "^unit$", "--show-only=json-v1", seconds=60)
        return [(test["name"].replace("/", "-"), test["command"]) for test in json.loads(text)["tests"]
                if test.get("command") and (has_all or OF_PROCESSOR.search(test["name"]))]


def oracle_table(text):
    """{program: (root, agree)}, of enough stacks."""
    few = {name for name, fault in ORACLE_FAULT.findall(text) if TOO_FEW.match(fault)}
    return {name: (float(root), float(agree)) for name, root, agree in ORACLE_ROW.findall(text) if name not in few}


class Row(rows.Row):
    """Of the same table, with what arm64 has besides."""

    def __init__(self, guest, x86):
        super().__init__(guest)
        self.name = self.columns[0] = f"{self.name}, {guest.case.name}"
        self.x86 = x86
        self.check_units()
        self.oracle = guest.read("oracle.txt") if "oracle.status" in guest.facts else ""
        self.check_oracle()

    def check_units(self):
        self.units = [fact.split() for fact in self.guest.facts.get("unit", ())]
        for name, status in self.units:
            fault = f"{name}: exit {status}: {self.guest.read(f'units/{name}')[-300:]}"
            self.require_time(int(status) != KILLED, fault)
            self.require(int(status) in (0, SKIPPED, KILLED), fault)

    def check_oracle(self):
        faults = ORACLE_FAULT.findall(self.oracle)
        for name, fault in faults:
            self.require_time(not TOO_FEW.match(fault), f"{name}: {fault}")
            self.require(TOO_FEW.match(fault), f"{name}: it and libdw do not agree: {fault}")
        self.require(self.guest.fact("oracle.status") in ("0", "") or faults, "the unwinder was not compared with libdw")
        for name, figures in oracle_table(self.oracle).items():
            for what, here, there in zip(("root", "agree"), figures, self.x86.get(name, figures)):
                self.require(here >= there - MAX_BELOW or (name, what) == OTHERWISE,
                             f"{name}: {what} {here}, on x86-64 {there}")

    def oracle_with_x86(self):
        lines = []
        for line in self.oracle.splitlines():
            beside = self.x86.get(line.split()[0]) if line else None
            lines.append(line + (f"  x86-64: {beside[0]:.2f} {beside[1]:.2f}" if beside else ""))
        return "\n".join(lines)

    def story(self):
        skipped = [name for name, status in self.units if int(status) == SKIPPED]
        units = f"\n{len(self.units)} unit tests, skipped: {' '.join(skipped) or 'none'}" if self.units else ""
        return super().story() + units + "\n" + self.oracle_with_x86()


class Matrix:
    """The build and the kubelet that all guests share."""

    def __init__(self, args, directory):
        self.args, self.directory = args, directory
        self.build = Build(args.tree, args.build)
        self.x86 = oracle_table(host.read_text(args.x86)) if args.x86 and os.path.exists(args.x86) else {}
        self.containers = pods.make(f"{self.build.path}/tests/oracle/unwind/programs")
        self.kubelet = pods.Kubelet(f"{directory}/kubelet", self.containers)

    def containers_of(self, case):
        """The same containers with the case's own programs, where there are such."""
        found = [(container, f"{self.build.path}/tests/oracle/unwind/{case.programs}/{container.name}")
                 for container in self.containers]
        return [dataclasses.replace(container, program=program) for container, program in found
                if os.path.exists(program)]

    def measure(self, case, name):
        guest = Guest(f"{self.directory}/{name}", self.build, case, self.containers_of(case))
        guest.write_plan(self.kubelet.options(), self.build.program_sizes)
        guest.write_more(self.args.all)
        guest.run()
        return Row(guest, self.x86)

    def row(self, case):
        return rows.attempt(lambda name: self.measure(case, name), case.kernel(), f"{case.series}-{case.name}")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree")
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true", help="all programs and kernels")
    parser.add_argument("--keep", metavar="DIRECTORY", help="where consoles, logs and profiles stay")
    parser.add_argument("--x86", metavar="TABLE", help="what tests/oracle/unwind/oracle.py left on x86-64")
    return parser.parse_args()


def measure(args, directory):
    matrix = Matrix(args, directory)
    cases = [case for case in CASES if args.all or not case.is_extra]
    return rows.judge(rows.each(matrix.kubelet, matrix.row, cases))


def check(args):
    host.require("qemu-system-aarch64", "protoc", "openssl", "readelf", "ctest")
    return rows.in_directory(args.keep, lambda directory: measure(args, directory))


if __name__ == "__main__":
    sys.exit(host.judge_anyone(check, parse_args()))
