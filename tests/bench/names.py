# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of names: runs symbol_bench, and watches its memory and that of its worker."""

import glob
import os
import shutil
import subprocess
import tempfile
import time

import measure

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e/symbols/programs")
LIBRARIES = ("/usr/lib/*/libLLVM*.so.*", "/usr/lib/*/libstdc++.so.6")
WATCH_S = 0.02


def installed_files():
    """Names from .dynsym; from .symtab; from .gopclntab."""
    found = [max(glob.glob(pattern), key=os.path.getsize, default=None) for pattern in LIBRARIES]
    found += [shutil.which("node"), shutil.which("go")]
    return [os.path.realpath(path) for path in found if path]


def built_files(folder):
    """Programs with debug information, as their compilers write it."""
    builds = (("rustc", "-O", "-g", f"{PROGRAMS}/layers.rs", "-o"), ("go", "build", "-o"))
    for compiler, *options in builds:
        path = f"{folder}/{compiler}-program"
        sources = [f"{PROGRAMS}/layers.go"] if compiler == "go" else []
        if shutil.which(compiler) is None:
            print(f"  {compiler} is not installed: its program is left out")
            continue
        subprocess.run([compiler, *options, path, *sources], check=True, stdout=subprocess.DEVNULL)
        yield path


def print_resolving(flamelet, folder):
    print("\nNames and lines, in CPU time of the agent's side and of the worker; medians of three runs. The first "
          "time an address is\nasked for, and again (libdw finds no function inside a namespace, where Rust has its "
          "own):", flush=True)
    with tempfile.TemporaryDirectory() as programs:
        paths = [*installed_files(), *built_files(programs), flamelet]
        subprocess.run([f"{folder}/symbol_bench", "resolve", flamelet, *paths], check=True)


def run(command, paths):
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, errors="surrogateescape") as process:
        process.stdin.write("\n".join(paths) + "\n")
        process.stdin.close()
        return watch_memory(process)


def watch_memory(process):
    """Peaks of a process and of its children, in MB, as last seen."""
    peaks = [0, 0]
    while process.poll() is None:
        try:
            now = measure.memory_mb(process.pid)[1], measure.children_memory_mb(process.pid)[1]
        except (FileNotFoundError, ProcessLookupError, KeyError):
            break
        peaks = [max(pair) for pair in zip(peaks, now)]
        time.sleep(WATCH_S)
    return peaks


def print_tables(flamelet, folder, paths):
    bench = f"{folder}/symbol_bench"
    print(f"\nTables of functions of the {len(paths)} programs and libraries of this machine, all in memory:",
          flush=True)
    run([bench, "tables"], paths)
    run([bench, "libdwfl-tables"], paths)
    print("The same, in the agent's cache of 256 MB, with its worker, and 32 addresses of each asked for:",
          flush=True)
    peaks = run([bench, "cache", flamelet], paths)
    print("  peak of the process {:.0f} MB, of its worker {:.0f} MB".format(*peaks), flush=True)
