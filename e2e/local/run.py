#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole path, end to end, with real parts; README.md in this directory tells how.

    run.py path/to/flamelet [--part attribution|selection|faults]... [--capture bpf|perf] [--keep]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import os
import signal
import sys
import time

import attribution
import faults
import host
import scene as scenes
import selection

PARTS = {"attribution": attribution, "selection": selection, "faults": faults}
WHOLE_SECONDS = 800


def require_host():
    if os.geteuid() != 0:
        raise host.Skip("not root")
    host.require_containers("gcc", "openssl", "protoc")


def run_tests(binary, capture, parts, is_kept):
    """Sets the scene, plays the parts in it and returns what is wrong."""
    tables = {part: PARTS[part].workloads() for part in parts}
    with scenes.Scene(binary, is_kept, capture) as scene:
        problems = ["interrupted"]
        try:
            scene.set_up([workload for table in tables.values() for workload in table])
            problems = []
            for part in parts:
                print(f"{part}:", flush=True)
                problems += PARTS[part].test(scene, tables[part])
        except host.Failure as failure:
            problems.append(str(failure))
        finally:
            be_uninterruptible()
            if problems:
                scene.show_logs()
    return problems


def be_uninterruptible():
    """Ignores signals, so that the clean-up is not interrupted."""
    signal.alarm(0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the flamelet program to test")
    parser.add_argument("--part", action="append", choices=PARTS, dest="parts",
                        help="what to test, repeat for more; all parts without it")
    parser.add_argument("--capture", choices=("auto", "bpf", "perf"), default="auto",
                        help="how the agents take samples")
    parser.add_argument("--keep", action="store_true", help="leave the temporary directory")
    return parser.parse_args()


def main():
    args = parse_args()
    if not os.access(args.binary, os.X_OK):
        sys.exit(f"run.py: {args.binary} is not a program")
    host.limit_time(WHOLE_SECONDS)
    host.adopt_orphans()
    begin = time.monotonic()
    try:
        require_host()
        problems = run_tests(args.binary, args.capture, args.parts or list(PARTS), args.keep)
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        return host.SKIP
    for problem in problems:
        print(f"FAIL: {problem}")
    print(f"{'FAILED' if problems else 'ok'} in {time.monotonic() - begin:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
