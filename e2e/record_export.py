#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A range of a local record, sent later to a real OpenTelemetry Collector over HTTP and gRPC: what arrives has exactly the
totals that `flamelet query` gives, in each second, of each service and pod.

    record_export.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import collections
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [os.path.join(HERE, "local"), HERE]

# pylint: disable=wrong-import-position
import host
from record_scene import END_SECONDS, LOAD, Scene
from top_scene import Pods

# These have modules of the names of some in local/, which are imported by now.
sys.path[0:0] = [os.path.join(HERE, "../tests/collector"), os.path.join(HERE, "../tests/conformance")]
import collector
import flamelet_sender
import schema

SECONDS = 8
GROUP = "service,namespace,pod"
KEYS = ("service.name", "k8s.namespace.name", "k8s.pod.name")
ABSENT = ("[no service]", "[no namespace]", "[no pod]")
TYPE = ("samples", "count", "cpu", "nanoseconds")
RUN = "e2e.run"     # attribute that tells the exports of this test from each other


class Case:
    """An export of a range, and what `query` says of it."""

    def __init__(self, name, protocol, *options, selection=()):
        self.name, self.protocol, self.options, self.selection = name, protocol, options, selection
        self.queried, self.counts = None, None

    def query(self, scene, store, range_):
        """Counts the samples by (second, service, namespace, pod)."""
        self.queried = collections.Counter()
        for second in range(*range_):
            stacks = scene.counts(store, f"{second}..{second + 1}", "--group", GROUP, *self.selection)
            for stack, count in stacks.items():
                self.queried[(second, *stack.split(";")[:len(KEYS)])] += count

    def send(self, scene, store, range_, receiver):
        command = [scene.binary, "export", "--store", store, f"{range_[0]}..{range_[1]}", "--json",
                   "--otlp-endpoint", receiver.endpoint(self.protocol),
                   "--otlp-protocol", flamelet_sender.PROTOCOLS[self.protocol],
                   "--resource-attribute", f"{RUN}={self.name}", *self.options, *self.selection]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              env=environment, check=False)
        if done.returncode != 0:
            raise host.Failure(f"{self.name}: exit status {done.returncode}: {done.stderr}")
        self.counts = json.loads(done.stdout)

    def check(self, arrived, types):
        """Compares what arrived with what was queried, and with what the command said."""
        whole = sum(self.queried.values())
        print(f"{self.name}: {whole} samples of {len(self.queried)} seconds and pods, {self.counts['sent']} sent, "
              f"{sum(arrived.values())} arrived", flush=True)
        faults = [] if types == {TYPE} else [f"{self.name}: types {types}"]
        if not whole == self.counts["pushed"] == self.counts["sent"]:
            faults.append(f"{self.name}: {whole} samples were queried, and {self.counts}")
        return faults + [f"{self.name}: {key}: {arrived[key]} samples arrived, {self.queried[key]} were queried"
                         for key in sorted(set(arrived) | set(self.queried)) if arrived[key] != self.queried[key]]


def make_cases():
    return [
        Case("http", "http"),
        Case("grpc", "grpc"),
        Case("timestamps", "grpc", "--export-interval", "1m", "--otlp-timestamps"),
        Case("selection", "http", selection=("--select", '{namespace="shop",pod=~"cart-.*"}')),
    ]


def seconds_of(profile, sample):
    """Counts the samples of an entry by their second."""
    if not sample.timestamps_unix_nano:
        return {profile.time_unix_nano // 10 ** 9: sum(sample.values)}
    return collections.Counter(timestamp // 10 ** 9 for timestamp in sample.timestamps_unix_nano)


class Arrived:
    """What the Collector wrote down of one export."""

    def __init__(self):
        self.counts, self.types = collections.Counter(), set()

    def add(self, strings, attributes, profile):
        of_type, period = profile.sample_type, profile.period_type
        self.types.add(tuple(strings[index] for index in (of_type.type_strindex, of_type.unit_strindex,
                                                          period.type_strindex, period.unit_strindex)))
        labels = tuple(attributes.get(key, absent) for key, absent in zip(KEYS, ABSENT))
        for sample in profile.samples:
            for second, count in seconds_of(profile, sample).items():
                self.counts[(second, *labels)] += count


def read_requests(requests):
    """{name of a case: Arrived}"""
    found = collections.defaultdict(Arrived)
    for request in requests:
        for of_resource in request.resource_profiles:
            attributes = {pair.key: flamelet_sender.value_of(pair.value) for pair in of_resource.resource.attributes}
            for of_scope in of_resource.scope_profiles:
                for profile in of_scope.profiles:
                    found[attributes[RUN]].add(request.dictionary.string_table, attributes, profile)
    return found


def write_record(scene, store):
    """Returns a range in which two pods and a process of the host were busy. The agent goes on."""
    pods = Pods(scene.directory)
    load = host.Process("load", [f"{scene.directory}/{LOAD}"], f"{scene.directory}/load.log")
    try:
        pods.start("shop", "cart", "ReplicaSet", "server", [f"{scene.directory}/{LOAD}"])
        pods.start("storage", "backup", "DaemonSet", "reader", [f"{scene.directory}/{LOAD}"])
        host.wait_until_busy(load.pid, *(process.pid for process in pods.processes))
        agent = scene.start_agent("agent", store, *pods.options())
        time.sleep(2)
        first = int(time.time())
        time.sleep(SECONDS)
        scene.wait_for_second(store, first + SECONDS)
    finally:
        load.stop()
        pods.stop()
    return agent, (first, first + SECONDS)


def check_variety(case):
    """The comparison would say nothing if all samples had the same labels."""
    pods = {key[1:] for key in case.queried}
    missing = [name for name in ("cart", "backup") if not any(key[0] == name for key in pods)]
    return [f"the record lacks {missing}: {pods}"] if missing or len(pods) < 3 else []


def test_export(scene, program):
    store, cases = f"{scene.directory}/record", make_cases()
    agent, range_ = write_record(scene, store)
    with collector.Collector(program, scene.directory) as receiver:
        for case in cases:
            case.query(scene, store, range_)
            case.send(scene, store, range_, receiver)
    faults = [] if agent.finish(END_SECONDS) == 0 else ["the agent failed"]
    found = read_requests(receiver.received())
    for case in cases:
        faults += case.check(found[case.name].counts, found[case.name].types)
    return faults + check_variety(cases[0])


def check(options, directory):
    host.require("gcc", "openssl", "protoc")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")
    schema.skip_unless_available()
    return test_export(Scene(options.binary, directory), collector.build())


if __name__ == "__main__":
    sys.exit(host.main(check, "record-export"))
