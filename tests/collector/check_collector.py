#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a profile to a real OpenTelemetry Collector through the exporter itself, over HTTP with gzip, and compares what the
Collector writes down with what was sent.

    check_collector.py DRIVER
"""
import os
import subprocess
import sys
import tempfile

from collector import HERE, Collector, build
import otlp_check
import schema

sys.path.insert(0, os.path.join(HERE, "../oracle"))
from check_otlp import check_content  # noqa: E402  pylint: disable=wrong-import-position


def main():
    driver = sys.argv[1]
    schema.skip_unless_available()
    program = build()
    with tempfile.TemporaryDirectory() as work:
        with Collector(program, work, parts=()) as collector:
            subprocess.run([driver, "export", collector.endpoint("http")], check=True)
        (request,) = collector.received()
    check_content(request)
    report = otlp_check.check(request.SerializeToString())
    assert not report.violations, "\n".join(otlp_check.report_lines(report))


main()
