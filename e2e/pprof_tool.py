#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks by `go tool pprof` and addr2line what `flamelet record` writes, for programs of several
compilers: mappings are a program's executable segments, addresses the file's own, and the hot line
is found in sources and in machine code.

    pprof_tool.py path/to/flamelet [FORM...]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import os
import re
import sys
import tempfile

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(E2E, "local"), os.path.join(E2E, "../tests/conformance")]

# pylint: disable=wrong-import-position
import gzip

import host
import kinds
import recorder
import schema

CPU_SECONDS = 1
HZ = "199"
MIN_SAMPLES = 10
MIN_SHARE = 95      # per cent of a program's time that is in hot()
PAGE = 4096
LOCK_SECONDS = 2
LOCK_WAITER = "read_table"      # a thread of locks.c and its function
LOCK_FACTOR = 2     # locks.py is stricter; on a busy machine, the time of few waits is an estimate
MAX_HOLD_SECONDS = 0.5
PIE, NO_PIE = ("-fPIE", "-pie"), ("-fno-pie", "-no-pie")
C = ("-g", "-O1", "-o")
RUST = ("-g", "-Copt-level=1", "-Ccodegen-units=1", "-o")

# Form: source, command. The program comes behind "-o", the source last.
FORMS = {
    "gcc_pie": ("burn.c", ("gcc", *PIE, *C)),
    "gcc_no_pie": ("burn.c", ("gcc", *NO_PIE, *C)),
    "gcc_static": ("burn.c", ("gcc", "-static", *C)),
    "gxx_pie": ("burn.c", ("g++", "-x", "c++", *PIE, *C)),
    "clang_pie": ("burn.c", ("clang", *PIE, *C)),
    "lld_pie": ("burn.c", ("clang", "-fuse-ld=lld", *PIE, *C)),
    "lld_no_pie": ("burn.c", ("clang", "-fuse-ld=lld", *NO_PIE, *C)),
    "rust_pie": ("burn.rs", ("rustc", *RUST)),
    "rust_no_pie": ("burn.rs", ("rustc", "-Crelocation-model=static", *RUST)),
    "go_no_pie": ("burn.go", ("go", "build", "-o")),
    "go_pie": ("burn.go", ("go", "build", "-buildmode=pie", "-o")),
}


def build(form, directory):
    source, command = FORMS[form]
    host.require(command[0])
    if "-fuse-ld=lld" in command:
        host.require("ld.lld")
    program = f"{directory}/{form}"
    host.run(*command, program, os.path.join(E2E, "pprof", source))
    return program


def segments_of(program):
    """Returns the segments of code in the program headers: [(address, offset, length)]."""
    found = []
    for line in host.run("readelf", "-lW", program).splitlines():
        kind, *numbers = line.split() or [""]
        if kind == "LOAD" and "E" in numbers[5:-1]:
            offset, address, _, length = (int(number, 16) for number in numbers[:4])
            found.append((address, offset, length))
    return found


def record(binary, program, path):
    process = host.Process("burn", [program], f"{path}.log")
    try:
        host.wait_until_busy(process.pid)
        recorder.record_work([binary, "record", "-F", HZ, "-o", path], process.pid, CPU_SECONDS, f"{path}.record.log")
    finally:
        process.stop()
    with gzip.open(path) as file:
        return schema.pprof().Profile.FromString(file.read())


def pprof(path, *options):
    """Elsewhere than in a directory whose name is in the sources' paths: pprof would take these for moved."""
    return host.run("go", "tool", "pprof", *options, path, cwd=os.path.dirname(path))


