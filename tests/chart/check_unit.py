#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs helm-unittest's suites in the chart's tests/, in a copy: helm-unittest makes a directory beside them.

    check_unit.py [--chart DIRECTORY]"""

import re
import shutil
import subprocess
import sys
import tempfile

import chart

TESTS = re.compile(r"^Tests: +[1-9]", re.MULTILINE)


def run(directory):
    done = subprocess.run([chart.tool("helm-unittest"), "--strict", directory], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=chart.SECONDS, check=False)
    print(done.stdout)
    if done.returncode != 0:
        return [f"helm-unittest: exit {done.returncode}: see above"]
    return [] if TESTS.search(done.stdout) else ["helm-unittest found no tests"]


def check(directory):
    with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as place:
        return run(shutil.copytree(directory, f"{place}/flamelet"))


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
