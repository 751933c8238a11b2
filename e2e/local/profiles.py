# SPDX-License-Identifier: Apache-2.0
"""Reads what the receiver wrote, one JSON object of ProfilesData a line, as plain samples. Strings
may be inline or, as the Collector writes resource attributes, references into the string table."""

from dataclasses import dataclass
import json


@dataclass
class Sample:
    resource: dict
    attributes: dict
    frames: list        # names of functions, leaf first; "" for a location without a name
    count: int
    start_ns: int       # of the request's profile, since the epoch
    end_ns: int


def value_of(value, strings):
    """An AnyValue as a Python value."""
    if "stringValueStrindex" in value:
        return strings[value["stringValueStrindex"]]
    for kind in ("stringValue", "boolValue", "doubleValue"):
        if kind in value:
            return value[kind]
    return int(value["intValue"]) if "intValue" in value else None


def attribute_of(entry, strings):
    key = entry.get("key") or strings[entry.get("keyStrindex", 0)]
    return key, value_of(entry.get("value", {}), strings)


class Dictionary:
    """The tables of one message."""

    def __init__(self, tables):
        strings = self.strings = tables["stringTable"]
        functions = [strings[function.get("nameStrindex", 0)]
                     for function in tables.get("functionTable", [])]
        locations = [self.location_names(location, functions)
                     for location in tables.get("locationTable", [])]
        self.stacks = [self.stack_names(stack, locations) for stack in tables.get("stackTable", [])]
        self.attributes = [attribute_of(entry, strings)
                           for entry in tables.get("attributeTable", [])]

    @staticmethod
    def location_names(location, functions):
        lines = location.get("lines", [])
        return [functions[line.get("functionIndex", 0)] for line in lines] or [""]

    @staticmethod
    def stack_names(stack, locations):
        return [name for index in stack.get("locationIndices", []) for name in locations[index]]


def read_profile(profile, resource, dictionary):
    start_ns = int(profile.get("timeUnixNano", 0))
    end_ns = start_ns + int(profile.get("durationNano", 0))
    for sample in profile.get("samples", []):
        attributes = dict(dictionary.attributes[index]
                          for index in sample.get("attributeIndices", []))
        values = [int(value) for value in sample.get("values", [])]
        count = sum(values) if values else len(sample.get("timestampsUnixNano", []))
        yield Sample(resource, attributes, dictionary.stacks[sample.get("stackIndex", 0)], count,
                     start_ns, end_ns)


def read_message(message):
    dictionary = Dictionary(message["dictionary"])
    for part in message.get("resourceProfiles", []):
        entries = part.get("resource", {}).get("attributes", [])
        resource = dict(attribute_of(entry, dictionary.strings) for entry in entries)
        for scope in part.get("scopeProfiles", []):
            for profile in scope.get("profiles", []):
                yield from read_profile(profile, resource, dictionary)


def read_samples(text):
    """All samples of the complete lines; the last one may still be being written."""
    lines = text.split("\n")[:-1]
    return [sample for line in lines if line for sample in read_message(json.loads(line))]
