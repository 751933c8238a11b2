#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent --kind cpu,offcpu,lock beside a pod that is slow while its CPU is idle, with a real OpenTelemetry Collector: the
waits of the pod's threads arrive with their names and times, beside its CPU time, and the local record has none of them.

    off_cpu_export.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [os.path.join(HERE, "local"), HERE]

# pylint: disable=wrong-import-position
import host
import kinds
from top_scene import Pods

# These have modules of the names of some in local/, which are imported by now.
sys.path[0:0] = [os.path.join(HERE, "../tests/collector"), os.path.join(HERE, "../tests/conformance")]
import collector
import flamelet_sender
import schema

SECONDS = 6
INTERVAL = 4
END_SECONDS = 90
# Between the clocks' readings and the choice of waits. Short waits are estimated from some of them.
TOLERANCE = 0.12
THREADS = ("hold_the_lock", "serve_request", "poll_often")
CPU, WAITS = ("samples", "count", "cpu", "nanoseconds"), ("off_cpu", "nanoseconds", "", "")
DELAY, CONTENTIONS = ("delay", "nanoseconds", "mutex", "count"), ("contentions", "count", "mutex", "count")
WAITER = "serve_request"    # for a lock that another thread has for 20 ms each time
MAX_HOLD_SECONDS = 0.5      # on a busy machine
MAX_CPU_SAMPLES = 1_000_000     # many more than can be, and much less than the nanoseconds of a wait
PUSHED, SENT = re.compile(r"export_samples_pushed=(\d+)"), re.compile(r"export_samples_sent=(\d+)")
HZ = 499    # the service hardly uses the CPU


class Arrived:
    """What the Collector wrote down of the pod."""

    def __init__(self):
        self.waited = collections.Counter()     # by thread: nanoseconds
        self.locked = collections.Counter()     # the same, for locks
        self.contentions = collections.Counter()    # by thread
        self.functions = collections.defaultdict(set)
        self.nr_cpu_samples = 0
        self.nr_requests = collections.Counter()    # by type
        self.faults = []

    def add_request(self, request):
        types = set()
        for of_resource in request.resource_profiles:
            pairs = {pair.key: flamelet_sender.value_of(pair.value) for pair in of_resource.resource.attributes}
            for of_scope in of_resource.scope_profiles:
                for profile in of_scope.profiles:
                    types.add(self.type_of(request.dictionary, profile))
                    if pairs.get("k8s.namespace.name") == "shop" and pairs.get("k8s.deployment.name") == "cart":
                        self.add_profile(request.dictionary, profile)
        self.nr_requests.update(types)

    @staticmethod
    def type_of(dictionary, profile):
        of_type, period = profile.sample_type, profile.period_type
        return tuple(dictionary.string_table[index] for index in (
            of_type.type_strindex, of_type.unit_strindex, period.type_strindex, period.unit_strindex))

    def add_profile(self, dictionary, profile):
        kind = self.type_of(dictionary, profile)
        for sample in profile.samples:
            if kind == CPU:
                self.nr_cpu_samples += sum(sample.values)
            elif kind == WAITS:
                self.add_wait(dictionary, sample)
            elif kind in (DELAY, CONTENTIONS):
                thread = self.attributes(dictionary, sample).get("thread.name", "")
                (self.locked if kind == DELAY else self.contentions)[thread] += sum(sample.values)
            else:
                self.faults.append(f"a profile of the type {kind}")

    @staticmethod
    def attributes(dictionary, sample):
        rows = [dictionary.attribute_table[index] for index in sample.attribute_indices]
        return {dictionary.string_table[row.key_strindex]: flamelet_sender.value_of(row.value) for row in rows}

    def add_wait(self, dictionary, sample):
        strings, pairs = dictionary.string_table, self.attributes(dictionary, sample)
        thread = pairs.get("thread.name", "")
        # A process has ids once it has lived for a second.
        if thread in THREADS and ("cpu.logical_number" in pairs or
                                  not {"thread.id", "flamelet.wait.reason"} <= pairs.keys()):
            self.faults.append(f"a wait of {thread} has {pairs}")
        self.waited[thread] += sum(sample.values)
        self.functions[thread] |= {strings[dictionary.function_table[line.function_index].name_strindex]
                                   for index in dictionary.stack_table[sample.stack_index].location_indices
                                   for line in dictionary.location_table[index].lines}

    def check_locks(self, truth):
        """The waiter waits for the lock, and a millisecond after each time."""
        delay, number = self.locked[WAITER] / 1e9, self.contentions[WAITER]
        print(f"{WAITER}: {delay:.3f} s and {number} waits for locks arrived", flush=True)
        if not (1 - 2 * TOLERANCE) * truth[WAITER] < delay < (1 + TOLERANCE) * truth[WAITER]:
            yield f"{WAITER} waited for {truth[WAITER]:.3f} s, and {delay:.3f} s of that for locks arrived"
        if not delay / MAX_HOLD_SECONDS < number < delay * 1000:
            yield f"{WAITER} waited for a lock {number} times in {delay:.3f} s"

    def check(self, truth):
        faults = self.faults[:3] + list(self.check_locks(truth))
        for thread, waited in truth.items():
            found = self.waited[thread] / 1e9
            print(f"{thread}: {found:.3f} s arrived, it waited for {waited:.3f} s", flush=True)
            if abs(found - waited) > TOLERANCE * waited:
                faults.append(f"{thread} waited for {waited:.3f} s, and {found:.3f} s arrived")
            if thread not in self.functions[thread]:
                faults.append(f"no wait of {thread} has this function: {sorted(self.functions[thread])}")
        if not 0 < self.nr_cpu_samples < MAX_CPU_SAMPLES:
            faults.append(f"{self.nr_cpu_samples} samples of CPU time arrived")
        return faults


