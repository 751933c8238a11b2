#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how requests are kept (request_log.py), and what check_requests.py makes of what it finds."""
import json
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
    sizes = sorted(map(os.path.getsize, request_log.files(directory)))
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
    assert len(request_log.files(directory)) == 80


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


def check_collector(directory):
    """A Collector writes attributes of resources as indices. It is still writing the last line."""
    from google.protobuf import json_format

    request = good_body.good_body()
    pair = request.resource_profiles[0].resource.attributes[0]
    request.dictionary.string_table.extend([pair.key, pair.value.string_value])
    nr_strings = len(request.dictionary.string_table)
    pair.ClearField("key")
    pair.key_strindex, pair.value.string_value_strindex = nr_strings - 2, nr_strings - 1
    request.dictionary.attribute_table[0].value.SetInParent()
    tree = json_format.MessageToDict(request)
    profile = tree["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]
    profile["profileId"] = good_body.PROFILE_ID.hex()
    link = tree["dictionary"]["linkTable"][1]
    link["traceId"], link["spanId"] = good_body.TRACE_ID.hex(), good_body.SPAN_ID.hex()
    output = os.path.join(directory, "output")
    with open(output, "w", encoding="utf-8") as file:
        file.write(2 * (json.dumps(tree) + "\n") + "{")
    log = request_log.RequestLog("collector")
    log.add_collector_output(output)
    log.add_collector_output(output + ".missing")
    good = good_body.good_body().SerializeToString()
    expect(directory, 0, f"2 requests in {directory}, {2 * len(good)} bytes, 0 violations")


def check_nothing_without_the_variable():
    os.environ.pop(request_log.VARIABLE)
    request_log.RequestLog("none").add(b"x")


def main():
    schema.skip_unless_available()
    for check in (check_bounds, check_threads, check_verdicts, check_overflow,
                  check_collector):
        with tempfile.TemporaryDirectory() as directory:
            os.environ[request_log.VARIABLE] = directory
            check(directory)
    check_nothing_without_the_variable()


if __name__ == "__main__":
    main()
