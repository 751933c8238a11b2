#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From nothing to each pod's flame graph, by the commands of docs/install.md: that document's session is run as it
stands there, and in its midst what arrived, what the pod may do and what it costs are looked at.

    helm.py path/to/flamelet [--pods 110] [--kubernetes VERSION]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import subprocess
import sys
import tempfile
import threading
import time

import conduct
import helm_checks
import helm_cost
import release
import sandbox_state as states
import transcript

# pylint: disable=wrong-import-order
import collector
import host

DOCUMENT = os.path.join(release.ROOT, "docs/install.md")
STEP_SECONDS = 600
WANTED_SECONDS = 60
INSTALLS, REMOVES = "helm install", "helm uninstall"
# The first run builds Kubernetes, the Collector and helm, which have their own limits.
RUN_SECONDS = 1800


class Session:
    """Runs the document's commands, on a sandbox of its own."""

    def __init__(self, binary):
        self.directory = tempfile.TemporaryDirectory(prefix="flamelet-sandbox-")
        # `make cluster` builds the program, unless it is told of one.
        self.environment = dict(os.environ, FLAMELET=os.path.abspath(binary))
        os.environ[states.VARIABLE] = self.environment[states.VARIABLE] = f"{self.directory.name}/state"

    def run(self, step):
        """Returns its output."""
        command = ["bash", "-c", step.command]
        if step.is_inside:
            command = [helm_checks.SANDBOX, "shell", *command]
        done = subprocess.run(command, cwd=release.ROOT, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=STEP_SECONDS, check=False)
        if done.returncode != 0:
            raise host.Failure(f"{step.command}: exit {done.returncode}: {done.stdout}")
        return done.stdout

    def play(self, steps, before_step=lambda step: None):
        """Returns the differences from the document."""
        problems = []
        for step in steps:
            before_step(step)
            print(f"{'sandbox# ' if step.is_inside else '$ '}{step.command}", flush=True)
            output = self.run(step)
            print(output, end="", flush=True)
            if not step.matches(output):
                problems.append(f"{step.command}: docs/install.md shows\n" + "\n".join(step.lines))
        return problems

    def close(self):
        """Whatever is still up."""
        if states.read():
            host.run(helm_checks.SANDBOX, "down", seconds=STEP_SECONDS, env=self.environment)
        self.directory.cleanup()


class Arrival(threading.Thread):
    """Waits for the functions of one pod to arrive, from when it is made."""

    def __init__(self, agent):
        super().__init__(daemon=True)
        self.agent, self.begin = agent, time.monotonic()
        self.seconds = self.problem = None
        self.start()

    def run(self):
        try:
            self.seconds = helm_cost.wait_for_functions(self.agent.node) - self.begin
        except host.Failure as failure:
            self.problem = str(failure)

    def result(self):
        self.join()
        if self.seconds is None:
            return [self.problem]
        print(f"from `{INSTALLS}` to the functions of {helm_cost.FIRST_POD} at the Collector: "
              f"{self.seconds:.1f} s", flush=True)
        return [] if self.seconds <= WANTED_SECONDS else [f"it took {self.seconds:.1f} s until functions arrived"]


def watch_install(arrivals):
    """For play(): the clock begins to run with the installation."""
    def before_step(step):
        if step.command.startswith(INSTALLS):
            arrivals.append(Arrival(release.Release(states.Attached())))
    return before_step


def examine(agent, args):
    """The release as the document leaves it."""
    problems = helm_checks.check_privileges(agent) + helm_checks.check_notes(agent)
    problems += helm_checks.check_doctor(agent) + helm_checks.check_demo(agent.node)
    problems += helm_checks.check_attribution(agent.node) + helm_checks.check_host_names(agent.node)
    if agent.node.pyroscope_url:
        problems += helm_checks.check_pyroscope(agent)
    helm_cost.measure_start(agent)
    helm_cost.measure_memory(agent, args.pods)
    return problems


def test(session, args):
    steps = transcript.read(DOCUMENT)
    removal = next(number for number, step in enumerate(steps) if step.command.startswith(REMOVES))
    arrivals = []
    problems = session.play(steps[:removal], watch_install(arrivals)) + arrivals[0].result()
    agent = release.Release(states.Attached())
    problems += examine(agent, args)
    traces = helm_cost.Traces(agent)
    problems += session.play(steps[removal:removal + 1]) + traces.left()
    collector.request_log.RequestLog("collector").add_collector_output(helm_checks.backend.output_of(agent.node))
    return problems + session.play(steps[removal + 1:]) + conduct.leftovers(agent.node)


def run_tests(args):
    session = Session(args.binary)
    try:
        return test(session, args)
    finally:
        session.close()


def fetch():
    """Fetches what `make cluster` needs besides Kubernetes."""
    release.helm_program()
    if collector.find_collector() is None:
        raise host.Skip("no OpenTelemetry Collector")


def parse_arguments():
    parser = conduct.make_parser(__doc__)
    parser.add_argument("--pods", type=int, default=110, help="so many on the node when its memory is measured")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(conduct.conduct(parse_arguments(), run_tests, RUN_SECONDS, fetch))
