#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares row tables, byte by byte, with what readelf(1) says about the same files: installed ones, and small
ones built here. Each row of readelf's must be the rule that rows_dump shows, in all of its bytes.

    compare_with_readelf.py MACHINE ROWS_DUMP PROGRAMS [FILE...]

MACHINE is x86-64 or arm64, ROWS_DUMP a program for its files, PROGRAMS a directory of sources. Of Go's files, whose rows come from .gopclntab, the CFA is compared with
that of .debug_frame.

unsupported  rows for which bpf/shared/cfi.h has no rule: they must be UNSUPPORTED, or a register of theirs lost
special      functions of Go's runtime that have rules without a CFA
derived      bytes of code without CFI that have rows all the same: from instructions, or a program's first ones
"""
import bisect
import concurrent.futures
import dataclasses
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import frames
import machines

HERE = os.path.dirname(os.path.abspath(__file__))
MIN_EH_FRAME_FUNCTIONS = 8  # with fewer, .debug_frame is read too
PADDING = 15  # bytes between functions that need no row
SIGNAL_CFA = "DW_OP_breg7 (rsp): 160; DW_OP_deref"
SIGNAL_PLACES = {"rbp": 120, "rbx": 128, "r12": 72, "r13": 80, "r14": 88, "r15": 96, "ra": 168}
NAMED_CFA = re.compile(r"DW_OP_breg\d+ \(\w+\): -?\d+(; DW_OP_deref(; DW_OP_plus_uconst: \d+)?)?$|.*DW_OP_ge")
NAMED_PLACE = re.compile(r"DW_OP_breg\d+ \((\w+)\): -?\d+$")
UNLIKE_OTHERS = re.compile(r" (runtime\.(asyncPreempt|sigpanic0?)|internal/chacha8rand\.block)(\.abi0|\.abiinternal)?$")
WITHOUT_CFA = ("NONE", "SIGNAL", "END", "STACK_SWITCH", "UNSUPPORTED")


@dataclasses.dataclass
class Range:
    start: int
    end: int
    cfa: str
    places: dict


@dataclasses.dataclass
class Result:
    functions: int = 0
    rows: int = 0
    expressions: int = 0
    unsupported: int = 0
    special: int = 0
    derived: int = 0
    differences: list = dataclasses.field(default_factory=list)


def load_ranges(machine, rows_dump, path):
    output = subprocess.run([rows_dump, path], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        start, end, cfa, *places = line.split()
        yield Range(int(start, 16), int(end, 16), cfa, dict(zip([*machine.saved, "ra"], places)))


def base_and_offset(text):
    match = re.match(r"(\w+)([+-]\d+)$", text)
    return match[1], int(match[2])


def our_cfa(text, registers):
    deref = re.match(r"\*\((.*)\)([+-]\d+)", text)
    plt = re.match(r"plt\((.*),(\d+)\)", text)
    base, offset = base_and_offset((deref or plt or [text, text])[1])
    cfa = registers[base] + offset
    if deref:
        return frames.remembered_word(cfa) + int(deref[2])
    return cfa + (8 if plt and registers["ra"] & 15 >= int(plt[2]) else 0)


def their_place(machine, row, name, cfa, registers):
    """Returns where a register is saved: an address; "u": not, or below the stack pointer, where
    nothing is; None: in a way there is no rule for."""
    text = row.places.get(name, "u")
    if text in ("u", "s"):
        return "u"
    if text[0] == "c":
        address = cfa + int(text[1:])
        is_below = row.cfa.startswith(machine.stack_pointer) and address < registers[machine.stack_pointer]
        return "u" if is_below and name != "ra" else address
    return frames.evaluate(machine, row.expressions[name], registers, [cfa]) if text == "exp" else None


def is_at_frame_pointer(machine, row, name):
    match = NAMED_PLACE.match(row.expressions.get(name, ""))
    return bool(match) and match[1] == machine.frame_pointer


def is_named_place(machine, row, name):
    """Returns whether a rule exists for where the register is saved."""
    text = row.places.get(name, "u")
    if text == "exp":
        return is_at_frame_pointer(machine, row, name)
    if any(is_at_frame_pointer(machine, row, other) for other in machine.saved):
        return text in ("u", "s")
    return text in ("u", "s") or (text[0] == "c" and abs(int(text[1:])) <= machine.max_place)


def compare_place(machine, row, ours, name, cfa, registers):
    """None: the same; "lost"; or a difference."""
    if ours in registers:
        return None if row.places.get(name) == ours else f"{name} {ours}"
    place = their_place(machine, row, name, cfa, registers)
    if ours == "lost":
        return "lost" if not is_named_place(machine, row, name) else f"{name} lost"
    if ours == "u":
        return None if place == "u" else f"{name} u"
    base, offset = base_and_offset(ours)
    address = (cfa if base == "c" else registers[base]) + offset
    return None if place == address else f"{name} {ours}"


def compare_signal(row, function):
    places = all(
        row.expressions.get(name) == f"DW_OP_breg7 (rsp): {offset}" for name, offset in SIGNAL_PLACES.items()
    )
    return None if function.is_signal and row.expressions.get("cfa") == SIGNAL_CFA and places else "SIGNAL"


def has_rule(machine, row):
    """Returns whether a rule can express the row, apart from registers that are lost."""
    cfa = NAMED_CFA.match(row.expressions["cfa"]) if row.cfa == "exp" else row.cfa[:2] not in ("ri", "ra")
    place = row.places["ra"]
    is_near = place[0] == "c" and abs(int(place[1:])) <= machine.max_place
    return_address = is_near or (place in machine.numbers and row.cfa != "exp")
    return cfa and return_address and row.places.get(machine.stack_pointer, "u") in ("u", "v+0")


def compare(machine, row, function, pc, ours):
    """None: the same; "unsupported"; or what differs, in our words."""
    if row.places.get("ra", "u") == "u":
        return None if ours.cfa == "END" else ours.cfa
    if ours.cfa == "UNSUPPORTED":
        return "CFA" if has_rule(machine, row) else "unsupported"
    if ours.cfa == "SIGNAL":
        return compare_signal(row, function)
    if ours.cfa in WITHOUT_CFA:
        return ours.cfa
    registers = frames.start_values(machine, pc)
    cfa = our_cfa(ours.cfa, registers)
    theirs = frames.evaluate(machine, row.expressions["cfa"], registers) if row.cfa == "exp" else our_cfa(row.cfa, registers)
    if cfa != theirs:
        return ours.cfa
    names = [*machine.saved, "ra"]
    found = [compare_place(machine, row, ours.places[name], name, cfa, registers) for name in names]
    wrong = [difference for difference in found if difference not in (None, "lost")]
    return wrong[0] if wrong else "unsupported" if "lost" in found else None


def compare_go(machine, row, function, _, ours):
    """Some functions of the runtime are not like others; syscall.rawVforkSyscall pops its own return address, and so
    do those on arm64 that a signal handler calls; one of chacha8rand overwrites it. What Go says of lr there is that it is where sp is, and nothing of
    functions that C calls: the former is not so where sp has been moved once more."""
    if ours.cfa in WITHOUT_CFA[1:] or row.cfa == "rsp+0" or row.cfa.startswith("sp-"):
        return "special"
    if ours.cfa != row.cfa:
        return "special" if function.is_unlike_others and ours.cfa != "NONE" else ours.cfa
    first = next((other.cfa for other in function.rows if other.cfa != "sp+0"), None)
    if machine.return_register != "u" and (row.places["ra"] == "u" or row.cfa not in ("sp+0", first)):
        return "special"
    if ours.places.get("ra") == row.places.get("ra"):
        return None
    return "special" if function.is_unlike_others else f"ra {ours.places['ra']}"


class Comparison:
    def __init__(self, machine, ranges, is_go):
        self.machine = machine
        self.ranges = list(ranges)
        self.starts = [piece.start for piece in self.ranges]
        self.is_go = is_go
        self.result = Result()
        self.known = {}

    def pieces(self, start, end):
        """Our ranges that have bytes there."""
        for i in range(max(bisect.bisect_right(self.starts, start) - 1, 0), len(self.ranges)):
            piece = self.ranges[i]
            if piece.start >= end:
                return
            if piece.end > start:
                yield max(piece.start, start), min(piece.end, end), piece

    def is_code(self, address):
        return any(True for _ in self.pieces(address, address + 1))

    def compare_once(self, row, function, pc, ours):
        key = (row.cfa, *row.places.items(), *row.expressions.items(), function.is_signal, ours.cfa, *ours.places.values())
        if ours.cfa.startswith("plt"):
            key += (pc & 15,)
        if self.is_go:
            key += (function.start,)
        if key not in self.known:
            same = (self.machine, row)
            self.known[key] = (compare_go if self.is_go else compare)(*same, function, pc, ours)
        return self.known[key]

    def row(self, function, row, start, end):
        outcomes = set()
        for low, high, ours in self.pieces(start, end):
            addresses = range(low, min(high, low + 16)) if ours.cfa.startswith("plt") else [low]
            for pc in addresses:
                difference = self.compare_once(row, function, pc, ours)
                outcomes.add(difference)
                if difference not in (None, "unsupported", "special"):
                    theirs = f"{row.cfa} {row.places} {row.expressions}"
                    self.result.differences.append(f"{pc:#x} in {start:#x}..{end:#x}: {theirs}; {difference}: {ours}")
        self.result.rows += 1
        self.result.expressions += "exp" in (row.cfa, *row.places.values())
        self.result.unsupported += "unsupported" in outcomes
        self.result.special += "special" in outcomes

    def function(self, function, start):
        self.result.functions += 1
        ends = [row.start for row in function.rows[1:]] + [function.end]
        for row, end in zip(function.rows, ends):
            low = max(row.start, start)
            if low < end:
                self.row(function, row, low, end)

    def gap(self, start, end):
        """Outside of functions, rows are those of padding, or derived from code. Go's table does
        not say where functions end."""
        for low, high, ours in self.pieces(start, end):
            if ours.cfa != "NONE" and not self.is_go and high - start > PADDING:
                self.result.derived += high - low

    def all(self, functions):
        end = 0
        for function in functions:
            if not self.is_code(function.start) or function.end <= end:
                continue
            self.gap(end, function.start)
            self.function(function, max(function.start, end))
            end = function.end
        self.gap(end, self.ranges[-1].end)


def choose(functions, is_go):
    """The functions that count, by address."""
    chosen = [function for function in functions if function.section == ".eh_frame" and not is_go]
    if is_go or len(chosen) < MIN_EH_FRAME_FUNCTIONS:
        taken = [(function.start, function.end) for function in chosen]
        chosen += [
            function
            for function in functions
            if function.section == ".debug_frame"
            and not any(start < function.end and function.start < end for start, end in taken)
        ]
    return sorted(chosen, key=lambda function: function.start)


def check(machine, rows_dump, path):
    is_go = any(".gopclntab" in line for line in frames.readelf(path, "-S"))
    comparison = Comparison(machine, load_ranges(machine, rows_dump, path), is_go)
    functions = frames.load_functions(machine, path)
    if is_go and machine == machines.ARM64:
        unlike = {int(line.split()[1], 16) for line in frames.readelf(path, "-s") if UNLIKE_OTHERS.search(line)}
        for function in functions:
            function.is_unlike_others = function.start in unlike
    comparison.all(choose(functions, is_go))
    return comparison.result


def commands(machine):
    """Returns the commands that build programs: {name: command}. For another machine, clang takes
    what else it needs from a cross compiler of GCC."""
    prefix = "" if machine.is_native else machine.compiler_prefix
    target = [] if machine.is_native else [f"--target={prefix[:-1]}"]
    wanted = {
        "c-gcc-O0": ["gcc", "-O0", "calls.c", "library.c"],
        "c-gcc-O2-static": ["gcc", "-O2", "-static", "calls.c", "library.c"],
        "c-clang-O2": ["clang", "-O2", "calls.c", "library.c"],
        "c-gcc-debug-frame": ["gcc", "-O2", "-g", "-fno-asynchronous-unwind-tables", "calls.c", "library.c"],
        "c-gcc-compressed": ["gcc", "-Os", "-g", "-gz", "-fno-asynchronous-unwind-tables", "calls.c", "library.c"],
        "c-gcc-realigned": ["gcc", "-O2", os.path.join(HERE, "realigned.c")],
        "c++-gcc-Os": ["g++", "-Os", "exceptions.cpp"],
        "c++-clang-O3": ["clang++", "-O3", "exceptions.cpp"],
        "c-musl": ["musl-gcc", "-O2", "calls.c", "library.c"],
        "go": ["go", "build"],
    }
    if machine == machines.ARM64:
        wanted["c-gcc-signed"] = ["gcc", "-O2", "-mbranch-protection=standard", "calls.c", "library.c"]
    for name, (compiler, *flags) in wanted.items():
        if compiler == "go":
            yield name, [compiler], [compiler, *flags], ["go.go"]
        elif compiler.startswith("clang"):
            needed = [compiler, prefix + {"clang": "gcc", "clang++": "g++"}[compiler]]
            yield name, needed, [compiler, *target, *flags], ["-lm", "-lpthread"]
        else:
            yield name, [prefix + compiler], [prefix + compiler, *flags], ["-lm", "-lpthread"]


def build(machine, directory, programs):
    """Builds the sources with the compilers and linkers of this machine. Returns {name: path}."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}
    environment["GOARCH"] = machine.go_arch
    environment["PATH"] += ":/usr/local/go/bin"
    for name, needed, command, last in commands(machine):
        missing = [program for program in needed if not shutil.which(program, path=environment["PATH"])]
        if missing:
            print(f"{name}: SKIP: no {missing[0]}")
            continue
        path = os.path.join(directory, name)
        subprocess.run([*command, "-o", path, *last], check=True, cwd=programs, env=environment)
        yield name, path


