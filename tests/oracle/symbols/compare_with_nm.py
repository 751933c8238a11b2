#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names elf_names gives to random addresses with what nm(1) and objdump(1) say about the same files:
installed ones, and small ones built here in every shape a linker makes. Files from which something was removed are
compared with what nm says about the whole ones."""
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
CXX_SOURCE = """
#include <cstdio>
#include <string>
#include <vector>
namespace shop {
struct Cart { virtual ~Cart() {} virtual int total() const; std::vector<int> prices; };
__attribute__((noinline)) static int tax(int price) { return price / 5; }
int Cart::total() const { int sum = 0; for (int price : prices) sum += price + tax(price); return sum; }
}
int main(int argc, char **argv) { shop::Cart cart; cart.prices.push_back(argc); std::string text(argv[0]);
return std::printf("%d %s\\n", cart.total(), text.c_str()) < 0; }
"""
GO_SOURCE = """
package main
import "fmt"
type T struct{ n int }
//go:noinline
func (t *T) Run() int { return t.n * 2 }
//go:noinline
func Map[X any](a []X, f func(X) X) []X { for i := range a { a[i] = f(a[i]) }; return a }
func main() { t := &T{3}; fmt.Println(t.Run(), Map([]int{1}, func(i int) int { return i + 1 })) }
"""
RANKS = {"GLOBAL": 0, "UNIQUE": 0, "WEAK": 1}
LOCAL, LABEL = 2, 3


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
    """(address, name) -> rank, from readelf: nm does not tell a weak from a unique symbol. And the hidden local ones."""
    ranks, hidden = {}, set()
    for line in run("readelf", "--dyn-syms", "-sW", path).splitlines():
        field = line.split()
        if len(field) >= 8 and field[0].endswith(":") and field[0][:-1].isdigit():
            key = (int(field[1], 16), field[7].split("@")[0])
            ranks[key] = min(ranks.get(key, LABEL), RANKS.get(field[4], LOCAL))
            if field[4] == "LOCAL" and field[5] != "DEFAULT":
                hidden.add(key)
    return ranks, hidden


def stubs(path):
    """(name, address, size) of the stubs of the linkage table, from objdump."""
    sections = [(match[1], int(match[2], 16)) for match in re.finditer(
        r" (\.plt\S*) +PROGBITS +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", run("readelf", "-SW", path))]
    for section, size in sections:
        text = run("objdump", "-d", "--no-show-raw-insn", "-j", section, path)
        for match in re.finditer(r"^([0-9a-f]+) <(\S+@plt)>:$", text, re.MULTILINE):
            yield match[2], int(match[1], 16), size or 16


def symbols(path, tables):
    """(name, address, size, rank) of everything that may name code, by nm."""
    ranks, hidden = bindings(path)
    for table in tables:
        text = run("nm", *table, "--defined-only", "-f", "sysv", "--without-symbol-versions", path)
        for line in text.splitlines():
            field = [part.strip() for part in line.split("|")]
            if len(field) != 7 or field[3] not in ("FUNC", "IFUNC", "<OS specific>: 10", "NOTYPE"):
                continue
            name, address, size = field[0], int(field[1], 16), int(field[4] or "0", 16)
            rank = ranks.get((address, name), LOCAL)
            if field[3] == "NOTYPE" and size == 0:
                if table or name[:1] in ("$", ".") or (address, name) in hidden or field[2] == "A":
                    continue
                rank = LABEL
            if name:
                yield name, address, size, rank


def choose(path, tables):
    """address -> [key, names, size, end of section] of the best symbol there."""
    sections = code_sections(path)
    found = [*symbols(path, tables), *((*stub, LOCAL) for stub in stubs(path))]
    best = {}
    for name, address, size, rank in found:
        holding = [end for start, end in sections if start <= address < end]
        if not holding:
            continue
        key = (rank, len(name.encode(errors="surrogateescape")))
        known = best.setdefault(address, [key, set(), 0, holding[0]])
        if key < known[0]:
            known[0], known[1], known[2] = key, set(), size or known[2]
        if key == known[0]:
            known[1].add(name)
        known[2] = known[2] or size
    return best


def functions(path, tables=((), ("-D",))):
    """Sorted starts, and start -> (names, end) of the best symbol there."""
    best = choose(path, tables)
    sized, covered, label = {}, 0, None
    starts = sorted(best)
    proper = [start for start in starts if best[start][0][0] != LABEL]
    for start in starts:
        key, names, size, section_end = best[start]
        if key[0] == LABEL and start < covered:
            continue
        if label is not None:
            sized[label] = (sized[label][0], min(sized[label][1], start))
        label = start if key[0] == LABEL else None
        following = bisect.bisect_right(proper, start)
        end = start + size if size else proper[following] if following < len(proper) else section_end
        sized[start] = (names, section_end if label is not None else min(end, section_end))
        covered = max(covered, 0 if label is not None else sized[start][1])
    return sorted(sized), sized


def expected(address, starts, sized):
    """The names that are right: of the last function that starts at or below and has not ended."""
    for i in range(bisect.bisect_right(starts, address) - 1, -1, -1):
        names, end = sized[starts[i]]
        if address < end:
            return names
        if address - starts[i] > 1 << 22:
            break
    return {"-"}


def names_of(elf_names, path, addresses):
    output = subprocess.run([elf_names, path], input="".join(f"{a:x}\n" for a in addresses), check=True,
                            capture_output=True, text=True, errors="surrogateescape").stdout
    build_id, *names = output.splitlines()
    return build_id, names


def check(elf_names, path):
    starts, sized = functions(path)
    sections = code_sections(path)
    low, high = (sections[0][0], max(end for _, end in sections)) if sections else (0, 4096)
    addresses = [random.randrange(max(low - 64, 0), high + 64) for _ in range(NR_ADDRESSES // 2)]
    for start in random.choices(starts, k=NR_ADDRESSES // 4) if starts else []:
        addresses += [start, sized[start][1]]
    build_id, names = names_of(elf_names, path, addresses)
    wrong = [(hex(a), name, expected(a, starts, sized)) for a, name in zip(addresses, names, strict=True)
             if name not in expected(a, starts, sized)]
    assert not wrong, f"{path}: {len(wrong)} wrong, first {wrong[:3]}"
    match = re.search(r"Build ID: (\w+)", run("readelf", "-nW", path))
    assert build_id == (match[1] if match else ""), f"{path}: build id {build_id}"
    return len(starts)


def check_twin(elf_names, path, whole, tables=((), ("-D",)), rename=lambda name: name):
    """All functions of a file, by what the whole one has that it was made from."""
    starts, sized = functions(whole, tables)
    addresses = [address for start in starts for address in (start, sized[start][1] - 1)]
    _, names = names_of(elf_names, path, addresses)
    wrong = [(hex(a), name, expected(a, starts, sized)) for a, name in zip(addresses, names, strict=True)
             if rename(name) not in map(rename, expected(a, starts, sized))]
    assert not wrong, f"{path}: {len(wrong)} of {len(addresses)} wrong, first {wrong[:3]}"
    return len(starts)


def with_minidebuginfo(program, out):
    """Makes what Fedora's find-debuginfo makes: symbols that are not in .dynsym go into
    .gnu_debugdata."""
    def listed(*options):
        text = run("nm", *options, "-f", "posix", "--defined-only", program)
        return {field[0] for field in map(str.split, text.splitlines()) if field[1] in "TtWwiD"}

    keep = f"{out}.keep"
    with open(keep, "w") as file:
        file.write("\n".join(sorted(listed() - listed("-D"))) + "\n")
    run("objcopy", "--only-keep-debug", program, f"{out}.debug")
    run("objcopy", "-S", f"--keep-symbols={keep}", f"{out}.debug", f"{out}.mini")
    run("xz", "-f", f"{out}.mini")
    run("strip", "-R", ".comment", "-o", out, program)
    run("objcopy", "--add-section", f".gnu_debugdata={out}.mini.xz", out)


def without_section_headers(program, out):
    with open(program, "rb") as file:
        data = bytearray(file.read())
    data[0x28:0x30] = bytes(8)  # e_shoff
    data[0x3c:0x40] = bytes(4)  # e_shnum, e_shstrndx
    with open(out, "wb") as file:
        file.write(data)


def check_minidebuginfo(elf_names, directory):
    source, whole, mini = (os.path.join(directory, name) for name in ("b.cc", "cxx", "mini"))
    with open(source, "w") as file:
        file.write(CXX_SOURCE)
    run("g++", "-O1", "-g", "-o", whole, source)
    with_minidebuginfo(whole, mini)
    assert check_twin(elf_names, mini, whole) > 20


def check_no_sections(elf_names, directory):
    out = os.path.join(directory, "no_sections")
    for whole in [os.path.join(directory, "shared"), *glob.glob("/lib/x86_64-linux-gnu/libstdc++.so.6")]:
        without_section_headers(whole, out)
        starts, sized = functions(whole, (("-D",),))
        addresses = [start for start in starts if not any("@plt" in name for name in sized[start][0])]
        _, names = names_of(elf_names, out, addresses)
        assert all(name in sized[a][0] for a, name in zip(addresses, names, strict=True)), (whole, names[:4])


def go_name(name):
    """Returns the part that names in .symtab and .gopclntab share: the latter are without type
    arguments and calling conventions, and have dots as the compiler writes them. What begins at the
    end is no function."""
    if name == "runtime.etext":
        return "-"
    return re.sub(r"\.abi(0|internal)$", "", re.sub(r"\[go\.shape.*\]", "[...]", name)).replace("\u00b7", ".")


def check_go(elf_names, directory):
    source = os.path.join(directory, "m.go")
    with open(source, "w") as file:
        file.write(GO_SOURCE)
    environment = {"HOME": directory, **os.environ, "GOFLAGS": "", "GO111MODULE": "off"}
    for mode in ("exe", "pie"):
        whole, stripped = (os.path.join(directory, f"go_{mode}{suffix}") for suffix in ("", "_stripped"))
        for out, flags in ((whole, ""), (stripped, "-s -w")):
            subprocess.run(["go", "build", f"-buildmode={mode}", f"-ldflags={flags}", "-o", out, source], check=True,
                           env=environment, capture_output=True)
        nr = check_twin(elf_names, stripped, whole, rename=go_name)
        assert nr > 1000, nr
        check(elf_names, whole)


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
    run("objcopy", "--only-keep-debug", out("pie"), out("debug_file"))
    if os.uname().machine == "x86_64":
        run("as", "--32", "-o", out("a.o"), assembly)
        run("ld", "-m", "elf_i386", "--build-id", "-o", out("i386"), out("a.o"))
        os.unlink(out("a.o"))
    os.unlink(source)
    os.unlink(assembly)
    return sorted(glob.glob(out("*")))


def main():
    elf_names = sys.argv[1]
    if not all(shutil.which(tool) for tool in ("nm", "readelf", "objdump", "strip", "cc", "as", "ld")):
        print("SKIP: no binutils or compiler")
        return 77
    random.seed(7)
    installed = [elf_names, "/bin/bash", sys.executable, *glob.glob("/lib/*/libc.so.6"),
                 *glob.glob("/usr/lib/*/libstdc++.so.6"), *glob.glob("/usr/lib/*/libcrypto.so.3")]
    with tempfile.TemporaryDirectory() as directory:
        counts = {os.path.basename(path): check(elf_names, path)
                  for path in [*filter(os.path.exists, installed), *built_files(directory)]}
        if os.uname().machine == "x86_64":
            check_no_sections(elf_names, directory)
        if shutil.which("g++") and shutil.which("xz"):
            check_minidebuginfo(elf_names, directory)
        if shutil.which("go"):
            check_go(elf_names, directory)
    assert counts.get("i386", 3) == 3 and counts["only_dynsym"] > 0 and counts["bash"] > 1000, counts
    return 0


if __name__ == "__main__":
    sys.exit(main())
