#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how requests are kept (request_log.py), and what check_requests.py makes of what it finds."""
import os
import subprocess
import sys
import tempfile
import threading

import good_body
import request_log
import schema

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_requests.py")


def check_requests(directory):
    """(exit status, output)"""
    done = subprocess.run([sys.executable, CHECK, directory], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def expect(directory, status, words):
    found = check_requests(directory)
    assert found[0] == status and words in found[1], (status, words, found)


def check_bounds(directory):
    log = request_log.RequestLog("small", max_files=3, max_bytes=100)
    for length in (60, 60, 30, 10, 1):
        log.add(b"x" * length)
    sizes = sorted(map(os.path.getsize, request_log.bodies(directory)))
    assert sizes == [10, 30, 60], sizes
    assert request_log.nr_overflowed(directory) == 2


def check_threads(directory):
    """Receivers have a thread a connection."""
    log = request_log.RequestLog("busy")
    threads = [threading.Thread(target=lambda: [log.add(b"x") for _ in range(20)])
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(request_log.bodies(directory)) == 80


def check_verdicts(directory):
    good = good_body.good_body().SerializeToString()
    expect(directory, schema.SKIP, "SKIP: no test that exports has run")
    log = request_log.RequestLog("one")
    expect(directory, 1, "1 receivers ran and got no request")
    log.add(good)
    request_log.RequestLog("other").add(good)
    expect(directory, 0, f"2 requests in {directory}, {2 * len(good)} bytes, 0 violations")
    log.add(b"")
    expect(directory, 1, "dictionary: is missing")


def check_overflow(directory):
    log = request_log.RequestLog("one", max_files=1)
    log.add(good_body.good_body().SerializeToString())
    log.add(good_body.good_body().SerializeToString())
    expect(directory, 1, "1 requests are not checked")


def check_nothing_without_the_variable():
    os.environ.pop(request_log.VARIABLE)
    request_log.RequestLog("none").add(b"x")


def main():
    schema.skip_unless_available()
    for check in (check_bounds, check_threads, check_verdicts, check_overflow):
        with tempfile.TemporaryDirectory() as directory:
            os.environ[request_log.VARIABLE] = directory
            check(directory)
    check_nothing_without_the_variable()


if __name__ == "__main__":
    main()
