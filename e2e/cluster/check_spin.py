#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the end-to-end tests' ground truth itself: spin.c's names, by nm and readelf, not by our code.

Exit status 0: all is right; 1: something is wrong, listed; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import host
import spin

CONTAINERS = (("shop", "web-1", "app"), ("shop", "web-1", "sidecar"), ("bank", "web-1", "app"),
              ("s" * 63, "p" * 253, "c" * 63), ("", "", ""))


def run_as(program, directory, container, *arguments):
    names = ("POD_NAMESPACE", "POD_NAME", "CONTAINER_NAME")
    environment = dict(zip(names, container), SPIN_DIRECTORY=directory)
    return subprocess.run([program, *arguments], env=environment, stdout=subprocess.PIPE, text=True,
                          timeout=30, check=False)


def build_id(path):
    notes = host.run("readelf", "--notes", path)
    return next(line.split()[-1] for line in notes.splitlines() if "Build ID:" in line)


def symbols(path):
    """The names of functions that say who they are."""
    return {line.split()[-1] for line in host.run("nm", path).splitlines()
            if spin.NAME.fullmatch(line.split()[-1])}


def check_container(program, directory, container):
    """Starts the program as this container, and looks at the copy that it made of itself."""
    done = run_as(program, directory, container, "name")
    name = done.stdout.strip()
    path = f"{directory}/{name}"
    identity = spin.identity_of([name])
    if done.returncode != 0 or identity is None or not os.path.exists(path):
        return [f"{container}: exit {done.returncode}, {done.stdout!r}"]
    problems = []
    if identity.digest != spin.digest(*container):
        problems.append(f"{container}: digest {identity.digest}, not {spin.digest(*container)}")
    if symbols(path) != {name}:
        problems.append(f"{container}: the copy's symbols are {symbols(path)}, not {name}")
    if os.path.getsize(path) != os.path.getsize(program):
        problems.append(f"{container}: the copy has another size")
    return problems


def check_build_ids(program, directory):
    copies = [f"{directory}/{name}" for name in os.listdir(directory)]
    ids = {build_id(path) for path in [program] + copies}
    if len(copies) != len(CONTAINERS) or len(ids) != len(copies) + 1:
        return [f"{len(copies)} copies have {len(ids) - 1} build ids of their own"]
    return []


def check_run(program, directory):
    """The program takes its share of a CPU, or less on a busy machine, prints it, and ends as told.
    It runs again over its own file."""
    done = run_as(program, directory, CONTAINERS[0], "20", "1", "7")
    last_line = done.stdout.splitlines()[-1]
    cpu_us = int(last_line.removeprefix("cpu_us="))
    if done.returncode != 7 or not 0 < cpu_us < 300000:
        return [f"20 % of a second: exit {done.returncode}, {last_line}"]
    return []


def check():
    host.require("gcc", "nm", "readelf")
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as work:
        program, copies = f"{work}/spin", f"{work}/copies"
        os.mkdir(copies)
        spin.compile_program(program)
        problems = [problem for container in CONTAINERS
                    for problem in check_container(program, copies, container)]
        problems += check_build_ids(program, copies)
        return problems + check_run(program, copies)


if __name__ == "__main__":
    sys.exit(host.judge_anyone(check))
