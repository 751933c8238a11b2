#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent while its receiver is gone: nothing is lost, memory does not grow, and what has waited comes slowly.

    outage.py path/to/flamelet [--seconds N]

The receiver is there, then it is not for N seconds (60), during which the agent is killed and started again; then it
is back. A request every two seconds stands for one every quarter of a minute: 480 seconds make as many as an hour.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../local"), os.path.join(HERE, "..")]

# pylint: disable=wrong-import-position
from fault_server import Receiver
import host
import metrics

INTERVAL_S = 2
UP_S = 5
OUTAGE_S = 60
WARM_S = 10         # of the outage, when memory is measured first
SETTLE_S = 4        # until what was merged is on disk
# Allowed growth, for samples of one program, some queue entries and a busy machine.
GROWTH_MB = 16
# Of what has waited one request a second, half to one and a half, and what is made meanwhile.
WINDOW_S = 10
WINDOW_REQUESTS = 2.5 * WINDOW_S
SPIN = "while True: pass"


class Agent:
    """One life of it."""

    def __init__(self, binary, directory, receiver, life):
        self.socket = f"{directory}/http-{life}.sock"
        self.process = host.Process("agent", [
            binary, "agent", "--otlp-endpoint", receiver.endpoint(), "--comm", "outage-load",
            "-F", "99", "--export-interval", f"{INTERVAL_S}s", "--queue-dir", f"{directory}/queue",
            "--listen", f"unix:{self.socket}"], f"{directory}/log-{life}")

    def metrics(self):
        return metrics.get(self.socket, "/metrics")[1]

    def value(self, series):
        return int(metrics.value(self.metrics(), "flamelet_export_" + series))

    def nr_waiting(self):
        return self.value("queue_requests")

    def resident_mb(self):
        return metrics.value(self.metrics(), "process_resident_memory_bytes") / 2**20

    def final(self):
        """Ends the agent; returns its last counters."""
        status = self.process.finish(60, signal.SIGTERM)
        if status != 0:
            raise host.Failure(f"the agent ended with {status}: {self.process.log()[-2000:]}")
        counters = re.findall(r"(\w+)=(\d+)", self.process.log().split("stopped")[-1])
        return {name: int(value) for name, value in counters}


@contextlib.contextmanager
def load(directory):
    """A program with a name of its own that takes a CPU."""
    program = f"{directory}/outage-load"
    shutil.copy(os.path.realpath("/usr/bin/python3"), program)
    process = host.Process("load", [program, "-c", SPIN], f"{directory}/load")
    try:
        yield
    finally:
        process.stop()


def check_sum(counters):
    """Of the agent's last line."""
    came = counters["export_samples_pushed"] + counters["export_samples_restored"]
    went = sum(value for name, value in counters.items()
               if name in ("export_samples_sent", "export_queue_samples")
               or name.startswith("export_samples_dropped_"))
    print(f"{came} samples came, {counters['export_samples_restored']} of them from disk; {went} went")
    return [] if came == went else [f"{came} samples came, {went} went: {counters}"]


def check_memory(agent, seconds):
    """From the first seconds of the outage to the last ones."""
    time.sleep(WARM_S)
    early = agent.resident_mb()
    time.sleep(max(0, seconds - WARM_S))
    late = agent.resident_mb()
    print(f"resident memory: {early:.1f} MB after {WARM_S} s, {late:.1f} MB after {seconds} s")
    if late > early + GROWTH_MB:
        return [f"memory grows from {early:.1f} to {late:.1f} MB without a receiver"]
    return []


def check_drain(requests, nr_waiting):
    """Not all at once."""
    begins = [request.began for request in requests]
    most = max((sum(begin <= other < begin + WINDOW_S for other in begins) for begin in begins),
               default=0)
    print(f"{nr_waiting} requests waited; {len(requests)} came within "
          f"{begins[-1] - begins[0]:.0f} s, at most {most} in {WINDOW_S} s")
    if most > WINDOW_REQUESTS:
        return [f"{most} requests within {WINDOW_S} s"]
    return []


def run(binary, directory, seconds):
    with Receiver("http") as receiver, load(directory):
        receiver.open()
        first = Agent(binary, directory, receiver, 1)
        try:
            host.wait_until("the first samples arrive", receiver.taken)
            time.sleep(UP_S)
            receiver.gate.shut()
            faults = check_memory(first, seconds)
            sent, queued = first.value("samples_sent_total"), first.value("queue_samples")
            time.sleep(SETTLE_S)
        finally:
            first.process.finish(first=signal.SIGKILL)
        nr_before = len(receiver.requests)
        return faults + run_again(binary, directory, receiver, (sent, queued, nr_before))


def run_again(binary, directory, receiver, before):
    sent, queued, nr_before = before
    second = Agent(binary, directory, receiver, 2)
    try:
        host.wait_until("the agent listens", lambda: os.path.exists(second.socket))
        time.sleep(UP_S)
        nr_waiting = second.nr_waiting()
        receiver.gate.open()
        host.wait_until("the queue is empty", lambda: second.nr_waiting() == 0,
                        60 + 3 * nr_waiting, 0.5)
        counters = second.final()
    finally:
        second.process.finish(first=signal.SIGKILL)
    faults = check_sum(counters) + check_drain(receiver.requests[nr_before:], nr_waiting)
    if counters["export_samples_restored"] < queued:
        faults.append(f"{queued} samples were queued, {counters} were found")
    nr_taken, nr_repeated = receiver.nr_samples()
    nr_sent = sent + counters["export_samples_sent"]
    print(f"receiver: {nr_taken} samples, {nr_repeated} of them twice; sent: {nr_sent}")
    # The receiver may have taken a request without answering it, when it went away.
    if nr_taken - nr_repeated != nr_sent:
        faults.append(f"the receiver has {nr_taken - nr_repeated} samples, not {nr_sent}")
    return faults


def check(binary, seconds):
    host.require("protoc")
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        return run(binary, directory, seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=int, default=OUTAGE_S)
    options = parser.parse_args()
    return host.judge(check, os.path.abspath(options.binary), options.seconds)


if __name__ == "__main__":
    sys.exit(main())
