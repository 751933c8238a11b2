# SPDX-License-Identifier: Apache-2.0
"""Plays one case of the trial and judges it: the agent and a victim run, then the attack starts."""

import collections
from dataclasses import dataclass, field
import os
import re
import signal
import time

import host
import stage as stages
from good_receiver import GoodReceiver
from watch import Watch

AGENT_HZ = 197
CHART_BOUNDS = ("--symbol-memory-max", "96M", "--unwind-memory-max", "96M", "--tables-memory-max", "112M")
LONGEST_GAP_S = 10
LONGEST_END_S = 8
START_S = 120       # until the first names come; a busy machine is no fault of the agent's
STEADY, FRESH = 0, 1
STEADY_PYTHON, FRESH_PYTHON = 2, 3


@dataclass
class Case:
    name: str
    attack: object = None       # called with the stage once names flow; returns names of threads that must be sampled
    options: object = None      # called with the stage before the agent starts; returns its options
    environment: object = None  # called with the stage; returns what is added to the agent's
    special: object = None      # called with the program and the stage, in place of all this; returns faults
    check: object = None        # called with the stage and the agent's log in the end; returns faults
    seconds: int = 12
    is_short: bool = False      # of the short selection
    group: str = ""
    has_python: bool = False    # there are victims in Python, too


@dataclass
class Bounds:
    agent_mb: int               # of the agent alone
    memory_mb: int              # of agent and workers together
    limit_mb: int               # of the memory cgroup that they are in
    capture: str = "auto"


@dataclass
class Result:
    case: Case
    agent_s: float = 0
    workers_s: float = 0
    agent_mb: float = 0
    peak_mb: float = 0
    gap_s: float = 0
    reached: str = ""
    faults: list = field(default_factory=list)

    TITLE = f"{'case':44} {'agent':>7} {'workers':>8} {'agent':>8} {'all':>8} {'gap':>7} {'samples':>8}  verdict"

    def row(self):
        verdict = "; ".join(self.faults) or "right"
        return (f"{self.case.group + ': ' + self.case.name:44.44} {self.agent_s:5.1f} s {self.workers_s:6.1f} s "
                f"{self.agent_mb:5.0f} MB {self.peak_mb:5.0f} MB {self.gap_s:5.1f} s {self.reached:>8}  {verdict}")


