#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Flamelet's unwinder with libdw on many programs and prints a table, one row a program.

    oracle.py [--slow] UNWIND_ORACLE BUILD_DIRECTORY [NAME...]

BUILD_DIRECTORY is that of tests/oracle/unwind; the table also goes into its file oracle.txt. With NAMEs only these
programs are run, and what differs is shown. On a --slow machine samples are fewer a second, and it takes longer.

root    stacks that end at a known root
agree   frames that are the same in the same position (comparison.h says what counts)
        (notes: untold are those besides, in which there is no caller to be found, as what CFI there is is wrong)
part    stacks of which the oracle saw no root: its copy of the stack ended, or it failed itself
p.      the same by the agent's unwinder, which has the oracle's copies and no more: roots where the oracle saw one, and frames.
        Places beside the copy (another stack, words below the stack pointer) are in the notes, with the time a frame took.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MIN_ROOT, GOAL_ROOT = 98, 99
MIN_AGREE, GOAL_AGREE = 99, 99.5
# glibc's CFI of setcontext(3) for arm64 is wrong once the function has loaded some of the
# registers.
LEAST_ROOT = {("coroutines", "aarch64"): 85}
MIN_STACKS = 50
ATTEMPTS = 3  # at a program that hardly ran
SECONDS, SLOW_SECONDS = 1, 4
FREQUENCY_HZ, SLOW_FREQUENCY_HZ = 997, 249
TIMEOUT_S = 180

PYTHON_LOAD = """
import json, random, re
data = {"numbers": list(range(300)), "text": "some words " * 50, "nested": [{"a": [1, 2.5, None]}] * 20}
words = re.compile(r"(\\w+)\\s+(\\w+?)o")
while True:
    json.loads(json.dumps(data))
    words.sub(r"\\2\\1", data["text"])
    sorted(random.sample(range(10000), 2000), key=str)
"""

NODE_LOAD = """
const zlib = require("zlib"), crypto = require("crypto");
const data = {numbers: [...Array(300).keys()], text: "some words ".repeat(50)};
function work() {
    for (let i = 0; i < 20; i++) {
        JSON.parse(JSON.stringify(data));
        data.text.replace(/(\\w+)\\s+(\\w+?)o/g, "$2$1");
    }
    zlib.deflateSync(Buffer.from(data.text.repeat(20)));
    crypto.createHash("sha256").update(data.text.repeat(50)).digest("hex");
    zlib.deflate(Buffer.from(data.text.repeat(20)), () => {});
    setImmediate(work);
}
work();
"""

