# SPDX-License-Identifier: Apache-2.0
"""The beginning and the end of each test on a real Kubernetes: requirements, time limit, output."""

import argparse
import os
import signal
import subprocess
import sys
import time

import build
import node as nodes

# pylint: disable=wrong-import-order
import host


def make_parser(text):
    """Returns a parser of the arguments that all tests take."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("binary", help="the flamelet program to test")
    parser.add_argument("--kubernetes", default=build.VERSION, choices=build.versions())
    parser.add_argument("--keep", action="store_true", help="leave the logs")
    return parser


def leftovers(node):
    """Looked for once more, by what the kernel shows."""
    found = [mount + node.cgroup_root for mount in host.all_cgroup_mounts()]
    found = [path for path in found + [node.directory] if os.path.exists(path)]
    if node.directory in host.read_text("/proc/self/mountinfo"):
        found.append("mounts of " + node.directory)
    return [f"left behind: {what}" for what in found]


def guard(function, args):
    """Calls what is no test; returns its exit status, or says why it cannot go on."""
    try:
        nodes.require_host()
        return function(args)
    except host.Skip as skip:
        print(f"SKIP: {skip}", flush=True)
        return host.SKIP
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        print(f"FAIL: {failure}", flush=True)
        return 1


def conduct(args, run_tests, seconds, fetch=lambda: None):
    """Gets what is needed, which may take long the first time; then `run_tests(args)`, which returns what is wrong, has so many
    seconds. Returns the exit status."""
    def give_up(*_args):
        raise host.Failure(f"not done after {seconds} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    host.adopt_orphans()
    begin = time.monotonic()
    try:
        nodes.require_host()
        fetch()
        build.build(args.kubernetes)
        signal.alarm(seconds)
        problems = run_tests(args)
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        return host.SKIP
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        problems = [str(failure)]
    for problem in problems:
        print(f"FAIL: {problem}")
    print(f"{'FAILED' if problems else 'ok'} in {time.monotonic() - begin:.1f} s")
    return 1 if problems else 0