class Trial:
    def __init__(self, binary, tools, bounds):
        self.binary, self.tools, self.bounds = binary, tools, bounds
        self.number = 0

    def run(self, case):
        result = Result(case)
        self.number += 1
        with stages.Stage(self.tools, f"case{self.number}") as stage:
            stage.binary = self.binary
            try:
                if case.special:
                    result.faults += case.special(self.binary, stage)
                else:
                    self.play(case, stage, result)
            except (host.Failure, host.Skip) as error:
                kind = "SKIP: " if isinstance(error, host.Skip) else ""
                result.faults.append(f"{kind}{error}")
        return result

    def play(self, case, stage, result):
        receiver = GoodReceiver()
        stage.stack.callback(receiver.stop)
        options = case.options(stage) if case.options else []
        environment = case.environment(stage) if case.environment else {}
        stage.start_victim(STEADY)
        if case.has_python:
            stage.start_python_victim(STEADY_PYTHON)
        agent, watch = self.start_agent(stage, receiver, options, environment)
        began = time.monotonic()
        try:
            host.wait_until("the victim's names come", lambda: all(map(receiver.has, stage.started)) or not agent.is_alive(),
                            START_S)
            wanted = case.attack(stage) if case.attack else []
            attacked = time.monotonic()
            self.wait(case, stage, agent, attacked)
            ended = time.monotonic()
            self.judge_names(stage, receiver, result, (began if not case.attack else attacked), ended)
            self.judge_life(stage, agent, watch, result)
        finally:
            watch.stop()
        self.judge_end(stage, agent, receiver, result)
        self.judge_samples(receiver, wanted or [], result)
        self.judge_use(watch, result)
        if case.check:
            result.faults += case.check(stage, agent.log()) or []

    def start_agent(self, stage, receiver, options, environment):
        stage.agent_cgroup = stage.add_cgroup("agent", self.bounds.limit_mb << 20)
        port = host.free_port()
        command = [self.binary, "agent", "-F", str(AGENT_HZ), "--export-interval", "1s", "--capture",
                   self.bounds.capture, "--otlp-endpoint", receiver.endpoint(), "--cgroup", f"{stage.root}/victims",
                   "--cgroup", f"{stage.root}/hostile", "--listen", f"127.0.0.1:{port}", "--pod-logs", f"{stage.directory}/no-logs", *CHART_BOUNDS, *options]
        agent = stage.start("agent", command, stage.agent_cgroup, 0, env={**os.environ, **environment})
        watch = Watch(agent.pid, port)
        watch.start()
        return agent, watch

    @staticmethod
    def wait(case, stage, agent, attacked):
        """A new program comes a second after the attack began: it needs all that names are made by."""
        deadline = attacked + case.seconds
        time.sleep(1)
        stage.start_victim(FRESH)
        if case.has_python:
            stage.start_python_victim(FRESH_PYTHON)
        while time.monotonic() < deadline and agent.is_alive():
            time.sleep(0.1)

    @staticmethod
    def judge_names(stage, receiver, result, began, ended):
        for name, started in stage.started.items():
            gap = receiver.gap(name, max(began, started), ended)
            result.gap_s = max(result.gap_s, gap)
            if gap > LONGEST_GAP_S:
                result.faults.append(f"{name} is away for {gap:.1f} s")

    @staticmethod
    def judge_life(stage, agent, watch, result):
        if not agent.is_alive():
            result.faults.append(f"the agent ended with status {agent.child.returncode}")
        if watch.worst_unhealthy > 1:
            result.faults.append(f"not healthy {watch.nr_unhealthy} times")
        if nr := stage.agent_cgroup.nr_oom_kills():
            result.faults.append(f"{nr} processes were killed for want of memory")

    @staticmethod
    def judge_end(stage, agent, receiver, result):
        """Ended in time, with all accounted for."""
        if not agent.is_alive():
            return
        began = time.monotonic()
        status = stages.end(agent, LONGEST_END_S)
        seconds = time.monotonic() - began
        if status in (None, -signal.SIGKILL):
            result.faults.append("SIGTERM does not end it" if status else "nothing ends it, SIGKILL neither")
            return
        if status != 0 or seconds > LONGEST_END_S:
            result.faults.append(f"it ended with status {status} after {seconds:.1f} s")
        result.faults += accounts(agent.log(), receiver)
        if nr := stage.agent_cgroup.nr_oom_kills():
            result.faults.append(f"{nr} processes were killed for want of memory")

    @staticmethod
    def judge_samples(receiver, wanted, result):
        """Checks that samples of the hostile programs arrived, and that all their text is
        printable."""
        if wanted:
            result.reached = str(sum(receiver.nr_by_thread[name] for name in wanted))
            missing = [name for name in wanted if not receiver.nr_by_thread[name]]
            if missing and not result.faults:
                result.faults.append(f"no sample of {missing[0]}")
        if receiver.unprintable:
            result.faults.append(f"unprintable: {sorted(receiver.unprintable)[0]!r:.60}")
        result.faults += receiver.faults[:3]

    def judge_use(self, watch, result):
        result.agent_s, result.workers_s = watch.agent_s, watch.workers_s
        result.agent_mb, result.peak_mb = watch.peak_agent_kb / 1024, watch.peak_kb / 1024
        if result.agent_mb > self.bounds.agent_mb:
            result.faults.append(f"the agent has more than {self.bounds.agent_mb} MB")
        if result.peak_mb > self.bounds.memory_mb:
            result.faults.append(f"agent and workers have more than {self.bounds.memory_mb} MB")
        result.faults += [f"privileged worker: {what}" for what in watch.privileged.values()][:2]


def accounts(log, receiver):
    """Every sample that was taken is sent, waits, or is counted where it was lost."""
    counters = collections.Counter({name: int(value) for name, value in
                                    re.findall(r"(\w+)=(\d+)", log.split("stopped: ")[-1])})
    if not counters["sampled"]:
        return ["it does not tell what it counted"]
    faults = []
    if counters["sampled"] != counters["samples"] + counters["bad_records"]:
        faults.append(f"{counters['sampled']} samples taken, {counters['samples']} read")
    lost = sum(value for name, value in counters.items() if name.startswith("export_samples_dropped_"))
    came = counters["export_samples_pushed"] + counters["export_samples_restored"]
    sent = counters["export_samples_sent"]
    if came != sent + counters["export_queue_samples"] + lost:
        faults.append(f"{came} samples pushed, {sent} sent, {counters['export_queue_samples']} wait, {lost} lost")
    if counters["export_samples_pushed"] < counters["samples"] - counters["samples_lost"]:
        faults.append(f"{counters['samples']} samples read, {counters['export_samples_pushed']} pushed")
    if sent < receiver.nr_samples and not counters["export_retries"]:     # a request that is repeated may come twice
        faults.append(f"{receiver.nr_samples} samples received, {sent} sent")
    return faults