def installed(machine):
    root = "" if machine.is_native else machine.root
    libraries = "libc.so.6 libm.so.6 libmvec.so.1 libgcc_s.so.1 libstdc++.so.6 libcrypto.so.3 libgcrypt.so.20".split()
    libraries += ["libx265.so.*", "ld-linux-aarch64.so.1"]
    patterns = [f"/usr/lib/*-linux-gnu/{name}" for name in libraries]
    patterns += ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-*.so.1", "/bin/bash", "/bin/busybox"]
    patterns += ["/usr/bin/python3", "/usr/bin/node"]
    found = [path for pattern in patterns for path in glob.glob(root + pattern)]
    found += [sys.executable] if machine.is_native else []
    return {os.path.realpath(path): path for path in found if os.path.isfile(path)}.values()


def report(name, result):
    numbers = f"{result.functions} functions, {result.rows} rows compared, {len(result.differences)} differing"
    kinds = f"expressions {result.expressions}, unsupported {result.unsupported}, special {result.special}"
    print(f"{name}: {numbers}; {kinds}; derived bytes {result.derived}")
    for difference in result.differences[:5]:
        print(f"  {difference}")
    return result.functions > 0 and not result.differences


def main():
    name, rows_dump, programs, *files = sys.argv[1:]
    machine = machines.BY_NAME[name]
    if not shutil.which("readelf") or not (machine.is_native or machine.root):
        print("SKIP: no readelf, or another machine")
        return 77
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ProcessPoolExecutor() as pool:
        named = [(path, path) for path in files or installed(machine)]
        named += [] if files else build(machine, directory, programs)
        results = pool.map(check, [machine] * len(named), [rows_dump] * len(named), [path for _, path in named])
        good = [report(name, result) for (name, _), result in zip(named, results)]
    if not named:
        print(f"SKIP: neither files of {name} nor compilers for it")
        return 77
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
