#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads our OTLP request with the official protobuf runtime and holds it against the rules of the
protocol, which receivers do not check: a broken index is data lost without a word.

    check_otlp.py DRIVER PROTO

The rules are those of the comments in profiles.proto and of OpenTelemetry's own checker, and ours: what
Pyroscope needs beyond them. Each is then shown to be checked, by a body broken in just that point.
"""
import copy
import importlib
import itertools
import os
import subprocess
import sys
import tempfile

from otlp_expected import (DURATION_NANO, EXPECTED, PERIOD_NANO, SYSTEM_NAMES, TIME_UNIX_NANO)

SKIP = 77
STACK_MAX_FRAMES = 1000
BUILD_ID = "process.executable.build_id.gnu"


class Checker:
    """Collects what is wrong with a request as "rule: where"."""

    def __init__(self, request):
        self.request = request
        self.dictionary = request.dictionary
        self.errors = []
        self.used = {name: {0} for name in self.tables()}

    def tables(self):
        return {field.name.removesuffix("_table"): getattr(self.dictionary, field.name)
                for field in self.dictionary.DESCRIPTOR.fields}

    def expect(self, holds, rule, where):
        if not holds:
            self.errors.append(f"{rule}: {where}")
        return holds

    def check(self):
        self.check_tables()
        self.check_resources()
        if not any(error.startswith("range:") for error in self.errors):
            self.check_duplicates()
            self.check_orphans()
        return self.errors

    def check_tables(self):
        for name, table in self.tables().items():
            if not self.expect(len(table) > 0, "zero", f"{name}_table is empty"):
                continue
            zero = "" if name == "string" else type(table[0])()
            self.expect(table[0] == zero, "zero", f"{name}_table[0] is {table[0]!r}")
        for i, location in enumerate(self.dictionary.location_table[1:], 1):
            self.check_location(location, f"location[{i}]")
        for i, mapping in enumerate(self.dictionary.mapping_table[1:], 1):
            self.check_mapping(mapping, f"mapping[{i}]")
        for i, stack in enumerate(self.dictionary.stack_table[1:], 1):
            for location in stack.location_indices:
                self.use("location", location, f"stack[{i}]")
        for i, function in enumerate(self.dictionary.function_table[1:], 1):
            for index in (function.name_strindex, function.system_name_strindex,
                          function.filename_strindex):
                self.use("string", index, f"function[{i}]")
            self.expect(function.start_line >= 0, "line", f"function[{i}]")

    def use(self, table, index, where):
        """Whether the index points into the table."""
        self.used[table].add(index)
        return self.expect(0 <= index < len(self.tables()[table]), "range",
                           f"{where}: {table} {index}")

    def string(self, index, where):
        return self.dictionary.string_table[index] if self.use("string", index, where) else ""

    def check_attributes(self, indices, where):
        keys = []
        for index in indices:
            if not self.use("attribute", index, where):
                continue
            attribute = self.dictionary.attribute_table[index]
            keys.append(self.string(attribute.key_strindex, where))
            self.use("string", attribute.unit_strindex, where)
            self.expect(index != 0 and keys[-1], "attribute", f"{where}: attribute without a key")
            self.expect(attribute.value.WhichOneof("value"), "attribute",
                        f"{where}: {keys[-1]} without a value")
        self.expect(len(keys) == len(set(keys)), "unique", f"{where}: {keys}")
        return keys

    def check_location(self, location, where):
        self.use("mapping", location.mapping_index, where)
        self.check_attributes(location.attribute_indices, where)
        names = []
        for line in location.lines:
            if self.use("function", line.function_index, where):
                function = self.dictionary.function_table[line.function_index]
                names.append(self.string(function.name_strindex, where))
            self.expect(line.line >= 0 and line.column == 0, "line", where)
        self.expect(names and all(names), "named", where)
        self.expect(location.mapping_index or not location.address, "address",
                    f"{where}: an address outside of a mapping")

    def check_mapping(self, mapping, where):
        self.string(mapping.filename_strindex, where)
        keys = self.check_attributes(mapping.attribute_indices, where)
        self.expect(BUILD_ID in keys, "build id", where)
        limits = (mapping.memory_start, mapping.memory_limit)
        self.expect(limits == (0, 0) or limits[0] < limits[1], "mapping", f"{where}: {limits}")

    def check_resources(self):
        self.expect(self.request.resource_profiles, "empty", "no resource_profiles")
        ids = []
        for i, of_resource in enumerate(self.request.resource_profiles):
            where = f"resource[{i}]"
            self.check_resource(of_resource, where)
            self.expect(of_resource.scope_profiles, "empty", f"{where}: no scope_profiles")
            for of_scope in of_resource.scope_profiles:
                self.expect(of_scope.scope.name == "flamelet" and of_scope.scope.version, "scope",
                            where)
                self.expect(of_scope.profiles, "empty", f"{where}: no profiles")
                for profile in of_scope.profiles:
                    self.check_profile(profile, where)
                    ids.append(profile.profile_id)
        self.expect(len(ids) == len(set(ids)), "profile id", "one id twice")

    def check_resource(self, of_resource, where):
        keys = [attribute.key for attribute in of_resource.resource.attributes]
        for attribute in of_resource.resource.attributes:
            self.expect(attribute.key and not attribute.key_strindex and
                        attribute.value.string_value, "inline", f"{where}: {attribute}")
        self.expect(len(keys) == len(set(keys)), "unique", f"{where}: {keys}")
        self.expect(of_resource.schema_url, "schema", where)

    def value_type(self, value_type, where):
        return (self.string(value_type.type_strindex, where),
                self.string(value_type.unit_strindex, where))

    def check_profile(self, profile, where):
        self.expect(self.value_type(profile.sample_type, where) == ("samples", "count") and
                    self.value_type(profile.period_type, where) == ("cpu", "nanoseconds"),
                    "type", where)
        self.expect(profile.period > 0, "period", where)
        self.expect(profile.time_unix_nano and profile.duration_nano, "time", where)
        self.expect(len(profile.profile_id) == 16 and any(profile.profile_id), "profile id", where)
        self.expect(profile.samples, "empty", f"{where}: no samples")
        self.check_attributes(profile.attribute_indices, where)
        identities = []
        for i, sample in enumerate(profile.samples):
            self.check_sample(sample, f"{where} sample[{i}]")
            identities.append((sample.stack_index, frozenset(sample.attribute_indices),
                               sample.link_index))
        self.expect(len(identities) == len(set(identities)), "identity", where)

    def check_sample(self, sample, where):
        self.check_attributes(sample.attribute_indices, where)
        self.use("link", sample.link_index, where)
        self.expect(len(sample.values) == 1 and not sample.timestamps_unix_nano, "shape", where)
        self.expect(all(value > 0 for value in sample.values), "value", where)
        if self.use("stack", sample.stack_index, where):
            depth = len(self.dictionary.stack_table[sample.stack_index].location_indices)
            self.expect(1 <= depth <= STACK_MAX_FRAMES, "depth", f"{where}: {depth}")

    def check_duplicates(self):
        for name, table in self.tables().items():
            rows = [row if name == "string" else row.SerializeToString(deterministic=True)
                    for row in table]
            self.expect(len(rows) == len(set(rows)), "duplicate", f"{name}_table")

    def check_orphans(self):
        """Strings, attributes and so on that nothing leads to. What only an orphan leads to counts as
        used here; the orphan itself is found."""
        for name, table in self.tables().items():
            orphans = set(range(len(table))) - self.used[name]
            self.expect(not orphans, "orphan", f"{name}_table: {sorted(orphans)[:5]}")


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
    for of_resource in request.resource_profiles:
        profile = of_resource.scope_profiles[0].profiles[0]
        assert profile.time_unix_nano == TIME_UNIX_NANO
        assert profile.duration_nano == DURATION_NANO
        assert profile.period == PERIOD_NANO
    strings = request.dictionary.string_table
    system_names = {strings[function.name_strindex]: strings[function.system_name_strindex]
                    for function in request.dictionary.function_table
                    if function.system_name_strindex}
    assert system_names == SYSTEM_NAMES, system_names


def mutations():
    """(rule, what breaks it). Each gets a copy of the good request."""
    def profile(request, i=0):
        return request.resource_profiles[i].scope_profiles[0].profiles[0]

    def swap_zero(table):
        def mutate(request):
            rows = getattr(request.dictionary, table)
            if table == "link_table":
                rows[0].span_id = b"12345678"
            elif table == "string_table":
                rows[0] = "not empty"
            else:
                rows[0].CopyFrom(rows[1])
        return mutate

    def add_duplicate(table):
        def mutate(request):
            rows = getattr(request.dictionary, table)
            rows.append(rows[1])
        return mutate

    def set_field(message_of, field, value):
        return lambda request: setattr(message_of(request), field, value)

    def clear_field(message_of, field):
        return lambda request: message_of(request).ClearField(field)

    def past(table):
        return lambda request: len(getattr(request.dictionary, table))

    def point_past(message_of, field, table):
        return lambda request: setattr(message_of(request), field, past(table)(request))

    def append_past(message_of, field, table):
        return lambda request: getattr(message_of(request), field).append(past(table)(request))

    def repeat_last(message_of, field):
        return lambda request: getattr(message_of(request), field).append(
            getattr(message_of(request), field)[-1])

    def first(table):
        return lambda request: getattr(request.dictionary, table)[1]

    def sample(request):
        return profile(request).samples[0]

    def scope(request):
        return request.resource_profiles[0].scope_profiles[0]

    def resource(request):
        return next(r for r in request.resource_profiles if r.resource.attributes)

    def attribute(request):
        return resource(request).resource.attributes[0]

    def outer_line(request):
        return next(l for l in request.dictionary.location_table if len(l.lines) > 1).lines[-1]

    for table in ("mapping_table", "location_table", "function_table", "link_table",
                  "string_table", "attribute_table", "stack_table"):
        yield "zero", swap_zero(table)
        yield "zero", clear_field(lambda request: request.dictionary, table)
        if table != "link_table":
            yield "duplicate", add_duplicate(table)
            yield "orphan", add_duplicate(table)
    yield "zero", clear_field(lambda request: request, "dictionary")

    yield "range", point_past(sample, "stack_index", "stack_table")
    yield "range", set_field(sample, "stack_index", -1)
    yield "range", point_past(sample, "link_index", "link_table")
    yield "range", append_past(sample, "attribute_indices", "attribute_table")
    yield "range", append_past(first("stack_table"), "location_indices", "location_table")
    yield "range", point_past(first("location_table"), "mapping_index", "mapping_table")
    yield "range", append_past(first("location_table"), "attribute_indices", "attribute_table")
    yield "range", point_past(lambda request: first("location_table")(request).lines[0],
                              "function_index", "function_table")
    yield "range", point_past(first("function_table"), "name_strindex", "string_table")
    yield "range", point_past(first("mapping_table"), "filename_strindex", "string_table")
    yield "range", point_past(first("attribute_table"), "key_strindex", "string_table")
    yield "range", point_past(lambda request: profile(request).sample_type, "type_strindex",
                              "string_table")

    yield "unique", repeat_last(sample, "attribute_indices")
    yield "unique", repeat_last(lambda request: resource(request).resource, "attributes")
    yield "attribute", clear_field(first("attribute_table"), "value")
    yield "attribute", lambda request: sample(request).attribute_indices.append(0)
    yield "named", clear_field(first("location_table"), "lines")
    yield "named", set_field(first("function_table"), "name_strindex", 0)
    yield "named", clear_field(outer_line, "function_index")
    yield "line", set_field(outer_line, "line", -1)
    yield "line", set_field(first("function_table"), "start_line", -1)
    yield "address", lambda request: setattr(
        next(l for l in request.dictionary.location_table[1:] if not l.mapping_index), "address", 1)
    yield "build id", clear_field(first("mapping_table"), "attribute_indices")
    yield "mapping", set_field(first("mapping_table"), "memory_start", 1 << 40)

    yield "empty", clear_field(lambda request: request, "resource_profiles")
    yield "empty", clear_field(lambda request: request.resource_profiles[0], "scope_profiles")
    yield "empty", clear_field(scope, "profiles")
    yield "empty", clear_field(profile, "samples")
    yield "scope", clear_field(scope, "scope")
    yield "schema", clear_field(lambda request: request.resource_profiles[0], "schema_url")
    yield "inline", set_field(attribute, "key", "")
    yield "inline", set_field(attribute, "key_strindex", 1)
    yield "inline", lambda request: setattr(attribute(request).value, "string_value_strindex", 1)
    yield "type", clear_field(profile, "sample_type")
    yield "type", clear_field(profile, "period_type")
    yield "period", clear_field(profile, "period")
    yield "time", clear_field(profile, "time_unix_nano")
    yield "time", clear_field(profile, "duration_nano")
    yield "profile id", set_field(profile, "profile_id", bytes(16))
    yield "profile id", set_field(profile, "profile_id", b"short")
    yield "profile id", lambda request: setattr(
        profile(request, 1), "profile_id", profile(request, 0).profile_id)
    yield "identity", repeat_last(profile, "samples")
    yield "shape", clear_field(sample, "values")
    yield "shape", lambda request: sample(request).values.append(1)
    yield "shape", lambda request: sample(request).timestamps_unix_nano.append(TIME_UNIX_NANO)
    yield "value", lambda request: sample(request).values.__setitem__(0, 0)
    yield "depth", set_field(sample, "stack_index", 0)
    yield "depth", lambda request: first("stack_table")(request).location_indices.extend([1] * 1000)


def check_mutations(good):
    for nr, (rule, mutate) in enumerate(mutations()):
        request = copy.deepcopy(good)
        mutate(request)
        errors = Checker(request).check()
        assert any(error.startswith(rule + ":") for error in errors), (
            f"mutation {nr} breaks the rule \"{rule}\" and was not found: {errors}")


def check_unknown_fields(body, request):
    """Fields that the schema does not have would be invisible to every other check."""
    known = copy.deepcopy(request)
    known.DiscardUnknownFields()
    assert known.ByteSize() == request.ByteSize(), "fields that OTLP does not have"
    assert len(body) >= request.ByteSize()


def load_schema(proto, directory):
    subprocess.run(["protoc", f"--proto_path={os.path.dirname(proto)}",
                    f"--python_out={directory}", proto], check=True)
    sys.path.insert(0, directory)
    return importlib.import_module(os.path.basename(proto).replace(".proto", "_pb2"))


def main():
    driver, proto = sys.argv[1:]
    try:
        import google.protobuf  # noqa: F401
        subprocess.run(["protoc", "--version"], check=True, stdout=subprocess.DEVNULL)
    except (ImportError, OSError) as error:
        print(f"SKIP: {error}")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as directory:
        schema = load_schema(proto, directory)
        body = subprocess.run([driver, "encode"], check=True, stdout=subprocess.PIPE).stdout
        request = schema.ExportProfilesServiceRequest.FromString(body)
        check_unknown_fields(body, request)
        errors = Checker(request).check()
        assert not errors, "\n".join(errors)
        check_content(request)
        check_mutations(request)


if __name__ == "__main__":
    main()
