#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names elf_names gives to random addresses with what nm(1) says about the same files:
installed ones, and small ones built here in every shape a linker makes."""
import bisect
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

NR_ADDRESSES = 2000
SOURCE = """
static int inner(int x) { return x * 3 + 1; }
int outer(int x) { return inner(x) + inner(x + 1); }
__attribute__((weak)) int maybe(int x) { return x ^ 5; }
int also_outer(int x) __attribute__((alias("outer")));
int main(int argc, char **argv) { (void)argv; return outer(argc) + maybe(argc); }
"""
ASSEMBLY = """
.text
.globl _start
.type _start, %function
_start: nop; nop; nop
.type sized, %function
sized: nop; nop
.size sized, 2
nop; nop
label: nop
"""
RANKS = {"GLOBAL": 0, "UNIQUE": 0, "WEAK": 1}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          errors="surrogateescape").stdout


def code_sections(path):
    """(start, end) of every executable section, from readelf."""
    pattern = re.compile(r"\[ *\d+\] +(\S+) +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +(\w*)")
    found = []
    for line in run("readelf", "-SW", path).splitlines():
        match = pattern.search(line)
        if match and "X" in match[4]:
            start = int(match[2], 16)
            found.append((start, start + int(match[3], 16)))
    return found


def bindings(path):
    """(address, name) -> rank, from readelf: nm does not tell a weak from a unique symbol."""
    ranks = {}
    for line in run("readelf", "--dyn-syms", "-sW", path).splitlines():
        field = line.split()
        if len(field) >= 8 and field[0].endswith(":") and field[0][:-1].isdigit():
            key = (int(field[1], 16), field[7].split("@")[0])
            ranks[key] = min(ranks.get(key, 3), RANKS.get(field[4], 2))
    return ranks


def functions(path):
    """address -> (name, end) of the best symbol there, by nm."""
    sections = code_sections(path)
    ranks = bindings(path)
    best = {}
    for table in ([], ["-D"]):
        text = run("nm", *table, "--defined-only", "-f", "sysv", "--without-symbol-versions", path)
        for line in text.splitlines():
            field = [part.strip() for part in line.split("|")]
            if len(field) != 7 or field[3] not in ("FUNC", "IFUNC", "<OS specific>: 10", "NOTYPE"):
                continue
            name, address, size = field[0], int(field[1], 16), int(field[4] or "0", 16)
            holding = [end for start, end in sections if start <= address < end]
            if not holding or not name or (field[3] == "NOTYPE" and size == 0):
                continue
            key = (ranks.get((address, name), 2), len(name.encode(errors="surrogateescape")))
            known = best.get(address)
            if known is None or key < known[0]:
                best[address] = (key, {name}, size or (known[2] if known else 0), holding[0])
            else:
                names = known[1] | ({name} if key == known[0] else set())
                best[address] = (known[0], names, known[2] or size, known[3])
    starts = sorted(best)
    sized = {}
    for i, start in enumerate(starts):
        _, names, size, section_end = best[start]
        following = starts[i + 1] if i + 1 < len(starts) else section_end
        end = min(start + size, section_end) if size else min(following, section_end)
        sized[start] = (names, end)
    return starts, sized, sections


def expected(address, starts, sized):
    """The names that are right: of the last function that starts at or below and has not ended."""
    for i in range(bisect.bisect_right(starts, address) - 1, -1, -1):
        names, end = sized[starts[i]]
        if address < end:
            return names
        if address - starts[i] > 1 << 22:
            break
    return {"-"}


def check(elf_names, path):
    starts, sized, sections = functions(path)
    low, high = (sections[0][0], max(end for _, end in sections)) if sections else (0, 4096)
    addresses = [random.randrange(max(low - 64, 0), high + 64) for _ in range(NR_ADDRESSES // 2)]
    for start in random.choices(starts, k=NR_ADDRESSES // 4) if starts else []:
        addresses += [start, sized[start][1]]
    output = subprocess.run([elf_names, path], input="".join(f"{a:x}\n" for a in addresses), check=True,
                            capture_output=True, text=True, errors="surrogateescape").stdout
    build_id, *names = output.splitlines()
    wrong = [(hex(a), name, expected(a, starts, sized)) for a, name in zip(addresses, names, strict=True)
             if name not in expected(a, starts, sized)]
    assert not wrong, f"{path}: {len(wrong)} wrong, first {wrong[:3]}"
    match = re.search(r"Build ID: (\w+)", run("readelf", "-nW", path))
    assert build_id == (match[1] if match else ""), f"{path}: build id {build_id}"
    return len(starts)


def built_files(directory):
    source, assembly = os.path.join(directory, "a.c"), os.path.join(directory, "a.s")
    with open(source, "w") as file:
        file.write(SOURCE)
    with open(assembly, "w") as file:
        file.write(ASSEMBLY)

    def out(name):
        return os.path.join(directory, name)

    shapes = {"pie": ["-fPIE", "-pie"], "shared": ["-fPIC", "-shared", "-Wl,--build-id=md5"],
              "no_pie": ["-fno-pie", "-no-pie"], "static": ["-static", "-no-pie", "-Wl,--build-id=none"]}
    for name, flags in shapes.items():
        run("cc", "-O1", "-o", out(name), source, *flags)
    run("strip", "-o", out("stripped"), out("static"))
    run("strip", "-o", out("only_dynsym"), out("shared"))
    if os.uname().machine == "x86_64":
        run("as", "--32", "-o", out("a.o"), assembly)
        run("ld", "-m", "elf_i386", "--build-id", "-o", out("i386"), out("a.o"))
        os.unlink(out("a.o"))
    os.unlink(source)
    os.unlink(assembly)
    return sorted(glob.glob(out("*")))


def main():
    elf_names = sys.argv[1]
    if not all(shutil.which(tool) for tool in ("nm", "readelf", "strip", "cc", "as", "ld")):
        print("SKIP: no binutils or compiler")
        return 77
    random.seed(7)
    installed = [elf_names, "/bin/bash", sys.executable, *glob.glob("/lib/*/libc.so.6"),
                 *glob.glob("/usr/lib/*/libstdc++.so.6"), *glob.glob("/usr/lib/*/libcrypto.so.3")]
    with tempfile.TemporaryDirectory() as directory:
        counts = {os.path.basename(path): check(elf_names, path)
                  for path in [*filter(os.path.exists, installed), *built_files(directory)]}
    assert counts.get("i386", 2) == 2 and counts["stripped"] == 0 and counts["only_dynsym"] > 0 and counts["bash"] > 1000, counts
    return 0


if __name__ == "__main__":
    sys.exit(main())
