#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks all requests that the receivers of the test suite were sent (request_log.py).

    check_requests.py DIRECTORY

Fails for any violation, for requests that did not fit into the directory, and where receivers ran and got
nothing at all. Where none ran, because no test that exports was chosen or could run here, it says SKIP.
"""
import multiprocessing
import os
import sys

import otlp_check
import request_log
import schema

LINES_MAX = 200


def lines_about(path):
    name = os.path.basename(path)
    return [f"{name}: {line}"
            for line in otlp_check.report_lines(otlp_check.check(otlp_check.read(path)))]


def skip_without_receivers(directory):
    if not os.path.isdir(directory) or not request_log.nr_receivers(directory):
        print("SKIP: no test that exports has run")
        sys.exit(schema.SKIP)


def check_all(paths):
    """Lines about all violations. The directory keeps the bodies, so that one can look."""
    for load in (schema.otlp, schema.pprof):
        load()                          # once, before there are several processes
    with multiprocessing.Pool() as pool:
        return sum(pool.imap(lines_about, paths, chunksize=8), [])


def main():
    directory = sys.argv[1]
    skip_without_receivers(directory)
    schema.skip_unless_available()
    paths = request_log.bodies(directory)
    lines = check_all(paths)
    if not paths:
        lines.append(f"{request_log.nr_receivers(directory)} receivers ran and got no request")
    nr_overflowed = request_log.nr_overflowed(directory)
    if nr_overflowed:
        lines.append(f"{nr_overflowed} requests are not checked: raise the limits of request_log.py")
    print("\n".join(lines[:LINES_MAX]))
    print(f"{len(paths)} requests in {directory}, {sum(map(os.path.getsize, paths))} bytes, "
          f"{len(lines)} violations")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
