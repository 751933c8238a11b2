# SPDX-License-Identifier: Apache-2.0
"""Compares each sample's resource with the truth about the container that the sample itself names."""

from dataclasses import dataclass, field

import spin


@dataclass
class Tally:
    """What was found for one container, all its runs together."""
    runs: int = 0
    right: int = 0
    wrong: int = 0
    faults: dict = field(default_factory=dict)      # text: number of samples

    def add(self, count, faults):
        if faults:
            self.wrong += count
        else:
            self.right += count
        for fault in faults:
            self.faults[fault] = self.faults.get(fault, 0) + count


def resource_faults(resource, expected):
    return [f"{key} is {resource.get(key)!r}, not {value!r}"
            for key, value in expected.items() if resource.get(key) != value]


class Comparison:
    """`containers` is truth.Truth.containers()."""

    def __init__(self, containers):
        self.containers = containers
        self.tallies = {}
        self.runs_of_thread = {}
        self.problems = []
        for container in containers.values():
            self.tallies.setdefault(container.place(), Tally()).runs += 1
            thread = spin.thread_name(container.digest())
            self.runs_of_thread.setdefault(thread, []).append(container)

    def candidates(self, sample):
        """The runs that the sample can be of: one by its function's name; by its thread's name alone, as
        long as its stack is not known, any run of that container; None when it is not of ours."""
        identity = spin.identity_of(sample.frames)
        if identity is None:
            return self.runs_of_thread.get(sample.attributes.get("thread.name"))
        run = self.containers.get((identity.uid, identity.container_id))
        if run is None or run.digest() != identity.digest:
            self.problems.append(f"Kubernetes knows of no container {identity}")
            return None
        return [run]

    def add(self, samples):
        for sample in samples:
            runs = self.candidates(sample)
            if runs:
                faults = min((resource_faults(sample.resource, run.resource) for run in runs),
                             key=len)
                self.tallies[runs[0].place()].add(sample.count, faults)

    def print_table(self):
        print(f"{'container':<52} {'runs':>5} {'samples':>8} {'wrong':>6}")
        for place, tally in sorted(self.tallies.items()):
            print(f"{place:<52} {tally.runs:>5} {tally.right + tally.wrong:>8} {tally.wrong:>6}",
                  flush=True)

    def result(self):
        """What is wrong, each distinct fault once."""
        problems = sorted(set(self.problems))
        for place, tally in sorted(self.tallies.items()):
            if tally.right + tally.wrong == 0:
                problems.append(f"{place}: no samples at all")
            problems += [f"{place}: {fault} ({count} samples)"
                         for fault, count in tally.faults.items()]
        return problems
