# SPDX-License-Identifier: Apache-2.0
"""Sends pprof files by `flamelet export`, and says what is in them."""
import collections
import gzip
import json
import os
import subprocess

import schema
from pprof_file import PprofFile

PROTOCOLS = {"http": "http/protobuf", "grpc": "grpc"}
LONGEST_RUN_S = 120

# Attributes that a label of Flamelet's becomes, where that is not its own name. The others stay behind.
ATTRIBUTE_OF = {
    "namespace": "k8s.namespace.name", "pod": "k8s.pod.name", "pod_uid": "k8s.pod.uid",
    "container": "k8s.container.name", "container_id": "container.id", "service": "service.name",
    "identity": "flamelet.identity",
    "thread": "thread.name", "cpu": "cpu.logical_number", "cgroup_id": "flamelet.cgroup.id",
    "comm": None, "pid": None, "tid": None,
}


def send(binary, collector, protocol, path, *options):
    """(exit status, the JSON object that tells what became of the samples)."""
    command = [binary, "export", path, "--json", "--otlp-endpoint", collector.endpoint(protocol),
               "--otlp-protocol", PROTOCOLS[protocol], *options]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("OTEL_")}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LONGEST_RUN_S,
                          env=environment, check=False)
    assert done.returncode in (0, 1), (command, done.returncode)
    return done.returncode, json.loads(done.stdout)


def credentials(directory, is_known):
    options = ["--otlp-ca-file", f"{directory}/ca.crt"]
    if is_known:
        options += ["--otlp-client-cert", f"{directory}/client.crt",
                    "--otlp-client-key", f"{directory}/client.key"]
    return options


class File(PprofFile):
    """A pprof file of Flamelet's."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            super().__init__(file.read())

    def total(self):
        return sum(sample.value[0] for sample in self.message.sample)

    def samples(self):
        """Counts the samples by (attributes, stack of names)."""
        counts = collections.Counter()
        for sample in self.message.sample:
            counts[self.attributes(sample), self.names(sample)] += sample.value[0]
        return counts

    def attributes(self, sample):
        pairs = set()
        for label in sample.label:
            name = self.strings[label.key]
            value = self.strings[label.str] if label.str else label.num
            pairs.add((ATTRIBUTE_OF.get(name, name), value))
        return frozenset(pair for pair in pairs if pair[0])


def samples_of(requests, keys):
    """The same of requests, with attributes of these keys only: a sender may know more of itself."""
    counts = collections.Counter()
    for request in requests:
        for of_resource in request.resource_profiles:
            own = {(pair.key, value_of(pair.value)) for pair in of_resource.resource.attributes}
            for of_scope in of_resource.scope_profiles:
                for profile in of_scope.profiles:
                    add_samples(counts, request.dictionary, profile, own, keys)
    return counts


def add_samples(counts, dictionary, profile, of_resource, keys):
    strings = dictionary.string_table
    for sample in profile.samples:
        rows = [dictionary.attribute_table[index] for index in sample.attribute_indices]
        pairs = of_resource | {(strings[row.key_strindex], value_of(row.value)) for row in rows}
        names = tuple(strings[dictionary.function_table[line.function_index].name_strindex]
                      for index in dictionary.stack_table[sample.stack_index].location_indices
                      for line in dictionary.location_table[index].lines)
        counts[frozenset(pair for pair in pairs if pair[0] in keys), names] += sum(sample.values)


def value_of(value):
    return getattr(value, value.WhichOneof("value"))


def write_large(path, nr_frames=25, name_bytes=50_000):
    """One sample, which cannot be split, of more than a megabyte. Compressed it is small."""
    profile = schema.pprof().Profile(time_nanos=1_795_188_153_000_000_000, period=10_000_000,
                                     duration_nanos=10_000_000_000)
    profile.string_table.extend(["", "samples", "count", "cpu", "nanoseconds"])
    profile.sample_type.add(type=1, unit=2)
    profile.sample_type.add(type=3, unit=4)
    profile.period_type.type, profile.period_type.unit = 3, 4
    for number in range(1, nr_frames + 1):
        profile.string_table.append(f"{number}" + "x" * name_bytes)
        profile.function.add(id=number, name=len(profile.string_table) - 1)
        profile.location.add(id=number).line.add(function_id=number)
    profile.sample.add(location_id=range(1, nr_frames + 1), value=[1, profile.period])
    with gzip.open(path, "wb") as file:
        file.write(profile.SerializeToString())
    return path
