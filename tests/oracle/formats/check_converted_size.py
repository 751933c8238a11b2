#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of our requests what Pyroscope makes of them, with Google's protobuf library, and holds the estimate of
otlp/encode/converted_size.h against the size.

    check_converted_size.py DRIVER

What is known of the conversion (Pyroscope 2.2): a profile gets tables of its own, elements in the order of their
first use; a sample gets a mapping for each of the dictionary's mappings that its stack leads to, number 0 included, without
joining equal ones; values of CPU profiles are multiplied by the period; sample attributes become labels of text.
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../conformance"))
import schema  # noqa: E402  pylint: disable=wrong-import-position

BUILD_ID = "process.executable.build_id.gnu"
AT_LEAST, AT_MOST = 0.95, 1.25


def text_of(value):
    return str(getattr(value, value.WhichOneof("value")))


class Converter:
    """One profile of a request."""

    def __init__(self, request, source):
        self.dictionary = request.dictionary
        self.source = source
        self.out = schema.pprof().Profile()
        self.numbers = {"string": {}, "location": {}, "function": {}}
        self.mappings = {}
        self.string("")

    def name(self, index):
        return self.dictionary.string_table[index]

    def string(self, text):
        numbers = self.numbers["string"]
        if text not in numbers:
            numbers[text] = len(numbers)
            self.out.string_table.append(text)
        return numbers[text]

    def attributes(self, indices):
        rows = (self.dictionary.attribute_table[index] for index in indices)
        return {self.name(row.key_strindex): text_of(row.value) for row in rows}

    def function(self, index):
        numbers = self.numbers["function"]
        if index not in numbers:
            numbers[index] = len(numbers) + 1
            row = self.dictionary.function_table[index]
            self.out.function.add(
                id=numbers[index], name=self.string(self.name(row.name_strindex)),
                system_name=self.string(self.name(row.system_name_strindex)),
                filename=self.string(self.name(row.filename_strindex)), start_line=row.start_line)
        return numbers[index]

    def location(self, index):
        numbers = self.numbers["location"]
        if index not in numbers:
            numbers[index] = len(numbers) + 1
            row = self.dictionary.location_table[index]
            location = self.out.location.add(id=numbers[index], address=row.address,
                                             mapping_id=self.mappings[row.mapping_index])
            for line in row.lines:
                location.line.add(function_id=self.function(line.function_index), line=line.line)
        return numbers[index]

    def mapping(self, index, rows):
        source = self.dictionary.mapping_table[index]
        lines = [line for row in rows for line in row.lines]
        functions = [self.dictionary.function_table[line.function_index] for line in lines]
        mapping = self.out.mapping.add(
            id=len(self.out.mapping) + 1, memory_start=source.memory_start,
            memory_limit=source.memory_limit, file_offset=source.file_offset,
            filename=self.string(self.name(source.filename_strindex)),
            build_id=self.string(self.attributes(source.attribute_indices).get(BUILD_ID, "")),
            has_functions=all(line.function_index for line in lines),
            has_line_numbers=all(line.line for line in lines),
            has_filenames=all(function.filename_strindex for function in functions))
        self.mappings[index] = mapping.id

    def sample(self, source):
        frames = self.dictionary.stack_table[source.stack_index].location_indices
        by_mapping = {}
        for row in (self.dictionary.location_table[index] for index in frames):
            by_mapping.setdefault(row.mapping_index, []).append(row)
        for index, rows in by_mapping.items():
            self.mapping(index, rows)
        sample = self.out.sample.add(value=[source.values[0] * self.source.period],
                                     location_id=[self.location(index) for index in frames])
        for key, value in self.attributes(source.attribute_indices).items():
            sample.label.add(key=self.string(key), str=self.string(value))

    def convert(self):
        for value_type in (self.source.sample_type, self.source.period_type):
            target = (self.out.sample_type.add() if value_type is self.source.sample_type
                      else self.out.period_type)
            target.type = self.string(self.name(value_type.type_strindex))
            target.unit = self.string(self.name(value_type.unit_strindex))
        self.out.time_nanos = self.source.time_unix_nano
        self.out.duration_nanos = self.source.duration_nano
        self.out.period = self.source.period
        for sample in self.source.samples:
            self.sample(sample)
        return self.out.ByteSize()


def converted_size(request):
    return sum(Converter(request, profile).convert()
               for of_resource in request.resource_profiles
               for of_scope in of_resource.scope_profiles for profile in of_scope.profiles)


def check(driver, args):
    made = subprocess.run([driver, *args], check=True, capture_output=True)
    estimate = int(made.stderr)
    size = converted_size(schema.otlp().ExportProfilesServiceRequest.FromString(made.stdout))
    assert AT_LEAST <= estimate / size <= AT_MOST, (
        f"{' '.join(args)}: {estimate} bytes expected, {size} made of {len(made.stdout)}")


def main():
    schema.skip_unless_available()
    for profile in ("sample", "load"):
        for preset in ("standard", "pyroscope"):
            check(sys.argv[1], (profile, preset))


if __name__ == "__main__":
    main()
