# SPDX-License-Identifier: Apache-2.0
"""Runs `flamelet export`, and holds what it says against what a receiver has seen."""

from dataclasses import dataclass
import json
import os
import subprocess

import host

PROTOCOLS = {
    "http": ("--otlp-protocol", "http/protobuf"),
    "grpc": ("--otlp-protocol", "grpc"),
    "push": ("--exporter", "pyroscope"),
}
LONGEST_RUN_S = 100
# The server notes an answer just before, or after, it leaves.
SLACK_S = 0.05


@dataclass
class Report:
    """Result of one run: where the samples ended."""
    status: int
    stderr: str
    counts: dict

    def __getitem__(self, name):
        return self.counts[name]

    def dropped(self):
        """By reason, but those that are nil."""
        return {reason: nr for reason, nr in self.counts["dropped"].items() if nr}

    def accounted(self):
        return self["sent"] + self["queued"] + sum(self.dropped().values())

    def __str__(self):
        return f"exit {self.status}, {json.dumps(self.counts)}, {self.stderr.strip()!r}"


class Export:
    """One run, beside the test until finish()."""

    def __init__(self, binary, files, receiver, *options):
        command = [binary, "export", *files, "--json", "--otlp-endpoint", receiver.endpoint(),
                   *PROTOCOLS[receiver.transport], *options]
        # Leaves out what the user of this machine has configured.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("OTEL_") and not name.lower().endswith("_proxy")}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def finish(self):
        try:
            stdout, stderr = self.process.communicate(timeout=LONGEST_RUN_S)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise host.Failure(f"flamelet export did not end in {LONGEST_RUN_S} s") from error
        if self.process.returncode not in (0, 1):
            raise host.Failure(f"exit {self.process.returncode}: {stderr.strip()!r}")
        return Report(self.process.returncode, stderr, json.loads(stdout))


def check_sum(report):
    """Nothing is lost silently."""
    came = report["pushed"] + report["restored"]
    if came != report.accounted():
        return [f"{came} samples came, {report.accounted()} are accounted for: {report}"]
    return []


def check_receiver(reports, receiver, may_repeat=False):
    """The receiver has what was sent, once. Only an answer that was lost makes a sender repeat itself; it
    cannot know better."""
    nr_taken, nr_repeated = receiver.nr_samples()
    faults = []
    if nr_repeated and not may_repeat:
        faults.append(f"{nr_repeated} samples came twice")
    # Of what partial success rejects, only the sender's estimate is known.
    sent = sum(report["sent"] + report["dropped"]["partial"] for report in reports)
    if nr_taken - nr_repeated != sent:
        faults.append(f"the receiver took {nr_taken - nr_repeated} samples, not {sent}")
    return faults


def check_all_in(report, place, pushed):
    """All samples that were pushed ended as "sent", "queued" or dropped for a reason."""
    faults = check_sum(report)
    nr = report[place] if place in ("sent", "queued") else report["dropped"][place]
    if report["pushed"] != pushed or nr != pushed + report["restored"]:
        faults.append(f"not all of {pushed} samples are {place}: {report}")
    if report.status != (0 if place == "sent" else 1):
        faults.append(f"exit status: {report}")
    return faults


def check_message(report, *parts):
    """One line says what is wrong and where."""
    lines = [line for line in report.stderr.splitlines() if all(part in line for part in parts)]
    if lines:
        return []
    return [f"no line with {' and '.join(map(repr, parts))}: {report.stderr.strip()!r}"]


def check_waits(receiver, waits):
    """The next request came as long after an answer as that had asked for, or later."""
    gaps = receiver.gaps()
    if len(gaps) < len(waits):
        return [f"only {len(receiver.requests)} requests"]
    return [f"a request came {gap:.2f} s after an answer that asked for {wait} s"
            for gap, wait in zip(gaps, waits) if gap < wait - SLACK_S]