SQLITE_LOAD = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000000)
select count(*), group_concat(substr(hex(i * 7919 % 1009), 1, 2)) from n group by i % 1009 order by 1;
"""


def built_programs(directory):
    """(name, command, options) of what programs/CMakeLists.txt builds."""
    kinds = [
        f"{language}-{compiler}-{level}{pointer}"
        for language in ("c", "c++")
        for compiler in ("gcc", "clang")
        for level in ("O0", "O2", "O3", "Os")
        for pointer in ("", "-fp")
    ]
    kinds += """c-avx exceptions dynamic-frames signals coroutines fibers recursion tail-calls plt-lazy plt-now plt-none
        static static-pie stripped musl musl-static plugins rust go""".split()
    for kind in kinds:
        command = [directory / kind]
        if kind == "plugins":
            command += [directory / f"plugin-{letter}.so" for letter in "abc"]
        yield kind, command, []


def compiler_itself():
    found = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "cc1plus"


def installed_programs(scratch):
    yield "openssl", ["openssl", "speed", "-seconds", "30", "sha256", "rsa2048"], []
    yield "sqlite3", ["sqlite3", ":memory:", SQLITE_LOAD], []
    yield "python3", ["/usr/bin/python3", "-c", PYTHON_LOAD], []
    if shutil.which("g++"):
        # GCC's garbage collector calls itself 1400 times and more, deeper than MAX_USER_FRAMES; how often it runs
        # depends on the machine's memory. With this heap it does not run.
        flags = ["--param", "ggc-min-heapsize=4000000", "-quiet", "-O2", "-std=c++17", "-D_GNU_SOURCE"]
        flags += ["-imultiarch", f"{platform.machine()}-linux-gnu"]
        yield "cc1plus", [compiler_itself(), *flags, HERE / "programs/heavy.cpp", "-o", "/dev/null"], []
    else:
        yield "cc1plus", ["g++"], []
    yield "node", ["node", "-e", NODE_LOAD], []
    yield "node-jitless", ["node", "--jitless", "-e", NODE_LOAD], []
    # Several collectors wait for each other in code without CFI, whose caller libdw leaves out.
    yield "java", ["java", "-Xmx128m", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=1", HERE / "programs/Garbage.java"], []
    chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--js-flags=--jitless"]
    page = (HERE / "programs/page.html").as_uri()
    yield "chromium", [*chromium, f"--user-data-dir={scratch}", page], ["-p", "--type=renderer"]


def percent(part, whole):
    return 100 * part / whole if whole else 0


def parse(text):
    """Lines of "key value"; the reasons of the oracle, which have blanks, end in a tab and the value."""
    numbers = {}
    for line in text.splitlines():
        key, _, value = line.partition("\t") if "\t" in line else line.rpartition(" ")
        if value.isdigit():
            numbers[key] = int(value)
    return numbers


def most(numbers, prefix, without=""):
    """The most frequent of a group of numbers, in words."""
    found = [(nr, key[len(prefix) :]) for key, nr in numbers.items() if key.startswith(prefix) and key != without]
    return ", ".join(f"{nr} {word}" for nr, word in sorted(found, reverse=True)[:2])


class Row:
    def __init__(self, name, numbers):
        self.name = name
        self.numbers = numbers
        self.stacks = numbers["stacks"]
        self.root = percent(numbers.get("result.complete", 0), self.stacks)
        self.agree = percent(numbers["agreeing"], numbers["frames"])
        self.seen_roots = numbers["local.seen_roots"]
        self.perf_root = percent(numbers["local.roots"], self.seen_roots)
        self.perf_agree = percent(numbers["local.agreeing"], numbers["local.frames"])

    def has_few(self):
        return self.stacks + self.numbers["untold"] < MIN_STACKS

    def perf_roots_count(self):
        return self.seen_roots >= MIN_STACKS

    def problem(self):
        if self.has_few():
            return f"only {self.stacks} stacks"
        if self.root < LEAST_ROOT.get((self.name, platform.machine()), MIN_ROOT):
            return "root"
        if self.agree < MIN_AGREE:
            return "agree"
        if self.perf_roots_count() and self.perf_root < MIN_ROOT:
            return "perf root"
        return "perf agree" if self.perf_agree < MIN_AGREE else ""

    def notes(self):
        numbers = self.numbers
        yield most(numbers, "result.", without="result.complete")
        for key in ("untold", "unsettled", "anonymous", "unpaired"):
            if numbers[key] > 0:
                yield f"{numbers[key]} {key}"
        if numbers["oracle_failed"] > 0:
            yield "libdw: " + most(numbers, "oracle.")
        beside = most(numbers, "local.result.", without="local.result.complete")
        if beside:
            yield "perf: " + beside
        yield f"{numbers['local.ns'] / max(numbers['local.unwound_frames'], 1):.0f} ns a frame"

    def text(self):
        numbers = self.numbers
        part = numbers["end_of_stack"] + numbers["oracle_failed"]
        mark = f"FAIL ({self.problem()})" if self.problem() else "ok" if self.root >= GOAL_ROOT and self.agree >= GOAL_AGREE else "low"
        perf_root = f"{self.perf_root:.2f}" if self.perf_roots_count() else "-"
        notes = "; ".join(note for note in self.notes() if note)
        return (
            f"{self.name:16} {self.stacks:7} {self.root:7.2f} {numbers['frames']:8} {self.agree:7.2f}"
            f" {part:6} {perf_root:>7} {self.perf_agree:7.2f}  {mark:5} {notes}"
        ).rstrip()


HEAD = f"{'program':16} {'stacks':>7} {'root %':>7} {'frames':>8} {'agree %':>7} {'part':>6} {'p.root':>7} {'p.agree':>7}"


class Table:
    """Shown while it grows, here and in a file."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def add(self, line):
        print(line, flush=True)
        print(line, file=self.file, flush=True)


def run(oracle, command, options, shown):
    """(numbers, what went wrong)"""
    fixed = ["-d", "5" if shown else "0"]
    try:
        done = subprocess.run(
            [*oracle, *fixed, *options, "--", *map(str, command)],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"not done after {TIMEOUT_S} s"
    if shown:
        print(done.stdout, end="")
    if done.returncode != 0:
        return None, (done.stdout + done.stderr).strip()
    return parse(done.stdout), ""


def run_until_busy(oracle, name, command, options, shown):
    """(row, what went wrong)"""
    for _ in range(ATTEMPTS):
        numbers, problem = run(oracle, command, options, shown)
        row = numbers and Row(name, numbers)
        if row and not row.has_few():
            break
    return row, problem


def main():
    is_slow = sys.argv[1] == "--slow"
    oracle, directory, *names = sys.argv[1 + is_slow :]
    directory = pathlib.Path(directory)
    rate = (SLOW_SECONDS, SLOW_FREQUENCY_HZ) if is_slow else (SECONDS, FREQUENCY_HZ)
    oracle = [oracle, "-s", str(rate[0]), "-F", str(rate[1])]
    if os.geteuid() != 0:
        print("SKIP: only root may load BPF programs")
        sys.exit(77)
    table = Table(directory / "oracle.txt")
    table.add(HEAD)
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = [*built_programs(directory / "programs"), *installed_programs(scratch)]
        for name, command, options in programs:
            if names and name not in names:
                continue
            if not shutil.which(command[0]):
                table.add(f"{name:16} SKIP: there is no {pathlib.Path(command[0]).name}")
                continue
            row, problem = run_until_busy(oracle, name, command, options, bool(names))
            table.add(row.text() if row else f"{name:16} FAIL: {problem}")
            if not row or row.problem():
                failed.append(name)
    table.add(
        f"needed: root {MIN_ROOT} %, agree {MIN_AGREE} %; goals: {GOAL_ROOT} %, {GOAL_AGREE} % (low: between)"
    )
    if failed:
        table.add("failed: " + " ".join(failed))
    sys.exit(1 if failed else 0)


main()
