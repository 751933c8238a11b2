# SPDX-License-Identifier: Apache-2.0
"""The files to send: a profile of a busy program by `flamelet record`, and larger profiles made
from it."""

import gzip
import os
import secrets
import sys

import host
import messages

NR_FUNCTIONS = 2000
NR_HUGE_FUNCTIONS = 15000
NAME_BYTES = 96     # random ones; a third more as text
NR_PODS = 4


def read(path):
    with open(path, "rb") as file:
        return file.read()


def index_of(profile, text):
    """Of a string, which the profile then has."""
    if text not in profile.string_table:
        profile.string_table.append(text)
    return list(profile.string_table).index(text)


def add_function(profile, number):
    """Returns the location of a function whose name cannot be compressed."""
    profile.string_table.append(secrets.token_urlsafe(NAME_BYTES))
    first_id = 1_000_000 + number
    profile.function.add(id=first_id, name=len(profile.string_table) - 1)
    profile.location.add(id=first_id).line.add(function_id=first_id)
    return first_id


def add_sample(profile):
    sample = profile.sample.add()
    sample.CopyFrom(profile.sample[0])
    sample.value[:] = [1, profile.period]
    return sample


def make_large(profile, nr_functions=NR_FUNCTIONS):
    """Many different stacks, each once: some requests of the smallest size, or more than a small queue holds."""
    for number in range(nr_functions):
        add_sample(profile).location_id.insert(0, add_function(profile, number))


def make_huge(profile):
    make_large(profile, NR_HUGE_FUNCTIONS)


def make_pods(profile):
    """Samples of several resources."""
    key = index_of(profile, "k8s.pod.name")
    for number in range(NR_PODS - 1):
        label = add_sample(profile).label.add(key=key)
        label.str = index_of(profile, f"web-{number}")


CHANGES = {"large": make_large, "huge": make_huge, "pods": make_pods}


class Recordings:
    """Files by name, and how many samples they hold."""

    def __init__(self, binary, directory):
        self.directory = directory
        with host.busy_program(sys.executable, "-c", "while True: pass") as pid:
            host.run(binary, "record", "-p", str(pid), "-d", "2s", "-o", self.path("small"))
        for name, change in CHANGES.items():
            profile = messages.read_pprof(read(self.path("small")))
            change(profile)
            with open(self.path(name), "wb") as file:
                file.write(gzip.compress(profile.SerializeToString()))
        self.counts = {name: messages.count_pprof(read(self.path(name))) for name in ("small", *CHANGES)}

    def path(self, name):
        return os.path.join(self.directory, name + ".pb.gz")

    def nr_samples(self, name):
        return self.counts[name]
