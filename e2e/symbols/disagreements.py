# SPDX-License-Identifier: Apache-2.0
"""Compares the names of recorded addresses with addr2line's or, where a file has no debug information, with
those of the symbols that hold them, as perf takes them. Each disagreement must be one of EXPLANATIONS."""

import collections
import random
import re
import shutil
import subprocess
from dataclasses import dataclass

import elf_names
import judge

MAX_ADDRESSES = 10_000
MAX_UNEXPLAINED = 0.001
MAX_LINES = 64      # Flamelet's, at one address
SHOWN = 20
CLONE = re.compile(r"(?:\.(?:abi0|constprop|part|isra|cold|lto_priv|localalias|llvm)(?:\.\d+)*)+$")


ADDR2LINE = ("addr2line", "-a", "-f", "-i", "-e")
LLVM = ("llvm-symbolizer", "--output-style=GNU", "--no-demangle", "-a", "-f", "-i", "-e")


def ask(command, file, addresses):
    """{address: functions, innermost first}"""
    text = subprocess.run([*command, file], text=True, timeout=120, check=True,
                          input="".join(f"{address:#x}\n" for address in addresses),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    answers, lines = {}, filter(None, text.splitlines())
    for line in lines:
        if line.startswith("0x"):
            answer = answers[int(line, 16)] = []
        else:
            answer += [elf_names.without_version(line)] if line != "??" else []
            next(lines)         # the source's
    return answers


@dataclass
class Case:
    """One address: Flamelet's names, the other's, innermost first."""
    tables: elf_names.ElfNames
    address: int
    ours: list
    theirs: list
    third: list = None  # llvm-symbolizer's, where it was asked

    def holders(self):
        return {symbol.name for symbol in self.tables.holders(self.address)}

    def is_aliased(self):
        """Two symbols of one function."""
        return (self.ours[:-1] == self.theirs[:-1]
                and {*self.ours[-1:], *self.theirs[-1:]} <= self.holders())

    def is_clone(self):
        return ([CLONE.sub("", name) for name in self.ours]
                == [CLONE.sub("", name) for name in self.theirs])

    def is_plain(self):
        return len(self.ours) == len(self.theirs) and all(
            a == b or f"{len(a)}{a}" in b or f"{len(b)}{b}" in a
            for a, b in zip(self.ours, self.theirs))

    def is_beyond(self):
        """addr2line says the nearest symbol before the address, wherever that ends."""
        holders = self.holders()
        return (len(self.theirs) == 1 and self.theirs[0] not in holders
                and bool(self.ours) == bool(holders) and set(self.ours) <= holders)

    def is_plt(self):
        section = self.tables.section_of(self.address)
        return section is not None and section[0].startswith(".plt")

    def is_cut(self):
        return len(self.theirs) > MAX_LINES == len(self.ours)

    def is_outvoted(self):
        return self.third is not None and Case(self.tables, self.address, self.ours,
                                               self.third).is_same()

    def is_same(self):
        return (self.ours == self.theirs or self.is_aliased() or self.is_clone()
                or self.is_plain())


EXPLANATIONS = (
    (Case.is_aliased, "another one of several symbols of the same function"),
    (Case.is_clone, "a compiler's copy of a function (.constprop, .cold, Go's .abi0): with or without its suffix"),
    (Case.is_plain, "a plain name from the debug information, the mangled one from the symbol table"),
    (Case.is_plt, "a stub that calls another library's function: no symbol holds it"),
    (Case.is_beyond, "addr2line says the nearest symbol, though it ends before the address"),
    (Case.is_cut, f"more than {MAX_LINES} functions inlined into each other"),
    (Case.is_outvoted, "llvm-symbolizer says the same as Flamelet, addr2line something else"),
)


def explain(case):
    return next((words for is_it, words in EXPLANATIONS if is_it(case)), None)


def ask_third(cases):
    """A file's cases that nothing else explains."""
    cases = [case for case in cases if not explain(case)]
    if cases and cases[0].tables.dwarf and shutil.which(LLVM[0]):
        answers = ask(LLVM, cases[0].tables.dwarf, [case.address for case in cases])
        for case in cases:
            case.third = answers[case.address]


class Comparison:
    def __init__(self):
        self.tables = {}    # (file, its debug file) -> ElfNames
        self.names = {}     # (file, its debug file, address) -> Flamelet's, innermost first

    def add(self, samples, names):
        for location in {place for sample in samples for place in sample.locations}:
            tables = names(location.file) if location.is_user() else None
            address = tables.address_of(location.address) if tables else None
            if address is not None:
                key = location.file, tables.dwarf
                self.tables[key] = tables
                self.names[*key, address] = [
                    elf_names.without_version(line.system_name)
                    for line in location.lines if judge.is_named(location)]

    def cases(self):
        """Yields, for each file, the cases to which Flamelet or the other program gives a name."""
        addresses = collections.defaultdict(list)
        for *key, address in sorted(self.names, key=str):
            addresses[tuple(key)].append(address)
        for key, group in addresses.items():
            tables = self.tables[key]
            answers = ask(ADDR2LINE, tables.dwarf, group) if tables.dwarf else {
                address: [symbol.name for symbol in tables.holders(address)][:1] for address in group}
            cases = [Case(tables, address, self.names[*key, address], answers[address])
                     for address in group]
            yield key[0], [case for case in cases if case.ours or case.theirs]

    def choose(self):
        """At random, but the same ones of the same."""
        if len(self.names) > MAX_ADDRESSES:
            chosen = random.Random(1).sample(sorted(self.names, key=str), MAX_ADDRESSES)
            self.names = {key: self.names[key] for key in chosen}

    def check(self):
        """Prints how many agree, and why others do not; returns what is wrong."""
        self.choose()
        counts, unexplained = collections.Counter(), []
        for file, cases in self.cases():
            counts["the same"] += sum(case.ours == case.theirs for case in cases)
            odd = [case for case in cases if case.ours != case.theirs]
            ask_third(odd)
            for case in odd:
                words = explain(case)
                counts[words] += 1
                if not words:
                    unexplained.append(f"{file} {case.address:#x}: {case.ours} for {case.theirs}")
        for words, count in counts.most_common():
            print(f"{count:8} {words or 'NOT EXPLAINED'}", flush=True)
        if len(unexplained) <= MAX_UNEXPLAINED * counts.total():
            return []
        return [f"disagreement: {text}" for text in unexplained[:SHOWN]]
