#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of functions in containers: code made at run time, files that are replaced, processes that are
gone, files that mean harm. README.md in this directory tells more.

    container_names.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../local"), os.path.join(HERE, "..")]

# pylint: disable=wrong-import-position
import host
import hostile_cases
import jit_cases
import replaced_cases
from container_scene import Scene

WHOLE_SECONDS = 500
CASES = (replaced_cases.files_that_are_replaced, jit_cases.jits_in_containers,
         hostile_cases.hostile_container)


def run_cases(scene):
    problems = []
    for case in CASES:
        try:
            found = case(scene)
        except (host.Failure, OSError, subprocess.TimeoutExpired) as failure:
            found = [str(failure)]
        host.kill_cgroup(scene.cgroup)
        print(f"{'FAIL' if found else 'ok':<5} {case.__name__}", flush=True)
        problems += [f"{case.__name__}: {problem}" for problem in found]
    return problems


def run_test(binary, directory):
    scene = Scene(binary, directory)
    with scene.stack:
        try:
            scene.set_up()
            return run_cases(scene)
        except host.Failure as failure:
            return [str(failure)]


def check(binary):
    host.require_containers("gcc", "g++", "protoc", "readelf", "objcopy", "strip")
    host.limit_time(WHOLE_SECONDS)
    host.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="symbols-") as directory:
        os.chmod(directory, 0o755)
        problems = run_test(binary, directory)
        host.reap_orphans()
    return problems


if __name__ == "__main__":
    sys.exit(host.judge(check, os.path.abspath(sys.argv[1])))
