# SPDX-License-Identifier: Apache-2.0
"""Makes recordings, and reads them with Google's own protobuf library."""

from dataclasses import dataclass
import gzip
import importlib
import os
import sys

import host

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO = os.path.join(HERE, "../../tests/proto")
KERNEL = "[kernel.kallsyms]"
END_SECONDS = 90    # for a recording to find its last names and to write its file


@dataclass(frozen=True)
class Line:
    name: str
    system_name: str
    filename: str
    line: int
    start_line: int


@dataclass(frozen=True)
class Location:
    file: str           # "" where a stack was cut
    address: int        # offset in the file
    lines: tuple        # innermost first

    def is_user(self):
        return self.file not in ("", KERNEL)


@dataclass
class Sample:
    labels: dict
    count: int
    locations: list     # leaf first


def compile_proto(directory):
    """Python's reader of profile.proto, made by protoc."""
    host.run("protoc", f"-I{PROTO}", f"--python_out={directory}", "profile.proto")
    sys.path.insert(0, directory)
    return importlib.import_module("profile_pb2").Profile


def read(path, profile_class):
    """The samples of a pprof file."""
    with gzip.open(path) as file:
        profile = profile_class.FromString(file.read())
    text = profile.string_table
    functions = {f.id: (text[f.name], text[f.system_name], text[f.filename], f.start_line)
                 for f in profile.function}
    files = {mapping.id: text[mapping.filename] for mapping in profile.mapping}
    shifts = {m.id: m.file_offset - m.memory_start for m in profile.mapping}
    locations = {}
    for place in profile.location:
        lines = tuple(Line(*functions[line.function_id][:3], line.line,
                           functions[line.function_id][3]) for line in place.line)
        locations[place.id] = Location(files.get(place.mapping_id, ""),
                                       place.address + shifts.get(place.mapping_id, 0), lines)
    return [Sample({text[label.key]: text[label.str] or label.num for label in sample.label},
                   sample.value[0], [locations[number] for number in sample.location_id])
            for sample in profile.sample]


def command(binary, path, seconds, hz, *options):
    return [binary, "record", "-q", "-F", str(hz), "-d", f"{seconds}s", "-o", path, *options]


def make(binary, path, seconds, hz, *options):
    host.run(*command(binary, path, seconds, hz, *options), seconds=seconds + END_SECONDS)
