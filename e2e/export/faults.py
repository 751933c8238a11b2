#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`flamelet export` against receivers, networks and disks that fail, each in one way: whatever happens, what was
sent, what is queued and what was dropped for a reason make up what there was.

    faults.py path/to/flamelet [--only WORDS] [--jobs N]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import concurrent.futures
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../local"))
sys.path.append(os.path.join(HERE, "../../tests/standin"))

# pylint: disable=wrong-import-position
import answer_cases
from certificates import Certificates
import credential_cases
from exports import Export
import host
import queue_cases
from recordings import Recordings

# Most of the time everybody waits.
JOBS = 8


class Context:
    """What a case uses: a directory and a queue of its own, and the recordings and certificates of
    all cases."""

    def __init__(self, shared, number):
        self.binary, self.recordings, self.certificates = shared
        self.directory = os.path.join(self.recordings.directory, str(number))
        self.queue_directory = os.path.join(self.directory, "queue")
        self.queue = ("--queue-dir", self.queue_directory)
        os.mkdir(self.directory)

    def export(self, names, receiver, *options):
        """Starts to send recordings."""
        return Export(self.binary, [self.recordings.path(name) for name in names], receiver,
                      *options)


def run_case(shared, number, case):
    name, run, transport = case
    begin = time.monotonic()
    try:
        faults = run(Context(shared, number), transport)
    except host.Failure as failure:
        faults = [str(failure)]
    except Exception as error:  # pylint: disable=broad-except
        faults = [repr(error)]
    verdict = "FAIL" if faults else "ok"
    print(f"{verdict:<4} {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    return [f"{name}: {fault}" for fault in faults]


def find_cases(words):
    """Each with each of its transports."""
    rows = answer_cases.CASES + credential_cases.CASES + queue_cases.CASES
    cases = [(f"{name}, {transport}", run, transport)
             for name, run, transports in rows for transport in transports]
    return [case for case in cases if words in case[0]]


def run_cases(binary, directory, options):
    shared = (binary, Recordings(binary, directory), Certificates(f"{directory}/certificates"))
    cases = find_cases(options.only)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda item: run_case(shared, *item), enumerate(cases)))
    print(f"{len(cases)} cases")
    return [fault for faults in results for fault in faults]


def check(options):
    host.require("openssl", "protoc")
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        try:
            return run_cases(os.path.abspath(options.binary), directory, options)
        finally:
            host.unmount_below(directory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases with these in their name")
    parser.add_argument("--jobs", type=int, default=JOBS)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
