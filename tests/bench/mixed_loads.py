# SPDX-License-Identifier: Apache-2.0
"""Loads of the kind that a node has: several languages, many processes, many files. Each is a context in which it runs."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import loads

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(HERE, "../../e2e/symbols/programs")
NATIVE = os.path.join(HERE, "../unwind/programs")

DEPTH = "30"
RUN_S = "600"
NR_SLEEPERS = 500
EXECS_A_SECOND = 50
SHORT_WORK = "2000000"  # rounds: some milliseconds
SHORT_DEPTH = "10"
NR_FILES = 2000
FILES_SETTLE_S = 2


def left_out(load, program, what):
    print(f"  {load}: {what} is not installed, {program} is left out", flush=True)


@contextlib.contextmanager
def running(commands):
    processes = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for command in commands]
    try:
        yield
        for process, command in zip(processes, commands):
            if process.poll() is not None:
                raise SystemExit(f"bench: {command[0]} has ended before it was measured")
    finally:
        loads.end(processes)


def compile_java(folder):
    subprocess.run(["javac", "-d", folder, f"{WORK}/Work.java"], check=True, stdout=subprocess.DEVNULL)
    return ["java", "-Xmx256m", "-cp", folder, "Work"]


@contextlib.contextmanager
def five(programs):
    """Two C programs without frame pointers, an interpreter, two JIT compilers."""
    with tempfile.TemporaryDirectory() as folder:
        second = shutil.copy(f"{programs}/deep_nofp", f"{folder}/second")
        commands = [[f"{programs}/deep_nofp", DEPTH, RUN_S], [second, DEPTH, RUN_S],
                    [sys.executable, f"{WORK}/work.py"]]
        if shutil.which("node"):
            commands.append(["node", f"{WORK}/work.js"])
        else:
            left_out("five", "JavaScript", "node")
        if shutil.which("java") and shutil.which("javac"):
            commands.append(compile_java(folder))
        else:
            left_out("five", "Java", "a JDK")
        with running(commands):
            yield


def find_compiler(name, folder):
    return shutil.which(name) or shutil.which(name, path=os.path.expanduser(folder))


def compile_go(compiler, folder):
    environment = dict(os.environ, CGO_ENABLED="0", GO111MODULE="off", GOFLAGS="", GOTOOLCHAIN="local",
                       GOCACHE=f"{folder}/go-cache")
    subprocess.run([compiler, "build", "-o", f"{folder}/go", f"{NATIVE}/go.go"], check=True, env=environment)


@contextlib.contextmanager
def langs(_programs):
    """Compiled languages, all with DWARF: C++ with exceptions, Rust, Go."""
    rustc, go = find_compiler("rustc", "~/.cargo/bin"), find_compiler("go", "/usr/local/go/bin")
    with tempfile.TemporaryDirectory() as folder:
        commands = [[f"{folder}/exceptions"]]
        subprocess.run(["g++", "-O2", "-g", "-D_GNU_SOURCE", f"{NATIVE}/exceptions.cpp", "-o", f"{folder}/exceptions"],
                       check=True)
        if rustc:
            subprocess.run([rustc, "-O", "-g", f"{NATIVE}/rust.rs", "-o", f"{folder}/rust"], check=True)
            commands.append([f"{folder}/rust"])
        else:
            left_out("langs", "Rust", "rustc")
        if go:
            compile_go(go, folder)
            commands.append([f"{folder}/go"])
        else:
            left_out("langs", "Go", "go")
        with running(commands):
            yield


def start_short_programs(program, is_over):
    """The same program again and again, which lives some milliseconds; late ones are not made up for."""
    command = [program, SHORT_DEPTH, "0", SHORT_WORK]
    started = []
    while not is_over.wait(1 / EXECS_A_SECOND):
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        started = [process for process in started if process.poll() is None]
    loads.end(started)


@contextlib.contextmanager
def many(programs):
    """Processes that sleep, and short-lived ones."""
    is_over = threading.Event()
    thread = threading.Thread(target=start_short_programs, args=(f"{programs}/deep_nofp", is_over))
    with running([["sleep", RUN_S]] * NR_SLEEPERS):
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


@contextlib.contextmanager
def files(programs):
    """One busy process with the code of many ELF files mapped. They are not in the page cache: who reads them pays."""
    paths = []
    for path in loads.find_elf_files():
        paths.append(path)
        if len(paths) == NR_FILES:
            break
    else:
        print(f"  files: this machine has only {len(paths)}", flush=True)
    load, _ = loads.start_map_files(f"{programs}/map_files", paths, 0)
    try:
        time.sleep(FILES_SETTLE_S)
        os.sync()
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as drop:
            drop.write("1")
        yield
    finally:
        loads.end([load])


LOADS = {"five": five, "langs": langs, "many": many, "files": files}
