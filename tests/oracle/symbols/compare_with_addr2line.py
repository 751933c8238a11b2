#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares functions, files, lines and inline depth with what addr2line(1) says of the same addresses, in programs
built here: C, C++, Rust and Go; gcc and clang; DWARF 4 and 5; compressed, apart from the program, and shared by dwz.

    compare_with_addr2line.py LINES_DUMP PROGRAMS

PROGRAMS is a directory of sources. Addresses are taken at random from .text, not only starts of instructions.
addr2line of binutils 2.40 does not read the range lists of clang's and Go's DWARF 5; there, and for these only,
llvm-symbolizer is asked. What may differ, counted apart:

unknown  neither knows more than the symbol table, which has no lines and no paths: code without debug information
padding  bytes behind a function: the tool takes the function from the symbol table, or the line of the last row
plain    addr2line takes a C++ function without linkage name from the symbol table, where it is its caller
beyond   addr2line says a line that the file does not have
outer    llvm-symbolizer takes the outermost function's name from the symbol table, where copies of a function have
         a suffix (.isra.0, .cold, .abi0, .llvm.123) and functions with the same code any of their names
"""
import collections
import dataclasses
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
C_SOURCES = [f"base/{name}.c" for name in "arena array htable intern parse pb queue strbuf utf8".split()]
NR_ADDRESSES = 2500
MIN_AGREEMENT = 0.995
MAX_SILENT = 0.25  # of the addresses; Rust's library has parts without debug information
LLVM = ["llvm-symbolizer", "--output-style=GNU", "--functions=linkage", "--inlines", "--no-demangle", "-a"]
ADDR2LINE = ["addr2line", "-a", "-f", "-i"]
EU_ADDR2LINE = ["eu-addr2line", "-a", "-f", "-i", "--absolute"]


@dataclasses.dataclass
class Program:
    name: str
    debug: str  # what lines_dump reads
    whole: str  # program and debug information as the linker made them: what the tool reads
    supplementary: str = None
    oracle: str = "addr2line"


def run(command, check=True, **arguments):
    return subprocess.run(command, check=check, capture_output=True, text=True, **arguments).stdout


def compilers():
    for name, plus in (("gcc", "g++"), ("clang", "clang++")):
        if shutil.which(name) and shutil.which(plus):
            yield name, plus


def build_c(directory, sources):
    for compiler, plus in compilers():
        for version in (4, 5):
            flags = ["-O2", "-g", f"-gdwarf-{version}", "-fPIC", "-w"]
            oracle = "llvm-symbolizer" if (compiler, version) == ("clang", 5) else "addr2line"
            path = f"{directory}/c-{compiler}-{version}"
            run([compiler, *flags, "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}", "-shared", "-o", path, *C_SOURCES],
                cwd=ROOT)
            yield Program(os.path.basename(path), path, path, oracle=oracle)
            path = f"{directory}/c++-{compiler}-{version}"
            run([plus, *flags, "-o", path, f"{sources}/heavy.cpp"])
            yield Program(os.path.basename(path), path, path, oracle=oracle)


def build_rust(directory, sources):
    path = f"{directory}/rust"
    run(["rustc", "-O", "-C", "debuginfo=1", "-o", path, f"{sources}/rust.rs"])
    yield Program("rust", path, path)


def build_go(directory, sources):
    path = f"{directory}/go"
    run(["go", "build", "-o", path, f"{sources}/go.go"], env={**os.environ, "GOFLAGS": ""})
    yield Program("go", path, path, oracle="llvm-symbolizer")


def repack(directory, program):
    """The same debug information, stored in other ways."""
    packed = f"{directory}/{program.name}-gz"
    run(["objcopy", "--compress-debug-sections=zlib", program.debug, packed])
    yield dataclasses.replace(program, name=f"{program.name}-gz", debug=packed)
    apart = f"{directory}/{program.name}.debug"
    run(["objcopy", "--only-keep-debug", program.debug, apart])
    yield dataclasses.replace(program, name=f"{program.name}.debug", debug=apart)
    if shutil.which("dwz"):
        one, other, common = (f"{directory}/{program.name}-dwz{suffix}" for suffix in ("", "2", "-common"))
        shutil.copy(program.debug, one)
        shutil.copy(program.debug, other)
        run(["dwz", "-m", common, one, other])
        yield dataclasses.replace(program, name=f"{program.name}-dwz", debug=one, supplementary=common)


def build(directory, sources):
    programs = list(build_c(directory, sources))
    for program in list(programs):
        if program.name in ("c++-gcc-4", "c++-gcc-5"):
            programs += repack(directory, program)
    if shutil.which("rustc"):
        programs += build_rust(directory, sources)
    if shutil.which("go"):
        programs += build_go(directory, sources)
    return [program for program in programs if shutil.which(program.oracle)]


def pick_addresses(path):
    match = re.search(r" \.text +\w+ +(\w+) +\w+ +(\w+)", run(["readelf", "-SW", path]))
    start, size = int(match[1], 16), int(match[2], 16)
    chosen = random.Random(path.rpartition("/")[2])
    return sorted(start + offset for offset in chosen.sample(range(size), min(size, NR_ADDRESSES)))


def parse(output):
    """{address: [(function, "file:line")]}, innermost first; unknown files and lines as in "??:0"."""
    chains, chain, lines = {}, None, iter(output.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            chain = chains.setdefault(int(line, 16), [])
            continue
        function = line.partition(" inlined at ")[0]
        place = re.sub(r" \(.*\)$", "", next(lines))
        place = re.sub(r"^((?:.*):(?:\d+|\?))(:\d+)$", r"\1", place)
        place = re.sub(r":\?$", ":0", place)
        chain.append((function, re.sub(r"^:0$", "??:0", place)))
    return chains


def ask(command, addresses):
    """eu-addr2line fails when it does not know one of the addresses."""
    text = "".join(f"{address:#x}\n" for address in addresses)
    return parse(run(command, check=command[0] != "eu-addr2line", input=text))


def without_outer_name(chain):
    return [*chain[:-1], chain[-1][1]]


def is_beyond(place):
    path, _, line = place.rpartition(":")
    return os.path.exists(path) and int(line) > len(open(path, "rb").readlines())


def classify(ours, theirs, eu, oracle):
    if not ours:
        if re.fullmatch(r"[^/]*:0", theirs[0][1]):
            return "unknown"
        return "padding" if eu[0][0] == "??" else "missing"
    if ours == theirs:
        return "same"
    if oracle == "llvm-symbolizer" and without_outer_name(ours) == without_outer_name(theirs):
        return "outer"
    if oracle == "addr2line" and [place for _, place in ours] == [place for _, place in theirs]:
        return "plain" if all(our[0] == their[0] or not our[0].startswith("_Z") and their[0] == ours[-1][0]
                              for our, their in zip(ours, theirs)) else "different"
    if oracle == "addr2line" and len(ours) == len(theirs) and is_beyond(theirs[0][1]):
        return "beyond"
    return "different"


def compare(lines_dump, program):
    addresses = pick_addresses(program.whole)
    supplementary = [program.supplementary] if program.supplementary else []
    oracle = ADDR2LINE if program.oracle == "addr2line" else LLVM
    ours = ask([lines_dump, program.debug, *supplementary], addresses)
    theirs = ask([*oracle, "-e", program.whole], addresses)
    silent = [address for address in addresses if not ours[address]]
    eu = ask([*EU_ADDR2LINE, "-e", program.whole], silent)  # slow
    counts, differences = collections.Counter(), []
    for address in addresses:
        kind = classify(ours[address], theirs[address], eu.get(address), program.oracle)
        counts[kind] += 1
        counts["inlined"] += len(ours[address]) > 1
        if kind in ("missing", "different"):
            differences.append((address, ours[address], theirs[address]))
    return addresses, counts, differences


def is_fine(program, nr_addresses, counts):
    agree = nr_addresses - counts["missing"] - counts["different"]
    silent = counts["unknown"] + counts["padding"]
    return (agree >= MIN_AGREEMENT * nr_addresses and silent <= MAX_SILENT * nr_addresses
            and counts["inlined"] > 0 and (program.name != "c++-gcc-4" or nr_addresses >= 2000))


def main():
    lines_dump, sources = sys.argv[1:]
    if missing := [tool for tool in ("addr2line", "eu-addr2line", "objcopy") if not shutil.which(tool)]:
        print(f"SKIP: no {', '.join(missing)}")
        return 77

    failed = False
    with tempfile.TemporaryDirectory() as directory:
        for program in build(directory, os.path.abspath(sources)):
            addresses, counts, differences = compare(lines_dump, program)
            fine = is_fine(program, len(addresses), counts)
            failed |= not fine
            print(f"{program.name}, {program.oracle}: {len(addresses)} addresses, {dict(counts)}",
                  "" if fine else "FAILED")
            for address, ours, theirs in differences[:10]:
                print(f"  {address:#x}\n    ours   {ours}\n    theirs {theirs}")
    return failed


sys.exit(main())
