# SPDX-License-Identifier: Apache-2.0
"""Compares what the agent says of each sample with what the containers say of themselves. Only
functions of values: nothing here runs anything."""

import bisect
from dataclasses import dataclass, field
import re

import spin

NAMES = {"namespace": "k8s.namespace.name", "pod": "k8s.pod.name", "uid": "k8s.pod.uid",
         "container": "k8s.container.name", "container_id": "container.id"}
POD_NAMES = ("namespace", "pod", "uid")
STATE = "flamelet.identity"
# An agent that says nothing claims that the kubelet told it everything.
CERTAIN, HOST, UNKNOWN = "kubelet", "host", "unknown"

# From best to worst. "silent": something is missing, and the sample does not say why.
RIGHT, LATE, PATH, NOTHING, SILENT, WRONG = VERDICTS = (
    "right", "late", "path only", "unknown", "silent", "wrong")
EXPLAINED = (LATE, PATH, NOTHING)

EXPLAINED_SHARE = 0.001
LEAST_CPU_S = 0.1
BRIEF_S = 1.0
BRIEF_SHARE = 1 / 3
COUNT_TOLERANCE = 0.1
THREAD_NAME = re.compile(r"spin_([0-9a-f]{10})")


@dataclass
class Run:
    """One run of one container. `uid` is without dashes, `container_id` its first 16 digits; times
    are Unix time; None is what the container had no time to say."""
    kind: str
    namespace: str
    pod: str
    container: str
    uid: str
    container_id: str
    begun: float | None = None
    ended: float | None = None
    cpu_s: float | None = None

    def digest(self):
        return spin.digest(self.namespace, self.pod, self.container)

    def is_brief(self):
        return None not in (self.begun, self.ended) and self.ended - self.begun < BRIEF_S

    def share_outside(self, gaps):
        """Returns the part of its life that lies in none of the intervals."""
        if self.begun is None or self.ended is None or self.ended <= self.begun:
            return 1.0
        inside = sum(max(0.0, min(end, self.ended) - max(begin, self.begun)) for begin, end in gaps)
        return 1 - inside / (self.ended - self.begun)

    def place(self):
        return f"{self.namespace}/{self.pod}/{self.container} {self.container_id}"


@dataclass
class Received:
    """A sample, and when it arrived."""
    at: float
    resource: dict
    thread: str
    frames: list
    count: int


class Truth:
    """All runs, found by what a sample shows of them. `uids`: all pods that the node had; a machine may have
    other nodes, with programs of the same kind."""

    def __init__(self, runs, uids=()):
        self.runs = runs
        self.uids = {run.uid for run in runs}.union(uids)
        self.by_identity, self.by_digest, self.pods = {}, {}, set()
        for run in runs:
            identity = spin.Identity(run.digest(), run.uid, run.container_id)
            self.by_identity[identity] = run
            self.by_digest.setdefault(run.digest()[:10], []).append(run)
            self.pods.add((run.namespace, run.pod, run.uid))

    def runs_of(self, sample):
        """Returns the runs that the sample may belong to: one if its stack has the name, else those
        whose thread has it. None: it is of none of the node's containers; empty: of none that is
        known, but it should be."""
        identity = spin.identity_of(sample.frames)
        if identity and identity.container_id == spin.UNKNOWN_ID:
            return self.by_digest.get(identity.digest[:10])
        if identity:
            run = self.by_identity.get(identity)
            return [run] if run else [] if identity.uid in self.uids else None
        match = THREAD_NAME.fullmatch(sample.thread or "")
        return self.by_digest.get(match[1]) if match else None


def said(resource):
    """Returns a resource's attributes of its container, in the form of a Run."""
    values = {name: resource[key] for name, key in NAMES.items() if resource.get(key)}
    if "uid" in values:
        values["uid"] = values["uid"].replace("-", "")
    if "container_id" in values:
        values["container_id"] = values["container_id"][:16]
    return values


def verdict_of(resource, run):
    values, state = said(resource), resource.get(STATE, CERTAIN)
    if state == HOST or any(value != getattr(run, name) for name, value in values.items()):
        return WRONG
    if len(values) == len(NAMES):
        return RIGHT
    if state == CERTAIN:
        return SILENT
    if all(name in values for name in POD_NAMES):
        return LATE
    if state == UNKNOWN and not values:
        return NOTHING
    return PATH if "uid" in values or "container_id" in values else SILENT


def is_contradicted(resource, truth):
    """Of a sample that does not know where it was taken: no pod has these names together."""
    values = said(resource)
    if "uid" not in values:
        return any(name in values for name in ("namespace", "pod", "container"))
    known = [pod for pod in truth.pods if pod[2] == values["uid"]]
    return bool(known) and not any(values.get("namespace", namespace) == namespace
                                   and values.get("pod", pod) == pod for namespace, pod, _ in known)


@dataclass
class Row:
    """The samples found of a run."""
    run: Run
    counts: dict = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    first_right: float | None = None

    def total(self):
        return sum(self.counts.values())


def add_count(counts, key, count):
    counts[key] = counts.get(key, 0) + count


