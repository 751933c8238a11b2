#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboards in the chart are well-formed, their metrics documented, and clusters get them as
they are: nothing in them is a template of Helm's. Whether there is data for their queries,
e2e/pyroscope asks.

    check_dashboards.py [--chart DIRECTORY]"""

import glob
import json
import os
import sys

import chart
import documented
import host

sys.path.insert(1, os.path.join(chart.ROOT, "e2e/pyroscope"))

# pylint: disable=wrong-import-position
import dashboards

# The limit of a ConfigMap, less some bytes for the rest of the object.
BYTES_MAX = 1000 << 10


def load_all(directory):
    found = {}
    for path in sorted(glob.glob(f"{directory}/*.json")):
        with open(path, encoding="utf-8") as file:
            found[os.path.basename(path)] = json.load(file)
    return found


def check_object(subject, files):
    values = chart.ENDPOINT | {"dashboards": {"enabled": True, "label": "is-board", "labelValue": "yes"}}
    maps = [item for item in subject.objects(values) if item["kind"] == "ConfigMap"
            and item["metadata"]["labels"].get("is-board") == "yes"]
    rendered = {name: json.loads(text) for item in maps for name, text in item["data"].items()}
    faults = [f"a ConfigMap of {size} bytes is too large" for item in maps
              if (size := len(json.dumps(item))) > BYTES_MAX]
    return faults + [f"{name} is not what its ConfigMap has" for name in sorted(set(files) | set(rendered))
                     if files.get(name) != rendered.get(name)]


def check(directory):
    subject = chart.Chart(directory)
    files = load_all(subject.path("dashboards"))
    if not files:
        raise host.Failure(f"{subject.path('dashboards')} has no dashboards")
    faults = [fault for dashboard in files.values() for fault in dashboards.check_form(dashboard)]
    identities = [dashboard["uid"] for dashboard in files.values()]
    if len(identities) != len(set(identities)):
        faults.append(f"two dashboards have the same uid: {identities}")
    expressions = [target["expr"] for dashboard in files.values()
                   for _panel, target in dashboards.targets(dashboard) if "expr" in target]
    print(f"check_dashboards: {len(files)} dashboards, {len(expressions)} queries of metrics")
    return faults + documented.unknown_metrics(expressions) + check_object(subject, files)


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
