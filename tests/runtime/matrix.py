#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs check_load.py's cases with all versions of versions.py that can be had, and prints one table.

    matrix.py path/to/flamelet [KIND | WORD-OF-NAME]... [--case NAME]... [--hz HZ] [--seconds CPU]

Exit status 0: all shares are as large as they must be; 1: one is not; 77: it cannot run here."""

import argparse
import os
import sys

import check_load
import fetch
import host
import versions


def is_wanted(version, words):
    return not words or any(word == version.kind or word in version.name for word in words)


def check_version(options, version):
    """What is not installed or cannot be had is skipped, and so is told."""
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


def check(options):
    check_load.schema.skip_unless_available()
    check_load.print_head()
    return [fault for version in versions.VERSIONS if is_wanted(version, options.words)
            for fault in check_version(options, version)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("words", nargs="*")
    check_load.add_options(parser)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
