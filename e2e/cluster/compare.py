# SPDX-License-Identifier: Apache-2.0
"""Compares each sample's resource with the truth about the container that the sample itself names. Those
that name none of this node's containers are let be: an agent samples the whole machine."""

from dataclasses import dataclass, field

import spin

# So many samples may lack a name, if they say so: those of a container that the kubelet had not yet told
# of when it went away.
UNNAMED_SHARE = 0.001
EXCUSE = "flamelet.identity"


@dataclass
class Tally:
    """The samples found for one container, over all its runs."""
    runs: int = 0
    samples: int = 0
    wrong: int = 0      # claim to be another's
    unnamed: int = 0    # claim less than they should
    faults: dict = field(default_factory=dict)      # text: number of samples

    def add(self, sample, expected):
        claims, gaps = wrong_claims(sample.resource, expected), gaps_in(sample.resource, expected)
        self.samples += sample.count
        self.wrong += sample.count if claims else 0
        self.unnamed += sample.count if gaps and not claims else 0
        for fault in claims + gaps:
            self.faults[fault] = self.faults.get(fault, 0) + sample.count


def wrong_claims(resource, expected):
    return [f"{key} is {resource[key]!r}, not {value!r}"
            for key, value in expected.items() if key in resource and resource[key] != value]


def gaps_in(resource, expected):
    gaps = [f"no {key}" for key in expected if key not in resource]
    return gaps + [f"no {EXCUSE}, which says why"] if gaps and EXCUSE not in resource else gaps


def is_excused(fault):
    """As long as few samples have it."""
    return fault.startswith("no ") and EXCUSE not in fault


class Comparison:
    """`containers` is truth.Truth.containers()."""

    def __init__(self, containers):
        self.containers = containers
        self.tallies = {}
        self.runs_of_thread, self.runs_of_digest = {}, {}
        self.problems = []
        for container in containers.values():
            self.tallies.setdefault(container.place(), Tally()).runs += 1
            digest = container.digest()
            self.runs_of_digest.setdefault(digest, []).append(container)
            self.runs_of_thread.setdefault(spin.thread_name(digest), []).append(container)

    def candidates(self, sample):
        """The runs that the sample can be of: one by its function's name; any run of the container by
        its thread's name alone, as long as the stack is not known, and where containers have a private
        cgroup namespace, in which they do not see their IDs; None when it is not of ours."""
        identity = spin.identity_of(sample.frames)
        if identity is None:
            return self.runs_of_thread.get(sample.attributes.get("thread.name"))
        runs = self.runs_of_digest.get(identity.digest)
        if not runs or identity.container_id == spin.UNKNOWN_ID:
            return runs
        run = self.containers.get((identity.uid, identity.container_id))
        if run not in runs:
            self.problems.append(f"Kubernetes knows of no container {identity}")
            return None
        return [run]

    def add(self, samples):
        for sample in samples:
            runs = self.candidates(sample)
            if runs:
                best = min(runs, key=lambda run: len(wrong_claims(sample.resource, run.resource)))
                self.tallies[best.place()].add(sample, best.resource)

    def total(self, name):
        return sum(getattr(tally, name) for tally in self.tallies.values())

    def print_table(self):
        print(f"{'container':<52} {'runs':>5} {'samples':>8} {'wrong':>6} {'unnamed':>8}")
        for place, tally in sorted(self.tallies.items()):
            print(f"{place:<52} {tally.runs:>5} {tally.samples:>8} {tally.wrong:>6} "
                  f"{tally.unnamed:>8}")
        print(f"{'all':<52} {self.total('runs'):>5} {self.total('samples'):>8} "
              f"{self.total('wrong'):>6} {self.total('unnamed'):>8}", flush=True)

    def result(self):
        """Returns each distinct fault once."""
        problems = sorted(set(self.problems))
        has_names = self.total("unnamed") <= UNNAMED_SHARE * self.total("samples")
        for place, tally in sorted(self.tallies.items()):
            if tally.samples == 0:
                problems.append(f"{place}: no samples at all")
            problems += [f"{place}: {fault} ({count} samples)"
                         for fault, count in tally.faults.items()
                         if not (has_names and is_excused(fault))]
        return problems
