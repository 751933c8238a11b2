#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares demangled names of this machine's programs with c++filt(1): full ones as they are, short ones with what
is left of c++filt's when brackets are taken away from the inside out (demangle_names goes from left to right).

    compare_with_cxxfilt.py DEMANGLE_NAMES [MAX_NAMES]
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys

MIN_NAMES = 1000  # a machine without any large C++ or Rust library
MAX_NAMES = 100_000
MAX_NAME_BYTES = 4096
PATTERNS = [
    "/usr/lib/*-linux-gnu/libstdc++.so.6",
    "~/.rustup/toolchains/*/lib/*.so*",
    "/usr/lib/llvm-*/lib/*.so*",
    "/usr/lib/*-linux-gnu/lib*.so.*",
    "/usr/lib/jvm/*/lib/server/libjvm.so",
    "/usr/lib/chromium/*",
    "/usr/bin/*",
    "/usr/local/bin/*",
]
QUALIFIERS = r"(?: (?:const|volatile|restrict|__restrict|noexcept|&&?)(?=$| |::))*"
OPERATOR = re.compile(r"\boperator(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|\(\)|\[\]|<|>)")
# An operator between operands; ">" is never one without a parenthesis around.
BETWEEN = re.compile("(?<=[\x01}])(?:<<|>>|<=|>=|<|->)(?=\x01)|(?<=\x01)>(?=\x01)|(?<=-)>")


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def symbols(path, *options):
    output = subprocess.run(["nm", "--format=posix", "--defined-only", *options, path], check=False,
                            capture_output=True, text=True, errors="replace").stdout
    return {line.split(" ", 1)[0].split("@")[0] for line in output.splitlines()}


def collect(max_names):
    """The same names in each run: files in order, and from each of them a fair part."""
    names = set()
    for pattern in PATTERNS:
        for path in sorted({os.path.realpath(p) for p in glob.glob(os.path.expanduser(pattern))}):
            if len(names) >= max_names:
                return sorted(names)
            if not is_elf(path):
                continue
            found = sorted(name for name in symbols(path, "-D") | symbols(path) if re.match("_[ZR]", name))
            random.Random(1).shuffle(found)
            names.update(found[: max_names // 4])
    return sorted(names)


def pipe(names, *command):
    output = subprocess.run(command, check=True, input="".join(name + "\n" for name in names), text=True,
                            errors="surrogateescape", capture_output=True).stdout
    lines = output.split("\n")[:-1]
    if len(lines) != len(names):
        sys.exit(f"{command}: {len(lines)} lines for {len(names)} names")
    return lines


def is_rust(name, terse, verbose):
    """c++filt shows the hashes of legacy names, unless told to be terse."""
    return name.startswith("_R") or re.fullmatch(re.escape(terse) + "::h[0-9a-f]{16}", verbose) is not None


class Groups:
    """Takes brackets that hold no other ones out of a text, until there are none, keeping what was in them."""

    def __init__(self):
        self.kept = []

    def keep(self, text):
        self.kept.append(text)
        return f"\x02{len(self.kept) - 1}\x03"

    def restore(self, text):
        while "\x02" in text:
            text = re.sub("\x02(\\d+)\x03", lambda match: self.kept[int(match.group(1))], text)
        return text.replace("\x01", "")

    def reduce(self, text):
        text = OPERATOR.sub(lambda match: self.keep(match.group()), text)
        while True:
            before = text
            text = BETWEEN.sub("+", text)
            text = re.sub(r"\(([^()<>{}]*)\)", lambda match: "\x01" + self.keep(match.group()) + "\x01", text)
            text = re.sub(r"\{[^()<>{}]*\}", lambda match: self.keep(match.group()), text)
            text = re.sub(r" ?<[^()<>{}]*>", "", text)
            if text == before:
                return text


def short_cplus(text):
    groups = Groups()
    text = re.sub(r"\[abi:\w+\]", "", text)
    text = groups.reduce(text)
    if re.search(r"\boperator (?!new|delete|\x02)", text) or "decltype" in text:
        return None  # types with parentheses of their own: see test_demangle.c

    def drop(match):
        inside = groups.kept[int(match.group(1))]
        return inside if inside.startswith("(anonymous ") else ""

    text = re.sub("\x01\x02(\\d+)\x03\x01", drop, text)
    text = re.sub(QUALIFIERS + r"(?=$|::)", "", text)
    return groups.restore(text)


def short_rust(text):
    """Generic arguments stand behind a word or "::". Elsewhere is a type's path, and lifetimes behind "for"."""
    groups = Groups()

    def reduce(match):
        before = text[: match.start()]
        if before.endswith("::") and not match.group().startswith("<impl "):
            return "\x04"
        is_path = not re.search(r"\w$", before) or (before + match.group()[:2]).endswith("for<'")
        return groups.keep(match.group()) if is_path else ""

    text = re.sub("([-.])>", lambda match: groups.keep(match.group()), text)
    while "<" in text:
        before = text
        text = re.sub("<[^<>]*>", reduce, text).replace("::\x04", "")
        if text == before:
            return None
    return groups.restore(text)


def compare(what, names, ours, expected):
    problems = [(n, o, e) for n, o, e in zip(names, ours, expected) if e is not None and o != e]
    for name, our, theirs in problems[:20]:
        print(f"{what}: {name}\n  is       {our}\n  expected {theirs}")
    print(f"{what}: {sum(e is not None for e in expected)} names compared, {len(problems)} differ")
    return bool(problems)


def main():
    program = sys.argv[1]
    max_names = int(sys.argv[2]) if len(sys.argv) > 2 else MAX_NAMES
    if not shutil.which("c++filt") or not shutil.which("nm"):
        print("SKIP: no c++filt")
        sys.exit(77)
    names = collect(max_names)
    if len(names) < MIN_NAMES:
        print(f"SKIP: only {len(names)} mangled names on this machine")
        sys.exit(77)

    terse = pipe(names, "c++filt", "-i")
    verbose = pipe(names, "c++filt")
    unadorned = pipe(names, "c++filt", "-i", "-p")
    rust = [is_rust(*texts) for texts in zip(names, terse, verbose)]
    full = [t if r else v for t, v, r in zip(terse, verbose, rust)]
    full = [n if len(f) > MAX_NAME_BYTES else f for n, f in zip(names, full)]
    failed = compare("full", names, pipe(names, program, "full"), full)

    short = [u if n == u else short_rust(u) if r else short_cplus(u) for n, u, r in zip(names, unadorned, rust)]
    failed |= compare("short", names, pipe(names, program, "short"), short)
    sys.exit(1 if failed else 0)


main()
