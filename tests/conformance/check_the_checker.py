#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests otlp_check.py: good bodies pass, and of each broken one exactly what is wrong with it is told."""
import os
import subprocess
import sys
import tempfile

import attribute_rules
import broken_case
import broken_profiles
import broken_tables
import good_body
import otlp_check
import schema
from rules import PER_RULE_MAX, RULES, Options

PROGRAM = otlp_check.__file__


def good_bodies():
    """(what, body, options)"""
    request = good_body.good_body()
    yield "the good body", request, Options()
    good_body.add_payload(request, good_body.good_pprof())
    yield "with its pprof", request, Options()
    profile = good_body.first_profile(request)
    profile.original_payload_format, profile.original_payload = "jfr", b"anything"
    yield "with a recording of another kind", request, Options()

    request = good_body.good_body()
    good_body.first_profile(request).ClearField("profile_id")
    yield "without the optional id", request, Options()
    for sample in good_body.first_profile(request).samples:
        sample.timestamps_unix_nano.append(good_body.TIME_NS)
    yield "with time stamps, where they are allowed", request, Options(values_or_times=False)

    request = good_body.good_body()
    request.dictionary.stack_table[2].location_indices.extend([2] * 999)
    yield "with 1000 frames", request, Options()

    request = good_body.good_body()
    for i in range(100):
        good_body.first_profile(request).samples[1].attribute_indices.append(
            good_body.add_attribute(request, f"key {i}", i))
    yield "with 102 labels, where they are allowed", request, Options(labels_max=None)


def check_good():
    for what, request, options in good_bodies():
        report = otlp_check.check(request.SerializeToString(), options)
        assert not report.violations, (what, report.violations)


def check_broken():
    for module in (broken_tables, broken_profiles):
        module.add_cases()
    cases = broken_case.CASES
    untested = set(RULES) - {case.rule for case in cases}
    assert not untested, f"rules without a broken body: {sorted(untested)}"
    wrong = []
    for case in cases:
        found = otlp_check.check(case.body, case.options).violations
        if [(one.rule, one.path) for one in found] != [(case.rule, case.path)]:
            wrong.append(f"want {case.rule} at {case.path or 'the top'}, got {found}")
    assert not wrong, "\n".join(wrong)
    print(f"{len(cases)} broken bodies, {len(RULES)} rules")


def check_bound():
    """A thousand broken samples are not a thousand lines."""
    request = good_body.good_body()
    good_body.first_profile(request).ClearField("samples")
    for i in range(1000):
        good_body.first_profile(request).samples.add(stack_index=1000 + i, values=[1])
    report = otlp_check.check(request.SerializeToString())
    assert report.counts["range"] == 1000
    assert sum(one.rule == "range" for one in report.violations) == PER_RULE_MAX
    assert ("range", 1000 - PER_RULE_MAX) in report.left_out()


def run_program(*bodies):
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, str(i)) for i in range(len(bodies))]
        for path, body in zip(paths, bodies):
            with open(path, "wb") as file:
                file.write(body)
        done = subprocess.run([sys.executable, PROGRAM, *paths], stdout=subprocess.PIPE,
                              text=True, check=False)
        return done.returncode, done.stdout.replace(directory + "/", "").splitlines()


def check_program():
    request = good_body.good_body()
    good = request.SerializeToString()
    good_body.first_profile(request).samples.add(stack_index=7, values=[1])
    bad = request.SerializeToString()
    line = ("resource_profiles[0].scope_profiles[0].profiles[0].samples[2].stack_index: "
            "7 is out of 0..2 [range]")
    assert run_program(good) == (0, [])
    assert run_program(bad) == (1, [line])
    assert run_program(good, bad) == (1, ["1: " + line])


def check_documented():
    """Checks that the rules agree with the table of attributes."""
    keys = attribute_rules.documented()
    missing, unknown = set(attribute_rules.ATTRIBUTES) - keys, keys - set(attribute_rules.ATTRIBUTES)
    assert not missing and not unknown, f"docs/export.md lacks {missing}, has {unknown} besides"


def main():
    schema.skip_unless_available()
    check_documented()
    check_good()
    check_broken()
    check_bound()
    check_program()


if __name__ == "__main__":
    main()