class Recording:
    """One program's, and what is wrong with it."""

    def __init__(self, program, path, profile):
        self.program, self.path, self.profile = program, path, profile
        self.function = "main.hot" if "/go_" in program else "hot"
        self.pattern = rf"\b{self.function}\b"
        text = profile.string_table
        self.functions = {function.id: text[function.name] for function in profile.function}
        self.mappings = [mapping for mapping in profile.mapping
                         if text[mapping.filename] == program]
        source = os.path.join(E2E, "pprof", FORMS[os.path.basename(program)][0])
        self.hot_line = next(number for number, line in enumerate(open(source, encoding="utf-8"), 1)
                             if re.search(r"(//|/\*) here", line))

    def check_mappings(self):
        """One a segment, from the beginning of its page on."""
        expected = sorted((address // PAGE * PAGE, offset // PAGE * PAGE, address + length)
                          for address, offset, length in segments_of(self.program))
        seen = sorted((mapping.memory_start, mapping.file_offset, mapping.memory_limit)
                      for mapping in self.mappings)
        if seen != expected:
            yield f"mappings {seen}, not {expected}"

    def hot_addresses(self):
        ours = {mapping.id for mapping in self.mappings}
        return [hex(location.address) for location in self.profile.location
                if location.mapping_id in ours
                and self.functions[location.line[-1].function_id] == self.function]

    def check_addresses(self):
        """addr2line takes them as they are; Go's own reads what Debian's does not."""
        addresses = self.hot_addresses()
        if not addresses:
            yield "no address in the hot function"
            return
        if self.function == "hot":
            answers = host.run("addr2line", "-fie", self.program, *addresses)
        else:
            answers = host.run("go", "tool", "addr2line", self.program, input="\n".join(addresses))
        lines = {int(number) for number in re.findall(r":(\d+)", answers)}
        if self.function not in answers.splitlines() or self.hot_line not in lines:
            yield f"addr2line does not find {self.function} and line {self.hot_line}: {answers}"

    def check_disassembly(self):
        text = pprof(self.path, f"-disasm={self.pattern}")
        shares = re.findall(r"\(flat, cum\)\s+([\d.]+)% of Total", text)
        instructions = re.findall(rf";\s*{re.escape(self.function)}\s+\S*burn\.\w+:(\d+)", text)
        if len(shares) != 1 or float(shares[0]) < MIN_SHARE or float(shares[0]) > 100:
            yield f"-disasm shows shares {shares}"
        if str(self.hot_line) not in instructions:
            yield f"-disasm shows lines {sorted(set(instructions))} only"

    def check_sources(self):
        listing = pprof(self.path, f"-list={self.pattern}")
        hot = re.search(rf"^\s*([\d.]+)\S*\s+\S+\s+{self.hot_line}:.*here", listing, re.MULTILINE)
        if not hot or hot.group(1) == ".":
            yield f"-list has no time in line {self.hot_line}: {listing}"
        page = f"{self.path}.html"
        pprof(self.path, f"-weblist={self.pattern}", "-output", page)
        html = host.read_text(page)
        if f"burn.{FORMS[os.path.basename(self.program)][0].split('.')[1]}:{self.hot_line}" \
                not in html:
            yield f"-weblist has no instruction of line {self.hot_line}"

    def faults(self):
        samples = sum(sample.value[0] for sample in self.profile.sample)
        if samples < MIN_SAMPLES:
            raise host.Failure(f"{self.program} has {samples} samples")
        for check in (self.check_mappings, self.check_addresses, self.check_disassembly,
                      self.check_sources):
            yield from check()


def check_form(binary, form, directory):
    """None where it cannot be built here."""
    try:
        program = build(form, directory)
    except host.Skip as skip:
        print(f"SKIP {form}: {skip}", flush=True)
        return None
    path = f"{program}.pb.gz"
    recording = Recording(program, path, record(binary, program, path))
    faults = [f"{form}: {fault}" for fault in recording.faults()]
    print(f"{form}: {len(faults)} faults", flush=True)
    return faults


def sum_waits(profile, thread):
    """[number, nanoseconds] of a thread's waits"""
    text = profile.string_table
    mine = [sample.value for sample in profile.sample
            if any((text[label.key], text[label.str]) == ("thread", thread) for label in sample.label)]
    return [sum(values) for values in zip(*mine)]


def check_locks(binary, directory):
    """Waits for locks have two values, as in Go's profiles of mutexes."""
    path = f"{directory}/locks.pb.gz"
    done = kinds.record(binary, "--kind", "lock", "-o", path, "--", kinds.build(directory, "locks"), str(LOCK_SECONDS))
    if done.returncode != 0:
        return [f"locks: exit status {done.returncode}: {done.stderr}"]
    with gzip.open(path) as file:
        number, delay_ns = sum_waits(schema.pprof().Profile.FromString(file.read()), LOCK_WAITER)
    waited = kinds.read_times(done.stdout, [LOCK_WAITER])[LOCK_WAITER]
    print(f"locks: {LOCK_WAITER} waited for {waited:.3f} s; {number} waits of {delay_ns / 1e9:.3f} s in the file", flush=True)
    raw, shown = pprof(path, "-raw"), pprof(path, "-top")
    counted = pprof(path, "-top", "-sample_index=contentions")
    faults = [f"locks: pprof -raw lacks {words}: {raw[:1000]}" for words in
              ("PeriodType: contentions count", "Period: 1\n", "contentions/count delay/nanoseconds") if words not in raw]
    faults += [] if "Type: delay" in shown else [f"locks: pprof shows {shown[:200]}"]
    faults += [] if "Type: contentions" in counted and LOCK_WAITER in counted else [f"locks: pprof counts {counted[:1000]}"]
    if not waited / LOCK_FACTOR < delay_ns / 1e9 < waited * LOCK_FACTOR:
        faults.append(f"locks: {LOCK_WAITER} waited for {waited:.3f} s, and the file has {delay_ns} ns")
    # It waits for up to 20 ms each time, and on a busy machine for longer.
    if not waited / MAX_HOLD_SECONDS < number < waited * 1000:
        faults.append(f"locks: {LOCK_WAITER} waited {number} times in {waited:.3f} s")
    return faults


def check(binary, forms):
    host.require("go", "readelf", "addr2line")
    os.environ.setdefault("HOME", "/root")
    with tempfile.TemporaryDirectory(prefix="flamelet-pprof-") as directory:
        results = [check_form(binary, form, directory) for form in forms]
        results += [check_locks(binary, directory)]
    if all(result is None for result in results):
        raise host.Skip("no compiler")
    return [fault for result in results for fault in result or []]


def main():
    schema.skip_unless_available()
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("forms", nargs="*", default=list(FORMS))
    options = parser.parse_args()
    return host.judge(check, os.path.abspath(options.binary), options.forms)


if __name__ == "__main__":
    sys.exit(main())
