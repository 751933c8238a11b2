# SPDX-License-Identifier: Apache-2.0
"""The functions of one pod, by the share of its samples that were taken in them."""

import collections
import time

import backend

MAX_ROWS = 15
PAUSE_SECONDS = 1


def samples_of(node, namespace, pod, container=None):
    wanted = {"k8s.namespace.name": namespace, "k8s.pod.name": pod}
    if container:
        wanted["k8s.container.name"] = container
    return [sample for sample in backend.samples(node) if wanted.items() <= sample.resource.items()]


def by_function(samples):
    """{(function, container): samples}, of the innermost functions."""
    counts = collections.Counter()
    for sample in samples:
        name = sample.frames[0] if sample.frames else ""
        counts[name or "[no name]", sample.resource.get("k8s.container.name", "-")] += sample.count
    return counts


def show(node, namespace, pod, container, wait):
    """Prints the table, once there is anything to print. Returns the exit status."""
    deadline = time.monotonic() + wait
    found = samples_of(node, namespace, pod, container)
    while not found and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        found = samples_of(node, namespace, pod, container)
    if not found:
        print(f"no profile of {namespace}/{pod} has arrived")
        return 1
    counts = by_function(found)
    print(f"{namespace}/{pod}: {counts.total()} samples\n{'SHARE':>6}  {'CONTAINER':<12}  FUNCTION")
    for (name, its_container), count in counts.most_common(MAX_ROWS):
        print(f"{count / counts.total():>6.1%}  {its_container:<12}  {name}")
    return 0
