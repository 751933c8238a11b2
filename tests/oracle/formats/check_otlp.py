#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads our OTLP request with the official protobuf runtime and compares all that it says with what was put in
(otlp_expected.py). Whether it keeps to the rules of the protocol is conformance/encoder's part.

    check_otlp.py DRIVER
"""
import itertools
import os
import subprocess
import sys

from otlp_expected import (DURATION_NANO, EXPECTED, PERIOD_NANO, SYSTEM_NAMES, TIME_UNIX_NANO)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../conformance"))
import schema  # noqa: E402  pylint: disable=wrong-import-position

BUILD_ID = "process.executable.build_id.gnu"


def attribute_text(value):
    return str(getattr(value, value.WhichOneof("value"))) if value.WhichOneof("value") else ""


class Text:
    """The request in the form of otlp_expected.py."""

    def __init__(self, request):
        self.request = request
        self.dictionary = request.dictionary
        self.strings = request.dictionary.string_table

    def attribute(self, index):
        row = self.dictionary.attribute_table[index]
        return self.strings[row.key_strindex], attribute_text(row.value)

    def frame(self, index):
        location = self.dictionary.location_table[index]
        detail = "".join(value for _, value in map(self.attribute, location.attribute_indices))
        if location.mapping_index:
            mapping = self.dictionary.mapping_table[location.mapping_index]
            build_id = dict(map(self.attribute, mapping.attribute_indices))[BUILD_ID]
            detail += (f" @{location.address} {self.strings[mapping.filename_strindex]} "
                       f"{build_id}")
        return f"{'<'.join(map(self.line, location.lines))}[{detail}]"

    def line(self, line):
        function = self.dictionary.function_table[line.function_index]
        source = self.strings[function.filename_strindex]
        return (self.strings[function.name_strindex]
                + (f"({source}:{function.start_line})" if source else "")
                + (f":{line.line}" if line.line else ""))

    def sample(self, resource, sample):
        labels = "".join(f" {key}={value}"
                         for key, value in map(self.attribute, sample.attribute_indices))
        stack = self.dictionary.stack_table[sample.stack_index]
        frames = " ".join(map(self.frame, stack.location_indices))
        return f"{resource}{labels}: {frames} = {sample.values[0]}"

    def lines(self):
        for of_resource in self.request.resource_profiles:
            labels = " ".join(f"{attribute.key}={attribute_text(attribute.value)}"
                              for attribute in of_resource.resource.attributes)
            for profile in of_resource.scope_profiles[0].profiles:
                for sample in profile.samples:
                    yield self.sample("{" + labels + "}", sample)


def check_content(request):
    lines = list(Text(request).lines())
    for line, expected in itertools.zip_longest(lines, EXPECTED):
        assert line == expected, f"\n got {line}\nwant {expected}"
    strings = request.dictionary.string_table
    for of_resource in request.resource_profiles:
        profile = of_resource.scope_profiles[0].profiles[0]
        types = [(strings[of.type_strindex], strings[of.unit_strindex])
                 for of in (profile.sample_type, profile.period_type)]
        assert types == [("samples", "count"), ("cpu", "nanoseconds")], types
        assert profile.time_unix_nano == TIME_UNIX_NANO
        assert profile.duration_nano == DURATION_NANO
        assert profile.period == PERIOD_NANO
    system_names = {strings[function.name_strindex]: strings[function.system_name_strindex]
                    for function in request.dictionary.function_table
                    if function.system_name_strindex}
    assert system_names == SYSTEM_NAMES, system_names


def main():
    schema.skip_unless_available()
    body = subprocess.run([sys.argv[1], "encode"], check=True, stdout=subprocess.PIPE).stdout
    check_content(schema.otlp().ExportProfilesServiceRequest.FromString(body))


if __name__ == "__main__":
    main()
