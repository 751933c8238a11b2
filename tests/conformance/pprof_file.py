# SPDX-License-Identifier: Apache-2.0
"""A pprof file, decoded with the official protobuf runtime."""
import collections
import gzip

import schema

GZIP_MAGIC = b"\x1f\x8b"


def element(rows, index):
    if not 0 <= index < len(rows):
        raise LookupError(f"{index} is out of 0..{len(rows) - 1}")
    return rows[index]


class PprofFile:
    """Raises ValueError, LookupError or what gzip raises for bytes that are none."""

    def __init__(self, data):
        if data[:2] != GZIP_MAGIC:
            raise ValueError("not compressed with gzip")
        decode_error = schema.decode_error()
        try:
            self.message = schema.pprof().Profile.FromString(gzip.decompress(data))
        except decode_error as error:
            raise ValueError(error) from error
        self.strings = self.message.string_table
        self.locations = {location.id: location for location in self.message.location}
        self.functions = {function.id: function for function in self.message.function}

    def names(self, sample):
        """Of the functions of its stack, innermost first."""
        return tuple(element(self.strings, self.functions[line.function_id].name)
                     for index in sample.location_id for line in self.locations[index].line)

    def stacks(self, type_and_unit):
        """Sums the values of one type by stack of names."""
        types = [(element(self.strings, one.type), element(self.strings, one.unit))
                 for one in self.message.sample_type]
        column, counts = types.index(type_and_unit), collections.Counter()
        for sample in self.message.sample:
            counts[self.names(sample)] += element(sample.value, column)
        return counts
