#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what Flamelet's decoders find in Pythons with what these say themselves.

    compare.py lines PYTHON_LINES [EVERY]    the line of each code unit of the standard library, of each EVERY-th file
    compare.py names PYTHON_NAMES            names, files and lines of functions of a process
    ... --versions                           with all Pythons of tests/runtime/versions.py, instead of this machine's
    ... --python PYTHON...                   with that command

Exit status 0: all are right; 1: some are not; 77: it cannot run here.
"""
import argparse
import os
import subprocess

import pythons
from pythons import HERE, SKIP

SECONDS = 300


def source(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def script(what):
    """One text, as the Python may be in another root directory."""
    return "\n".join(["import sys, types",
                      "module = types.ModuleType('code_lines')",
                      f"exec({source('code_lines.py')!r}, module.__dict__)",
                      "sys.modules['code_lines'] = module",
                      f"exec({source(f'tell_{what}.py')!r})"])


def compare(options, name, command, environment):
    """Prints one line, or more of what is wrong. Returns whether there was something to compare, and all is right."""
    python = subprocess.Popen([*command, "-B", "-c", script(options.what), str(options.every)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    arguments = [str(python.pid)] if options.what == "names" else []
    program = subprocess.run([options.program, *arguments], stdin=python.stdout, stdout=subprocess.PIPE, check=False,
                             timeout=SECONDS)
    _, errors = python.communicate(timeout=SECONDS)
    said = errors.decode(errors="replace").strip()
    if python.returncode != 0:
        print(f"{name}: {said}", flush=True)
        return None if said.startswith(SKIP) else False
    print(f"{name}: {program.stdout.decode(errors='replace').strip()}", flush=True)
    return None if program.returncode == 77 else program.returncode == 0


def version_of(command, environment):
    answer = subprocess.run([*command, "-c", "import platform; print(platform.python_version())"], env=environment,
                            stdout=subprocess.PIPE, check=True)
    return answer.stdout.decode().strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("lines", "names"))
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("every", type=int, nargs="?", default=1)
    pythons.add_options(parser)
    options = parser.parse_args()
    results = []
    for name, command, environment in pythons.wanted(options):
        try:
            version = version_of(command, environment)
        except (OSError, subprocess.CalledProcessError):
            print(f"{SKIP} {name}: it does not start", flush=True)
            continue
        results.append(compare(options, f"{name} {version}", command, environment))
    pythons.exit_with(results)


main()
