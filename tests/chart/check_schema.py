#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""values.schema.json refuses each value of wrong_values.yaml and each misspelled key, and says
which one it was; it takes the defaults. That it knows the same keys as values.yaml,
charts/make-readme.py sees to.

    check_schema.py [--chart DIRECTORY]"""

import json
import os
import sys

import chart

WRONG = os.path.join(chart.HERE, "wrong_values.yaml")
REFUSAL = "values don't meet the specifications of the schema"
TYPO = "zzz"


def resolve(schema, node):
    """Returns the definition to which a reference in the same file points."""
    while "$ref" in node:
        target = schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def mappings(schema, node, path=()):
    """Paths of all mappings with keys of their own, but for those in lists."""
    properties = resolve(schema, node).get("properties", {})
    if properties:
        yield path
    for name, below in properties.items():
        yield from mappings(schema, below, (*path, name))


def open_mappings(node, path=("#",)):
    """Finds mappings anywhere in the file, also in lists, that accept unknown keys."""
    if isinstance(node, dict):
        if "properties" in node and node.get("additionalProperties", True) is True:
            yield "/".join(path)
        for key, value in node.items():
            yield from open_mappings(value, (*path, key))


def with_value(values, path, value):
    """The values with one more, below mappings that are made where there are none."""
    if not path:
        return value
    return values | {path[0]: with_value(values.get(path[0], {}), path[1:], value)}


def overlaps(path, others):
    """Returns whether one path is part of the other: both cannot be wrong at once."""
    return any(path[:len(other)] == other[:len(path)] for other in others)


def batches(cases):
    """Lists of cases that are no part of each other: each needs but one run of Helm."""
    groups = []
    for path, value in cases:
        group = next((group for group in groups if not overlaps(path, [other for other, _ in group])), None)
        if group is None:
            groups.append(group := [])
        group.append((path, value))
    return groups


def is_named(path, said):
    """Returns whether the message names the path of the fault; in a list, of the wrong item."""
    place = "/" + "/".join(path)
    return any(f"'{place}{end}" in said for end in ("'", "/"))


def is_missed(path, said):
    """As Helm removes what is null, the mapping that it is in lacks it."""
    place = f"'/{'/'.join(path[:-1])}'" if path[1:] else "''"
    return any(place in line and "missing propert" in line and f"'{path[-1]}'" in line
               for line in said.splitlines())


def refusals(subject, cases, helm):
    """Returns faults in the answer to values that are all wrong."""
    values = chart.ENDPOINT
    for path, value in cases:
        values = with_value(values, path, value)
    status, said = subject.render_values(values, helm=helm)
    if status == 0 or REFUSAL not in said:
        return [f"{helm} takes {values}: {said[:500]}"]
    return [f"{helm} does not name {'.'.join(path)}: {value!r} in: {said}" for path, value in cases
            if not (is_missed if value is None else is_named)(path, said)]


def wrong_values():
    return [(tuple(key.split(".")), value)
            for key, values in chart.load_file(WRONG).items() for value in values]


def check_wrong_values(subject):
    cases = wrong_values()
    work = [(group, helm) for group in batches(cases) for helm in chart.HELMS]
    faults = chart.in_parallel(lambda item: refusals(subject, *item), work)
    print(f"check_schema: {len(cases)} wrong values in {len(work)} runs")
    return sum(faults, [])


def check_typos(subject, schema):
    """A key that is not known, in every place that has keys."""
    places = list(mappings(schema, schema))
    values = chart.ENDPOINT
    for path in places:
        values = with_value(values, (*path, TYPO), 1)
    _, said = subject.render_values(values)
    refused = [line for line in said.splitlines() if f"'{TYPO}'" in line and "not allowed" in line]
    faults = [f"values.schema.json: {place} takes any key" for place in open_mappings(schema)]
    if len(refused) != len(places):
        faults.append(f"of {len(places)} misspelled keys {len(refused)} are refused: {said}")
    return faults


def check_top_level(subject):
    """Each documented key, misspelled."""
    typos = {key + "s": value for key, value in subject.values().items()}
    _, said = subject.render_values(chart.ENDPOINT | typos)
    return [f"a misspelled key is not refused: {key}" for key in typos if f"'{key}'" not in said]


def check(directory):
    subject = chart.Chart(directory)
    with open(subject.path("values.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    subject.objects(chart.ENDPOINT)
    return check_typos(subject, schema) + check_top_level(subject) + check_wrong_values(subject)


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
