# SPDX-License-Identifier: Apache-2.0
"""The metrics that docs/operations.md explains."""

import os
import re

import chart
import host

OPERATIONS = os.path.join(chart.ROOT, "docs/operations.md")
METRIC = re.compile(r"\b(?:flamelet|process)_[a-z_]+\b")
ROW = re.compile(r"^\| `([a-z_]+)(?:\{\w+\})?` \|", re.MULTILINE)
DESTINATION = re.compile(r"`(flamelet_export_destination_)…\{destination\}` has ([^.]*)")


def metrics():
    text = host.read_text(OPERATIONS)
    prefix, ends = DESTINATION.search(text).groups()
    return set(ROW.findall(text)) | {prefix + end for end in re.findall(r"`(\w+)`", ends)}


def unknown_metrics(expressions):
    used = {name for expression in expressions for name in METRIC.findall(expression)}
    return [f"docs/operations.md knows no {name}" for name in sorted(used - metrics())]
