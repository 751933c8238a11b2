#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a file of make_profile with the command line of the Firefox Profiler, which reads, upgrades and sums up profiles
with the code of profiler.firefox.com.

usage: check_firefox.py MAKE_PROFILE WORK_DIR
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import viewers

# They only bound a hang.
START_S = 240
ANSWER_S = 180
# Milliseconds of CPU time: 50 samples of 10 ms.
THREADS = {"nginx": 120, "api": 100, "parser": 80, "java": 60, "node": 50, "python3": 40, "postgres": 30, "kswapd0": 20}
# The function that ran in each, with the file that it is in, and the category of its code.
LEAVES = {
    "nginx": ("[kernel.kallsyms]!vfs_read", 120, "Kernel"),
    "api": ("api!json.encode", 100, "Go"),
    "parser": ("parser!<alloc::vec::Vec<T>>::push", 80, "Rust"),
    "java": ("[anon]!Cart.total()", 60, "JVM"),
    "node": ("[anon]!handler", 50, "JavaScript"),
    "python3": ("[anon]!py::work", 40, "JIT"),
    "postgres": ("[stack truncated here]", 30, "Other"),
    "kswapd0": ("[kernel.kallsyms]!kswapd", 20, "Kernel"),
}


class Profiler:
    """A session of the command line. A daemon keeps the profile."""

    def __init__(self, directory):
        script = viewers.directory() / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
        self.directory = pathlib.Path(directory)
        self.program = [viewers.node(), script]
        self.environment = dict(os.environ, HOME=directory, PROFILER_CLI_SESSION_DIR=directory,
                                PROFILER_CLI_NO_SYMBOLICATE="1")

    def run(self, *args):
        return subprocess.run([*self.program, *args], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=ANSWER_S)

    def ask(self, *args):
        """Returns the answer. A daemon that still starts is asked again."""
        deadline = time.monotonic() + START_S
        while True:
            answer = self.run(*args, "--json")
            if answer.returncode == 0:
                return json.loads(answer.stdout)
            assert time.monotonic() < deadline, f"{args}: {answer.stdout.decode()[-600:]}"
            time.sleep(1)

    def stop(self):
        self.run("stop", "--all")
        for file in self.directory.glob("**/*.json"):
            with contextlib.suppress(ValueError, KeyError, OSError):
                os.kill(int(json.loads(file.read_text())["pid"]), signal.SIGKILL)


def check_thread(profiler, thread):
    name, handle = thread["name"], thread["threadHandle"]
    samples = profiler.ask("thread", "samples", "--thread", handle, "--include-idle")
    leaf, self_ms, category = LEAVES[name]
    own = {function["name"]: function["selfSamples"] for function in samples["topFunctionsBySelf"]}
    categories = {part["name"]: part["samples"] for part in samples["categoryBreakdown"]["categories"]}
    assert samples["weightType"] == "tracing-ms", samples["weightType"]
    assert own.get(leaf) == self_ms, f"{name}: {leaf} has {own.get(leaf)} of {own}"
    assert categories.get(category) == self_ms, f"{name}: {categories}"


def check_profile(profiler, file):
    profiler.run("load", str(file))
    info = profiler.ask("profile", "info", "--all")
    threads = [thread for process in info["processes"] for thread in process["threads"]]
    assert [process["name"] for process in info["processes"]] == ["a title"], info
    assert [thread["name"] for thread in threads] == list(THREADS), threads
    for thread in threads:
        check_thread(profiler, thread)


def check(make_profile, work_dir):
    file = pathlib.Path(work_dir, "sample.firefox.json").resolve()
    file.write_bytes(subprocess.run([make_profile, "firefox"], stdout=subprocess.PIPE, check=True).stdout)
    with tempfile.TemporaryDirectory() as directory:
        profiler = Profiler(directory)
        try:
            check_profile(profiler, file)
        finally:
            profiler.stop()
    return []


sys.exit(viewers.host.judge_anyone(check, *sys.argv[1:]))
