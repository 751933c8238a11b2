#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that cannot fail checks nothing: each of them must find what was broken in a copy of the
chart, and say what it is.

    check_selftest.py path/to/flamelet [--chart DIRECTORY]"""

import contextlib
import io
import os
import shutil
import sys
import tempfile

import agent_config
import chart
import check_dashboards
import check_golden
import check_guards
import check_lint
import check_readme
import check_render
import check_restart
import check_rules
import check_schema
import check_unit
import host

MUTATIONS = os.path.join(chart.HERE, "mutations.yaml")
CASE = "minimum"


def render(subject, binary):
    return check_render.check_case(subject, binary, CASE, chart.VERSIONS[-1])


def keys(subject, _binary):
    return check_schema.check_top_level(subject)


def values(subject, _binary):
    return check_schema.refusals(subject, [(("image", "pullPolicy"), "Sometimes")], chart.HELMS[0])


def whole(module):
    return lambda subject, _binary: module.check(subject.directory)


MODULES = (check_dashboards, check_golden, check_guards, check_lint, check_readme, check_restart,
           check_rules, check_unit)
CHECKS = {module.__name__.removeprefix("check_"): whole(module) for module in MODULES} | {
    "render": render, "options": check_render.check_options, "keys": keys, "values": values}


def copy_chart(subject, directory):
    """With one values file, which is enough here."""
    shutil.copytree(os.path.dirname(subject.directory), directory)
    copy = chart.Chart(os.path.join(directory, os.path.basename(subject.directory)))
    for name, path in copy.cases().items():
        if name != CASE:
            os.unlink(path)
    return copy


def mutate(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old not in text:
        raise host.Failure(f"there is no {old!r} to replace")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1))


def try_mutation(subject, binary, mutation):
    with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as directory:
        copy = copy_chart(subject, f"{directory}/charts")
        try:
            mutate(copy.path(mutation["file"]), mutation["old"], mutation["new"])
            said = "\n".join(CHECKS[mutation["check"]](copy, binary))
        except host.Failure as failure:
            said = str(failure)
    is_found = mutation["says"] in said
    return [] if is_found else [f"{mutation}: it says {said[-1500:]!r}"]


def check_all(directory, binary):
    subject = chart.Chart(directory)
    mutations = chart.load_file(MUTATIONS)
    with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as place:
        copy = agent_config.readable_copy(os.path.abspath(binary), place)
        with contextlib.redirect_stdout(io.StringIO()):
            faults = chart.in_parallel(lambda mutation: try_mutation(subject, copy, mutation), mutations)
    print(f"check_selftest: {len(mutations)} mutations")
    return sum(faults, [])


def main():
    parser = chart.parser(__doc__)
    parser.add_argument("binary", metavar="FLAMELET")
    arguments = parser.parse_args()
    return chart.judge(check_all, arguments.chart, arguments.binary)


if __name__ == "__main__":
    sys.exit(main())