def run_service(pods, directory):
    """{thread: seconds that it waited by its own clocks}"""
    told = f"{directory}/told"
    command = f"exec {kinds.build(directory, 'off_cpu')} {SECONDS} > {told}"
    pods.start("shop", "cart", "ReplicaSet", "server", ["/bin/sh", "-c", command])
    if pods.processes[-1].wait(END_SECONDS) != 0:
        raise host.Failure("the service failed")
    return kinds.read_times(host.read_text(told), THREADS)


def start_agent(binary, directory, pods, receiver):
    """Of this service alone: on a busy machine, its waits are too few of all to be estimated well."""
    agent = host.Process("agent", [binary, "agent", "--kind", "cpu,offcpu,lock", "--comm", "off_cpu", "-F", str(HZ),
                                   "--otlp-endpoint", receiver.endpoint("http"), "--export-interval", f"{INTERVAL}s",
                                   "--store", f"{directory}/record", *pods.options()], f"{directory}/agent.log")
    host.wait_until("the agent samples", lambda: "recording waits" in agent.log() or not agent.is_alive())
    if not agent.is_alive():
        raise host.Failure(f"the agent ended: {agent.log()}")
    return agent


def check_account(log):
    """Nanoseconds would be many more."""
    pushed, sent = (int(pattern.findall(log)[-1]) for pattern in (PUSHED, SENT))
    print(f"{pushed} samples pushed, {sent} sent", flush=True)
    return [] if 0 < pushed == sent < MAX_CPU_SAMPLES else [f"{pushed} samples were pushed, {sent} sent"]


def check_record(binary, directory):
    """It knows CPU time only."""
    done = subprocess.run([binary, "query", "all", "--store", f"{directory}/record", "-o", "-", "--format", "folded"],
                          stdout=subprocess.PIPE, text=True, timeout=END_SECONDS, check=False)
    total = sum(int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())
    return [] if 0 < total < MAX_CPU_SAMPLES else [f"the record has {total} samples"]


def check_export(binary, directory, program):
    pods, arrived = Pods(directory), Arrived()
    try:
        with collector.Collector(program, directory) as receiver:
            agent = start_agent(binary, directory, pods, receiver)
            truth = run_service(pods, directory)
            status = agent.finish(END_SECONDS)
    finally:
        pods.stop()
    for request in receiver.received():
        arrived.add_request(request)
    print(dict(arrived.nr_requests), flush=True)
    faults = [] if status == 0 else [f"the agent ended with {status}"]
    if set(truth) != set(THREADS):
        faults.append(f"the service told {truth}")
    return faults + arrived.check(truth) + check_account(agent.log()) + check_record(binary, directory)


def check(options, directory):
    host.require("gcc", "openssl", "protoc")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")
    schema.skip_unless_available()
    return check_export(options.binary, directory, collector.build())


if __name__ == "__main__":
    sys.exit(host.main(check, "off-cpu-export"))
