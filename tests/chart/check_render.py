#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the chart with each of its values files, for two versions of Kubernetes, with Helm 3
and 4: both make the same of it, Kubernetes knows every field (schemas/), and the rules of
object_rules.py hold. The agent takes its configuration.

    check_render.py path/to/flamelet [--chart DIRECTORY]"""

import itertools
import os
import re
import sys
import tempfile

import agent_config
import chart
import host
import object_rules

SCHEMAS = os.path.join(chart.HERE, "schemas")
FILE = "{{ .ResourceKind }}{{ .KindSuffix }}.json"
CUSTOM = os.path.join(SCHEMAS, "custom", FILE)
OPTIONS = re.compile(r'define "flamelet.agentOptions" -}}(.*?){{- end', re.DOTALL)
OPTION = re.compile(r"^ +(?:-\w, )?--([a-z-]+)", re.MULTILINE)
NOT_IN_FILE = {"config", "help", "help-all"}


def render_all(subject, values_file, version):
    """The text of all objects, and what is wrong with it."""
    texts, faults = [], []
    for helm in chart.HELMS:
        status, text = subject.render(values_file, helm, version)
        if status != 0:
            return "", [f"{helm}: {text.strip()}"]
        texts.append(chart.without_blank_lines(text))
    if texts[0] != texts[1]:
        pairs = itertools.zip_longest(texts[0].splitlines(), texts[1].splitlines())
        faults.append(f"Helm 3 and 4 differ: {next(pair for pair in pairs if pair[0] != pair[1])}")
    return texts[0], faults


def validate(text, version):
    try:
        host.run(chart.tool("kubeconform"), "-strict", "-schema-location", f"{SCHEMAS}/{version}/{FILE}",
                 "-schema-location", CUSTOM, "-", input=text)
    except host.Failure as failure:
        return [str(failure)]
    return []


def check_case(subject, binary, name, version):
    values_file = subject.cases()[name]
    text, faults = render_all(subject, values_file, version)
    if not faults:
        objects = chart.load_all(text)
        values = chart.merged(subject.values(), chart.load_file(values_file))
        faults += validate(text, version)
        faults += object_rules.faults_of(object_rules.Render(objects, values, version))
        with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as directory:
            os.chmod(directory, 0o755)
            faults += agent_config.faults_of(binary, objects, directory)
    return [f"{name}, Kubernetes {version}: {fault}" for fault in faults]


def check_defaults(subject):
    """Without a value, the chart grants the six capabilities."""
    given = subject.values()["security"]["capabilities"]
    return [] if given == object_rules.CAPABILITIES else [f"values.yaml: security.capabilities is {given}"]


def check_options(subject, binary):
    """The chart takes in extraConfig what the agent takes in its file, and nothing else."""
    with open(subject.path("templates/_config.tpl"), encoding="utf-8") as file:
        known = set(OPTIONS.search(file.read())[1].split())
    there = set(OPTION.findall(host.run(binary, "agent", "--help-all"))) - NOT_IN_FILE
    return [f"templates/_config.tpl, flamelet.agentOptions: {option} is no option of the agent"
            for option in known - there] + [
            f"templates/_config.tpl, flamelet.agentOptions lacks {option}" for option in there - known]


def check(directory, binary):
    subject = chart.Chart(directory)
    work = list(itertools.product(subject.cases(), chart.VERSIONS))
    with tempfile.TemporaryDirectory(prefix="flamelet-chart-") as place:
        copy = agent_config.readable_copy(os.path.abspath(binary), place)
        faults = chart.in_parallel(lambda item: check_case(subject, copy, *item), work)
    print(f"check_render: {len(subject.cases())} values files, {len(work)} renders with each Helm")
    return sum(faults, check_defaults(subject) + check_options(subject, binary))


def main():
    parser = chart.parser(__doc__)
    parser.add_argument("binary", metavar="FLAMELET")
    arguments = parser.parse_args()
    return chart.judge(check, arguments.chart, arguments.binary)


if __name__ == "__main__":
    sys.exit(main())
