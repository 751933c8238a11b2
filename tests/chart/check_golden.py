#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the chart renders from each of its values files with golden/: a change of the chart
shows what it changes in clusters.

    check_golden.py [--chart DIRECTORY] [--write]

--write writes golden/ anew. Look at the difference before you commit it."""

import difflib
import glob
import os
import re
import sys

import chart
import host

GOLDEN = os.path.join(chart.HERE, "golden")
HEADER = "# Written by tests/chart/check_golden.py --write\n"
# They are long, and check_dashboards.py compares them with the chart's files.
DASHBOARD = re.compile(r"^(  [\w-]+\.json: \|\n)(?:    .*\n)+", re.MULTILINE)


def render(subject, values_file):
    status, text = subject.render(values_file)
    if status != 0:
        raise host.Failure(f"{values_file}: {text.strip()}")
    return HEADER + DASHBOARD.sub(r"\1    the dashboard\n", chart.without_blank_lines(text))


def render_all(directory):
    subject = chart.Chart(directory)
    cases = subject.cases()
    texts = chart.in_parallel(lambda path: render(subject, path), cases.values())
    return {f"{GOLDEN}/{name}.yaml": text for name, text in zip(cases, texts)}


def difference(path, text):
    name = os.path.relpath(path, chart.ROOT)
    return "\n".join(difflib.unified_diff(host.read_text(path).splitlines(), text.splitlines(), name,
                                          "rendered now", lineterm=""))


def check(directory):
    rendered = render_all(directory)
    faults = [text for item in rendered.items() if (text := difference(*item))]
    faults += [f"{path} has no values file" for path in glob.glob(f"{GOLDEN}/*") if path not in rendered]
    print(f"check_golden: {len(rendered)} renders")
    return faults + (["if that is what you want: tests/chart/check_golden.py --write"] if faults else [])


def write(directory):
    rendered = render_all(directory)
    os.makedirs(GOLDEN, exist_ok=True)
    for path in set(glob.glob(f"{GOLDEN}/*")) - set(rendered):
        os.unlink(path)
    for path, text in rendered.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return []


def main():
    parser = chart.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write golden/ anew")
    arguments = parser.parse_args()
    return chart.judge(write if arguments.write else check, arguments.chart)


if __name__ == "__main__":
    sys.exit(main())
