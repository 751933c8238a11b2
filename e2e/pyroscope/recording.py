# SPDX-License-Identifier: Apache-2.0
"""pprof files to be replayed, made here or read."""

import gzip
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/conformance"))
import schema  # noqa: E402  pylint: disable=wrong-import-position

PERIOD_NS = 10_000_000
CODE_BASE = 0x400000


class Recording:
    """A CPU profile: samples with counts, and with labels, which become attributes of a resource."""

    def __init__(self, time_s=None):
        self.profile = schema.pprof().Profile()
        self.strings, self.functions, self.total = {}, {}, 0
        self.string("")
        for kind in (("samples", "count"), ("cpu", "nanoseconds")):
            self.profile.sample_type.add(type=self.string(kind[0]), unit=self.string(kind[1]))
        self.profile.period_type.type = self.string("cpu")
        self.profile.period_type.unit = self.string("nanoseconds")
        self.profile.period = PERIOD_NS
        self.profile.time_nanos = int((time.time() if time_s is None else time_s) * 1e9)
        self.profile.duration_nanos = 10 ** 9

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.profile.string_table.append(text)
        return self.strings[text]

    def location(self, name, mapping_id):
        """The number of a function's one location."""
        key = name, mapping_id
        if key not in self.functions:
            number = self.functions[key] = len(self.functions) + 1
            index = self.string(name)
            self.profile.function.add(id=number, name=index, system_name=index)
            location = self.profile.location.add(id=number, mapping_id=mapping_id,
                                                 address=CODE_BASE + 16 * number)
            location.line.add(function_id=number)
        return self.functions[key]

    def add_mappings(self, nr_mappings):
        for number in range(1, nr_mappings + 1):
            self.profile.mapping.add(
                id=number, memory_start=CODE_BASE, memory_limit=CODE_BASE << 4,
                filename=self.string(f"/usr/lib/lib{number}.so"), has_functions=True)

    def add(self, count, frames, labels, mapping_ids=None):
        """`frames`: names of functions, leaf first; `mapping_ids`: one a frame."""
        mapping_ids = mapping_ids or [0] * len(frames)
        sample = self.profile.sample.add(
            value=[count, count * PERIOD_NS],
            location_id=[self.location(*frame) for frame in zip(frames, mapping_ids)])
        for key, value in labels.items():
            sample.label.add(key=self.string(key), str=self.string(value))
        self.total += count

    def write(self, path):
        with open(path, "wb") as file:
            file.write(gzip.compress(self.profile.SerializeToString()))
        return path


def read(path):
    with open(path, "rb") as file:
        return schema.pprof().Profile.FromString(gzip.decompress(file.read()))
