# SPDX-License-Identifier: Apache-2.0
"""Reads what the symbol tables of an ELF file, and of the files with its debug information, say of
an address. Asked of binutils, so that it is an opinion independent of Flamelet's."""

import bisect
from dataclasses import dataclass
import itertools
import lzma
import os
import re

import host

SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(0x[0-9a-f]+|\d+) (\w+)\s+\w+\s+\w+\s+(?:\[.*\] +)?(\w+) (.+)")
SECTION = re.compile(r"\s*\[ *(\d+)\] (\S*)\s+\S+\s+([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) \w\w\s+(\w*)")
BUILD_ID = re.compile(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)")
TYPES = ("FUNC", "IFUNC")
VDSO = "[vdso]"


@dataclass(frozen=True)
class Symbol:
    start: int
    end: int
    name: str


def without_version(name):
    """memcpy for memcpy@@GLIBC_2.14"""
    return name[:1] + name[1:].partition("@")[0]


class Dump:
    """The tables of one file, as readelf prints them."""

    def __init__(self, path):
        self.segments, self.sections, self.symbols, self.build_id = [], [], [], ""
        for line in host.run("readelf", "-lSsnW", path, env=dict(os.environ, LC_ALL="C"),
                             seconds=60).splitlines():
            self.take(line)
        self.has_dwarf = any(name == ".debug_info" for name, *_ in self.sections)

    def take(self, line):
        if match := SYMBOL.match(line):
            self.take_symbol(*match.groups())
        elif match := SECTION.match(line):
            _, name, start, size, flags = match.groups()
            self.sections.append((name, int(start, 16), int(start, 16) + int(size, 16), flags))
        elif match := BUILD_ID.search(line):
            self.build_id = f"{match[1]}/{match[2]}"
        elif line.startswith("  LOAD "):
            _, offset, start, _, size, _, *flags = line.split()
            if "E" in "".join(flags[:-1]):
                self.segments.append((int(offset, 16), int(start, 16), int(size, 16)))

    def take_symbol(self, start, size, kind, section, name):
        """Labels of assembler code, without type and size, are no functions."""
        start, size = int(start, 16), int(size, 0)
        if section.isdigit() and (kind in TYPES or kind == "NOTYPE" and size > 0):
            self.symbols.append((start, size, without_version(name.strip())))


def read_mini_debug_info(path, directory):
    """The symbols in .gnu_debugdata."""
    packed = f"{directory}/mini.xz"
    host.run("objcopy", "--dump-section", f".gnu_debugdata={packed}", path, f"{directory}/copy")
    with lzma.open(packed) as mini, open(f"{directory}/mini", "wb") as plain:
        plain.write(mini.read())
    return Dump(f"{directory}/mini").symbols


class ElfNames:
    """`debug_dirs`: where separate debug files may lie. `twin`: a file with all symbols at the same
    addresses; `has_lines`: its debug information counts, too."""

    def __init__(self, path, directory, debug_dirs=(), twin=None, has_lines=True):
        own = Dump(path)
        self.segments = own.segments
        self.code = [section for section in own.sections if "X" in section[3]]
        symbols = set(own.symbols)
        if any(name == ".gnu_debugdata" for name, *_ in own.sections):
            symbols |= set(read_mini_debug_info(path, directory))
        self.dwarf = path if own.has_dwarf else None
        others = [f"{debug_dir}/.build-id/{own.build_id}.debug" for debug_dir in debug_dirs]
        for other in filter(os.path.exists, [twin] if twin else others):
            dump = Dump(other)
            symbols |= set(dump.symbols)
            if dump.has_dwarf and has_lines:
                self.dwarf = self.dwarf or other
        self.fill(sorted(symbols))

    def fill(self, symbols):
        """Symbols without a size end where the next one starts, or with the section."""
        starts = sorted({start for start, _, _ in symbols})
        self.symbols = []
        for start, size, name in symbols:
            section = self.section_of(start)
            if section:
                following = bisect.bisect_right(starts, start)
                limit = starts[following] if following < len(starts) else section[2]
                end = start + size if size else min(limit, section[2])
                self.symbols.append(Symbol(start, end, name))
        self.starts = [symbol.start for symbol in self.symbols]
        self.furthest = list(itertools.accumulate((s.end for s in self.symbols), max))

    def section_of(self, address):
        return next((s for s in self.code if s[1] <= address < s[2]), None)

    def address_of(self, offset):
        """The virtual address, by the program headers; None for no code."""
        return next((offset - first + start for first, start, size in self.segments
                     if first <= offset < first + size), None)

    def holders(self, address):
        """The symbols that hold the address and, of those, start last: one function's names."""
        found = []
        i = bisect.bisect_right(self.starts, address) - 1
        while i >= 0 and self.furthest[i] > address:
            symbol = self.symbols[i]
            if found and symbol.start < found[0].start:
                break
            if symbol.end > address:
                found.append(symbol)
            i -= 1
        return found


class Names:
    """ElfNames of each file that was sampled, read once; None for what is no ELF file or is gone."""

    def __init__(self, directory, debug_dirs, group):
        self.directory, self.debug_dirs = directory, debug_dirs
        self.programs = {load.program.path: load.program for load in group if load.program}
        self.tables = {}

    def __call__(self, path):
        if path not in self.tables:
            own = self.programs.get(path)
            twin = (own.twin, own.has_lines) if own else ()
            try:
                self.tables[path] = ElfNames(self.file_of(path), self.directory, self.debug_dirs,
                                             *twin)
            except host.Failure:
                self.tables[path] = None
        return self.tables[path]

    def file_of(self, path):
        """The vDSO is the same in all processes."""
        if path != VDSO:
            return path
        with open("/proc/self/maps", encoding="utf-8") as maps:
            start, end = next(line for line in maps if VDSO in line).split()[0].split("-")
        with open("/proc/self/mem", "rb") as memory, open(f"{self.directory}/vdso", "wb") as copy:
            memory.seek(int(start, 16))
            copy.write(memory.read(int(end, 16) - int(start, 16)))
        return copy.name
