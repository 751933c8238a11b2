#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Helm 3 and 4 find nothing wrong with the chart, with any of its values files.

    check_lint.py [--chart DIRECTORY]"""

import itertools
import sys

import chart


def lint(subject, helm, values_file):
    status, said = chart.run_helm(helm, "lint", subject.directory, "--strict", "--values", values_file,
                                  "--kube-version", chart.VERSIONS[-1])
    return [] if status == 0 else [f"{helm} lint --strict --values {values_file}: {said.strip()}"]


def check(directory):
    subject = chart.Chart(directory)
    work = list(itertools.product(chart.HELMS, subject.cases().values()))
    faults = chart.in_parallel(lambda item: lint(subject, *item), work)
    print(f"check_lint: {len(work)} runs")
    return sum(faults, [])


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
