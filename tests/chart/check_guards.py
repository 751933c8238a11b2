#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each `fail` of the templates is met by a case of refused_values.yaml, says what it should, and
names the value.

    check_guards.py [--chart DIRECTORY]"""

import glob
import os
import re
import sys

import chart

CASES = os.path.join(chart.HERE, "refused_values.yaml")
FAIL = re.compile(r'\bfail (?:\(printf )?"((?:[^"\\]|\\.)*)"')
PLACE = re.compile(r"[a-zA-Z]+[\w. ()-]*: \S")
VERB = re.compile(r"%[sdv]")


def guards(subject):
    """Of each guard of the templates: what it says, as a regular expression."""
    texts = []
    for path in sorted(glob.glob(subject.path("templates/**/*"), recursive=True)):
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                texts += FAIL.findall(file.read())
    return {text: ".*".join(map(re.escape, VERB.split(text.replace('\\"', '"')))) for text in texts}


def refuse(subject, case):
    status, said = subject.render_values(chart.merged(chart.ENDPOINT, case["values"]))
    is_right = status != 0 and case["says"] in said and "schema" not in said
    fault = f"{case['values']}: exit {status}, not {case['says']!r}: {said[-600:]}"
    return said, [] if is_right else [fault]


def check(directory):
    subject = chart.Chart(directory)
    cases = chart.load_file(CASES)
    answers = chart.in_parallel(lambda case: refuse(subject, case), cases)
    found = guards(subject)
    print(f"check_guards: {len(cases)} cases, {len(found)} guards")
    return (sum((faults for _, faults in answers), [])
            + [f"no case of refused_values.yaml meets {text!r}" for text, pattern in found.items()
               if not any(re.search(pattern, said) for said, _ in answers)]
            + [f"does not begin with the value: {text!r}" for text in found
               if not PLACE.match(VERB.sub("x", text))])


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
