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

import collector_output
import otlp_check
import request_log
import schema

LINES_MAX = 200


def bodies(path):
    if path.endswith(request_log.SUFFIX):
        return [otlp_check.read(path)]
    requests = collector_output.requests_of_json(otlp_check.read(path).decode())
    return [request.SerializeToString() for request in requests]


def judge(path):
    """(number of requests, their bytes, lines about what is wrong with them)"""
    found, lines = bodies(path), []
    for i, body in enumerate(found):
        name = os.path.basename(path) + (f" request {i}" if len(found) > 1 else "")
        lines += [f"{name}: {line}" for line in otlp_check.report_lines(otlp_check.check(body))]
    return len(found), sum(map(len, found)), lines


def skip_without_receivers(directory):
    if not os.path.isdir(directory) or not os.listdir(directory):
        print("SKIP: no test that exports has run")
        sys.exit(schema.SKIP)


def judge_all(paths):
    """The same of all files. The directory keeps them, so that one can look."""
    for load in (schema.otlp, schema.pprof):
        load()                          # once, before there are several processes
    with multiprocessing.Pool() as pool:
        verdicts = list(pool.imap(judge, paths, chunksize=8))
    return (sum(verdict[0] for verdict in verdicts), sum(verdict[1] for verdict in verdicts),
            [line for verdict in verdicts for line in verdict[2]])


def main():
    directory = sys.argv[1]
    skip_without_receivers(directory)
    schema.skip_unless_available()
    nr_requests, nr_bytes, lines = judge_all(request_log.files(directory))
    if not nr_requests:
        lines.append(f"{request_log.nr_receivers(directory)} receivers ran and got no request")
    nr_overflowed = request_log.nr_overflowed(directory)
    if nr_overflowed:
        lines.append(f"{nr_overflowed} requests are not checked: raise the limits of request_log.py")
    print("\n".join(lines[:LINES_MAX]))
    print(f"{nr_requests} requests in {directory}, {nr_bytes} bytes, {len(lines)} violations")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
