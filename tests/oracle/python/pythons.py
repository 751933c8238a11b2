# SPDX-License-Identifier: Apache-2.0
"""The Pythons that are compared."""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = "SKIP"


def all_versions():
    """(name, command, environment) of each that can be had."""
    sys.path += [os.path.join(HERE, "../../runtime"), os.path.join(HERE, "../../../e2e/local")]
    import host
    import versions

    for version in versions.VERSIONS:
        try:
            if version.kind == "cpython":
                runtime = version.runtime()
                yield version.name, runtime.start(), {**os.environ, **dict(runtime.environment)}
        except host.Skip as skip:
            print(f"{SKIP} {version.name}: {skip}", flush=True)


def add_options(parser: argparse.ArgumentParser):
    parser.add_argument("--versions", action="store_true")
    parser.add_argument("--python", nargs="+", default=[sys.executable])


def wanted(options):
    return all_versions() if options.versions else [(options.python[0], options.python, dict(os.environ))]


def exit_with(results):
    """Of each Python True if all is right, None if there was nothing to compare, else False."""
    if False in results:
        sys.exit(1)
    sys.exit(0 if True in results else 77)
