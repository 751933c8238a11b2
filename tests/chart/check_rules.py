#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart's alerts: promtool takes them, rules_test.yaml has each of them fire when it should and
not when it should not, their metrics are documented, and the PrometheusRule has the same ones.

    check_rules.py [--chart DIRECTORY]"""

import os
import re
import sys
import tempfile

import chart
import documented
import host

sys.path.insert(1, os.path.join(chart.ROOT, "e2e"))

# pylint: disable=wrong-import-position
import metrics

TESTS = os.path.join(chart.HERE, "rules_test.yaml")
ALERT_NAME = re.compile(r'alertname="(\w+)"')


def alerts(groups):
    return [rule for group in groups for rule in group["rules"]]


def run_tests(promtool, rules_file):
    """The tests name the rules of this tree; these may be others."""
    with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as directory:
        tests = chart.load_file(TESTS) | {"rule_files": [rules_file]}
        path = f"{directory}/rules_test.yaml"
        with open(path, "w", encoding="utf-8") as file:
            chart.yaml.safe_dump(tests, file)
        host.run(promtool, "test", "rules", path)


def check_coverage(rules):
    """Each alert fires in a test. That it does not in others, all of them say."""
    expected = [sample["labels"] for test in chart.load_file(TESTS)["tests"]
                for expression in test["promql_expr_test"] for sample in expression["exp_samples"]]
    fired = {name for labels in expected for name in ALERT_NAME.findall(labels)}
    names = {rule["alert"] for rule in rules}
    faults = [f"rules_test.yaml never has {name} fire" for name in sorted(names - fired)]
    return faults + [f"rules_test.yaml knows {name}, which is no alert" for name in sorted(fired - names)]


def check_texts(rules):
    """Each alert says what it means and what to do."""
    faults = [f"{rule['alert']} has no {key}" for rule in rules
              for key in ("summary", "description", "runbook") if not rule["annotations"].get(key)]
    return faults + [f"{rule['alert']} has no severity" for rule in rules
                     if rule["labels"].get("severity") not in ("info", "warning", "critical")]


def rendered_alerts(subject, **settings):
    objects = subject.objects(chart.ENDPOINT | {"prometheusRule": {"enabled": True, **settings}})
    return alerts(chart.find(objects, "PrometheusRule")["spec"]["groups"])


def check_object(subject, rules):
    faults = []
    if rendered_alerts(subject) != rules:
        faults.append("the PrometheusRule has other alerts than rules/flamelet.yaml")
    if rendered_alerts(subject, exclude=[rules[0]["alert"]]) != rules[1:]:
        faults.append(f"prometheusRule.exclude does not leave out {rules[0]['alert']}, or more than that")
    return faults


def check(directory):
    subject = chart.Chart(directory)
    rules_file = subject.path("rules/flamelet.yaml")
    promtool = metrics.find_promtool()
    host.run(promtool, "check", "rules", "--lint=all", "--lint-fatal", rules_file)
    rules = alerts(chart.load_file(rules_file)["groups"])
    run_tests(promtool, rules_file)
    print(f"check_rules: {len(rules)} alerts")
    return check_coverage(rules) + check_texts(rules) + check_object(subject, rules) + (
        documented.unknown_metrics(rule["expr"] for rule in rules))


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
