# SPDX-License-Identifier: Apache-2.0
"""The functions of one pod, by the share of its samples that were taken in them."""

import collections
import time

import backend

MAX_ROWS, MIN_SHARE = 15, 0.01
# As many as shares are worth to be told of.
ENOUGH_SAMPLES = 100
PAUSE_SECONDS = 1


def samples_of(samples, namespace, pod, container=None):
    wanted = {"k8s.namespace.name": namespace, "k8s.pod.name": pod}
    if container:
        wanted["k8s.container.name"] = container
    return [sample for sample in samples if wanted.items() <= sample.resource.items()]


def by_function(samples):
    """{(function, container): samples}, of the innermost functions."""
    counts = collections.Counter()
    for sample in samples:
        name = sample.frames[0] if sample.frames else ""
        counts[name or "[no name]", sample.resource.get("k8s.container.name", "-")] += sample.count
    return counts


def show(node, namespace, pod, container, wait):
    """Prints the table once it is worth it, or the time is over. Returns the exit status."""
    deadline = time.monotonic() + wait
    counts = by_function(samples_of(backend.samples(node), namespace, pod, container))
    while counts.total() < ENOUGH_SAMPLES and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        counts = by_function(samples_of(backend.samples(node), namespace, pod, container))
    if not counts:
        print(f"no profile of {namespace}/{pod} has arrived")
        return 1
    print(f"{namespace}/{pod}: {counts.total()} samples\n{'SHARE':>6}  {'CONTAINER':<12}  FUNCTION")
    for (name, its_container), count in counts.most_common(MAX_ROWS):
        if count >= MIN_SHARE * counts.total():
            print(f"{count / counts.total():>6.1%}  {its_container:<12}  {name}")
    return 0
