# SPDX-License-Identifier: Apache-2.0
"""The frame of comparisons of stopped processes (stopped.py) with another program: which versions, loads and moments are
compared."""

import argparse
import os
import time

import cases
import check_load
import fetch
import host
import stopped
import versions

PAUSE_S = 0.05
MAX_SHOWN = 3


def parse(loads, nr_stops):
    """Reads the command line; without --case, all `loads` are compared."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--versions", action="store_true")
    parser.add_argument("--stops", type=int, default=nr_stops)
    parser.add_argument("--case", action="append", choices=loads)
    options = parser.parse_args()
    options.case = options.case or loads
    return options


def stacks_of(options, kind, pid):
    """Stops a process again and again. Yields its stacks each time, while it is stopped."""
    unwinder = stopped.Unwinder(options.program, kind, pid)
    try:
        for _ in range(options.stops):
            time.sleep(PAUSE_S)
            with stopped.stopped(pid):
                yield unwinder.stacks()
    finally:
        unwinder.close()


def run_load(scene, case, compare):
    """Returns the version that the load tells, and what `compare` returns of its process."""
    load = check_load.Load(scene, case)
    try:
        version, _ = load.read()
        pid, = load.pids()
        return version, compare(pid)
    finally:
        load.stop()


def judge(name, faults, nr_stacks):
    """Shows some of the faults. Returns them as one, for the end."""
    for fault in faults[:MAX_SHOWN]:
        print(f"    {fault}", flush=True)
    return [f"{name}: {len(faults)} stacks of {nr_stacks}"] if faults else []


def run_cases(options, runtime, compare_case):
    """Returns the faults of all cases that are asked for."""
    scene = cases.Scene(runtime)
    try:
        return [fault for case in cases.CASES[runtime.kind] if case.name in options.case
                for fault in compare_case(options, scene, case)]
    finally:
        scene.close()


def compare_version(options, version, compare_case):
    try:
        runtime = version.runtime()
        if runtime.root == "/" and not os.access(runtime.command[0], os.X_OK):
            raise host.Skip("it is not installed")
        with fetch.mounted_proc(runtime.root):
            return run_cases(options, runtime, compare_case)
    except host.Skip as skip:
        print(f"SKIP {version.name}: {skip}", flush=True)
        return []
    except host.Failure as failure:
        return [f"{version.name}: {failure}"]


def run_versions(options, kind, command, compare_case):
    """Returns the faults of this machine's version, started by `command`, or with --versions those of all versions."""
    installed = versions.Version(kind, "installed", "", "", command)
    wanted = versions.VERSIONS if options.versions else [installed]
    return [fault for version in wanted if version.kind == kind
            for fault in compare_version(options, version, compare_case)]
