#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs check_load.py's cases with all versions of versions.py that can be had, and prints one table. Below it is the
same in Markdown, with a row for each version: the smallest shares of its loads that have such a goal, and which loads
miss one.

    matrix.py path/to/flamelet [KIND | WORD-OF-NAME]... [--case NAME]... [--hz HZ] [--seconds CPU]

Exit status 0: no share is below its floor in cases.py; 1: one is; 77: it cannot run here."""

import argparse
import itertools
import os
import sys

import check_load
import fetch
import host
import versions

COLUMNS = ("rooted", "chain", "lines", "named")


def is_wanted(version, words):
    return not words or any(word == version.kind or word in version.name for word in words)


def check_version(options, version):
    """Runtimes that are not installed and cannot be downloaded are skipped, with a line that says so."""
    try:
        runtime = version.runtime()
        if runtime.root == "/" and not os.access(runtime.command[0], os.X_OK):
            raise host.Skip("it is not installed")
        with fetch.mounted_proc(runtime.root):
            return check_load.check_runtime(options, runtime)
    except host.Skip as skip:
        print(f"SKIP {version.name}: {skip}", flush=True)
        return []
    except host.Failure as failure:
        return [f"{version.name}: {failure}"]


def summary(rows):
    """The line of a version."""
    smallest = " | ".join(f"{min((row.shares[column] for row in rows if row.wants(column)), default=0):.1f}"
                          for column in COLUMNS)
    missed = "; ".join(f"{row.case.name}: {row.goal()}" for row in rows if row.short)
    return (f"| {rows[0].runtime.name} | {rows[0].version.lstrip('v')} | {len(rows)} | {sum(row.nr_samples for row in rows)}"
            f" | {smallest} | {missed or 'met'} |")


def print_summary(rows):
    print(f"\n| runtime | version | loads | samples | {' | '.join(COLUMNS)} | goals |\n|{'---|' * (len(COLUMNS) + 5)}")
    for _, group in itertools.groupby(rows, lambda row: (row.runtime, row.version)):
        print(summary(list(group)), flush=True)


def check(options):
    check_load.schema.skip_unless_available()
    check_load.print_head()
    faults = [fault for version in versions.VERSIONS if is_wanted(version, options.words)
              for fault in check_version(options, version)]
    print_summary(options.rows)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("words", nargs="*")
    check_load.add_options(parser)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