class Finding:
    def __init__(self, truth):
        self.truth = truth
        self.rows = {id(run): Row(run) for run in truth.runs}
        self.examples = {}
        self.states, self.lacking = {}, {}
        self.nr_unexplained = self.nr_others = self.nr_others_in_pods = self.nr_contradicted = 0

    def add(self, sample):
        runs = self.truth.runs_of(sample)
        if runs is None:
            self.add_other(sample)
        elif not runs:
            self.nr_unexplained += sample.count
            self.note("unexplained", None, sample)
        else:
            self.add_to_run(sample, runs)

    def add_to_run(self, sample, runs):
        verdict, run = min(((verdict_of(sample.resource, run), run) for run in runs),
                           key=lambda pair: VERDICTS.index(pair[0]))
        row = self.rows[id(run)]
        row.counts[verdict] += sample.count
        if verdict == RIGHT and (row.first_right is None or sample.at < row.first_right):
            row.first_right = sample.at
        add_count(self.states, sample.resource.get(STATE, "(none)"), sample.count)
        for key in (key for key in NAMES.values() if not sample.resource.get(key)):
            add_count(self.lacking, key, sample.count)
        if verdict != RIGHT:
            self.note(verdict, run, sample)

    def add_other(self, sample):
        self.nr_others += sample.count
        if said(sample.resource):
            self.nr_others_in_pods += sample.count
        if is_contradicted(sample.resource, self.truth):
            self.nr_contradicted += sample.count
            self.note("contradicted", None, sample)

    def note(self, what, run, sample):
        """One example of each fault of each run is kept."""
        key = (what, id(run) if run else None)
        if key not in self.examples:
            self.examples[key] = (what, run, sample)

    def total(self, *verdicts):
        return sum(row.counts[verdict] for row in self.rows.values()
                   for verdict in verdicts or VERDICTS)


def judge(truth, samples):
    finding = Finding(truth)
    for sample in samples:
        finding.add(sample)
    return finding


def burned_unseen(finding, gaps):
    """Runs without a sample that took CPU time while the agent was there."""
    return [row.run for row in finding.rows.values() if row.total() == 0 and row.run.cpu_s
            and row.run.cpu_s * row.run.share_outside(gaps) >= LEAST_CPU_S]


def expected_samples(runs, gaps, hz):
    return sum(run.cpu_s * run.share_outside(gaps) * hz for run in runs if run.cpu_s)


def check_attribution(finding):
    problems, total = [], finding.total()
    for verdict in (WRONG, SILENT):
        if finding.total(verdict):
            problems.append(f"{finding.total(verdict)} samples are {verdict}")
    explained = finding.total(*EXPLAINED)
    if explained > EXPLAINED_SHARE * total:
        problems.append(f"{explained} of {total} samples lack a name, more than "
                        f"{100 * EXPLAINED_SHARE:g} %")
    if finding.nr_unexplained:
        problems.append(f"{finding.nr_unexplained} samples are of containers that nobody knows")
    if finding.nr_contradicted:
        problems.append(f"{finding.nr_contradicted} samples have names that no pod has together")
    return problems


def check_completeness(finding, gaps, hz):
    problems = [f"{run.place()}: {run.cpu_s:.2f} s of CPU time and no sample"
                for run in burned_unseen(finding, gaps)]
    told = [row for row in finding.rows.values() if row.run.cpu_s]
    expected = expected_samples([row.run for row in told], gaps, hz)
    found = sum(row.total() for row in told)
    if abs(found - expected) > COUNT_TOLERANCE * expected or not told:
        problems.append(f"{found} samples where the CPU time makes {expected:.0f}")
    return problems


def check_chaos(truth, nr_containers):
    """Checks that the scheduled actions happened."""
    problems = []
    nr_brief = sum(run.is_brief() for run in truth.runs)
    if len(truth.runs) < nr_containers:
        problems.append(f"only {len(truth.runs)} of {nr_containers} containers ran")
    if nr_brief < BRIEF_SHARE * nr_containers:
        problems.append(f"only {nr_brief} containers lived for less than a second")
    return problems


def table(finding, gaps, hz):
    """Lines: a row for each kind, and the sum. Those that were killed are "untold": they could not say what
    CPU time they took, so no samples are expected of them."""
    kinds = sorted({run.kind for run in finding.truth.runs})
    rows = list(finding.rows.values())
    lines = [f"{'kind':<10}{'runs':>6}{'< 1 s':>6}{'untold':>7}{'CPU s':>8}{'expected':>9}{'samples':>8}"
             + "".join(f"{verdict:>10}" for verdict in VERDICTS)]
    for kind in kinds:
        lines.append(table_line(kind, [row for row in rows if row.run.kind == kind], gaps, hz))
    return lines + [table_line("all", rows, gaps, hz)]


def table_line(title, rows, gaps, hz):
    runs = [row.run for row in rows]
    cpu_s = sum(run.cpu_s or 0 for run in runs)
    return (f"{title:<10}{len(runs):>6}{sum(run.is_brief() for run in runs):>6}"
            f"{sum(run.cpu_s is None for run in runs):>7}{cpu_s:>8.1f}"
            f"{expected_samples(runs, gaps, hz):>9.0f}{sum(row.total() for row in rows):>8}"
            + "".join(f"{sum(row.counts[verdict] for row in rows):>10}" for verdict in VERDICTS))


def delays(finding, gaps):
    """From a container's start to the arrival of its first right sample, sorted; without those that
    lived while there was no agent."""
    return sorted(row.first_right - row.run.begun for row in finding.rows.values()
                  if row.first_right and row.run.begun and row.run.share_outside(gaps) == 1)


def percentile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def arrival_of(offsets, times, end):
    """When the file had grown to `end`: `times` belong to the sizes in `offsets`."""
    index = bisect.bisect_left(offsets, end)
    return times[min(index, len(times) - 1)]
