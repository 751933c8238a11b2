# SPDX-License-Identifier: Apache-2.0
"""How Pyroscope 2 handles a request with profiles: it converts each Profile to a pprof of its own;
if one cannot be, all are refused. What was converted is checked against the limits of a tenant, and
each that is within them is stored, whatever becomes of the others. The limits are the defaults of 2.2."""

from dataclasses import dataclass, field
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/conformance"))
import schema  # noqa: E402  pylint: disable=wrong-import-position

MAX_SAMPLES = 16000
MAX_LABELS = 30             # of a series, those that Pyroscope adds included
MAX_NAME_BYTES = 1024
MAX_VALUE_BYTES = 2048
OLDEST_S = 3600
NEWEST_S = 600
BYTES_PER_S = 4 << 20       # of converted profiles
BURST_BYTES = 2 << 20
MAX_BODY_BYTES = 256 << 20  # HTTP, unpacked
MAX_MESSAGE_BYTES = 100 << 20   # gRPC

# Measured: what the pprof of a converted profile has besides texts and the numbers of locations.
BYTES_PER_SAMPLE = 10
BYTES_PER_ENTRY = 12        # location or function
BYTES_PER_MAPPING = 18      # for each sample again

ADDED_LABELS = {"__delta__": "false", "__otel__": "true"}
CPU = ("samples", "count", "cpu", "nanoseconds")


@dataclass(frozen=True)
class Verdict:
    """The answer to a request over either protocol."""
    http: int = 200
    grpc: str = "OK"
    text: str = ""


OK = Verdict()


class Refused(Exception):
    def __init__(self, http, code, text):
        super().__init__(text)
        self.verdict = Verdict(http, code, text)


def not_converted(text):
    return Refused(500, "INVALID_ARGUMENT", f"failed to convert otel profile: {text}")


def not_valid(text):
    return Refused(400, "INVALID_ARGUMENT", f"failed to make a GRPC request: invalid_argument: {text}")


@dataclass
class Series:
    """A converted profile: one a Profile and `service.name` of its samples."""
    name: str
    labels: list
    time_ns: int
    sample_type: str
    nr_bytes: int = 0       # of its samples
    count: int = 0          # sum of their values, as they were sent
    samples: set = field(default_factory=set)
    label_sets: set = field(default_factory=set)
    locations: dict = field(default_factory=dict)   # size by number


class Bucket:
    """How much may still be pushed, by the converted size."""

    def __init__(self, burst=BURST_BYTES, rate=BYTES_PER_S):
        self.burst, self.rate = burst, rate
        self.tokens, self.time_s = burst, 0

    def take(self, nr_bytes, now_s):
        self.tokens = min(self.burst, self.tokens + (now_s - self.time_s) * self.rate)
        self.time_s = now_s
        if nr_bytes > self.tokens:
            raise Refused(429, "RESOURCE_EXHAUSTED",
                          f"push rate limit ({self.rate / (1 << 20):.1f} MiB) exceeded while adding "
                          f"{nr_bytes / (1 << 20):.1f} MiB")
        self.tokens -= nr_bytes


def label_value(value):
    """Texts and integers become labels; arrays of one do, too."""
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    if kind == "int_value":
        return str(value.int_value)
    if kind == "array_value" and len(value.array_value.values) == 1:
        return label_value(value.array_value.values[0])
    return ""


def varint_size(number):
    return max(1, (number.bit_length() + 6) // 7)


class Converter:
    """Of the profiles of one request."""

    def __init__(self, dictionary):
        self.dictionary = dictionary
        self.strings = dictionary.string_table
        self.stacks = {}

    def text(self, index):
        return self.entry("string", self.strings, index)

    @staticmethod
    def entry(what, table, index):
        if not 0 <= index < len(table):
            raise not_converted(f"could not access {what} at index {index}: out of bounds")
        return table[index]

    def location_size(self, index, mappings):
        location = self.entry("location", self.dictionary.location_table, index)
        self.entry("mapping", self.dictionary.mapping_table, location.mapping_index)
        if location.mapping_index:
            mappings.add(location.mapping_index)
        size = BYTES_PER_ENTRY
        for line in location.lines:
            function = self.entry("function", self.dictionary.function_table, line.function_index)
            size += BYTES_PER_ENTRY + len(self.text(function.name_strindex).encode())
        return size

    def stack(self, index):
        """(size of each location, size of a sample)"""
        if index not in self.stacks:
            if not 0 <= index < len(self.dictionary.stack_table):
                raise not_converted(f"invalid stack index: {index}")
            mappings, frames = set(), self.dictionary.stack_table[index].location_indices
            locations = {location: self.location_size(location, mappings) for location in frames}
            size = (BYTES_PER_SAMPLE + BYTES_PER_MAPPING * len(mappings)
                    + sum(varint_size(location) for location in frames))
            self.stacks[index] = locations, size
        return self.stacks[index]

    def attributes(self, sample):
        """None where there is no such attribute: Pyroscope drops the whole profile without a word."""
        table = self.dictionary.attribute_table
        if any(not 0 <= index < len(table) for index in sample.attribute_indices):
            return None
        return {self.text(table[index].key_strindex): label_value(table[index].value)
                for index in sample.attribute_indices}

    def name_of(self, profile):
        """(label __name__, name of the sample type)"""
        if not profile.HasField("sample_type"):
            raise not_converted("sample type is missing")
        types = [profile.sample_type]
        if profile.HasField("period_type") and profile.period:
            types.append(profile.period_type)
        names = tuple(self.text(index) for kind in types
                      for index in (kind.type_strindex, kind.unit_strindex))
        if names == CPU:
            return "process_cpu", "cpu"
        if names == ("off_cpu", "nanoseconds"):
            return "off_cpu", "off_cpu"
        return (names[2] if len(names) > 2 else ""), names[0]

    @staticmethod
    def value_of(sample, name):
        if not sample.values and not sample.timestamps_unix_nano:
            raise not_converted("sample value is required")
        if not sample.values:
            return len(sample.timestamps_unix_nano)
        if len(sample.values) > 1 and name != "off_cpu":
            raise not_converted(f"sample values length mismatch {len(sample.values)} 1")
        return sum(sample.values)

    def convert(self, profile, labels):
        """The series by `service.name` of their samples; none where Pyroscope drops the profile."""
        all_attributes = [self.attributes(sample) for sample in profile.samples]
        if not all_attributes or None in all_attributes:
            return []
        name, sample_type = self.name_of(profile)
        found = {}
        for sample, attributes in zip(profile.samples, all_attributes):
            series = found.setdefault(attributes.pop("service.name", ""),
                                      Series(name, labels, profile.time_unix_nano, sample_type))
            value = self.value_of(sample, name)
            locations, size = self.stack(sample.stack_index)
            if value > 0:
                series.count += value
                series.nr_bytes += size
                series.locations.update(locations)
                series.samples.add((sample.stack_index, frozenset(attributes.items())))
                series.label_sets.add(frozenset(attributes))
        return list(found.values())


def resource_labels(resource, scope):
    """[(name, value)]: the first of each name, and none without a value."""
    labels = dict(ADDED_LABELS)
    for attribute in list(resource.attributes) + list(scope.attributes):
        if attribute.key not in ("", "__name__") and attribute.key not in labels:
            labels[attribute.key] = label_value(attribute.value)
    return [(name, value) for name, value in labels.items() if value]


def check_labels(series):
    """The limit of names counts those of a sample with it."""
    names = [name for name, _value in series.labels] + ["__name__", "service_name"]
    if not series.name:
        raise not_valid("invalid labels with error: invalid metric name")
    for attributes in series.label_sets or {frozenset()}:
        nr_names = len(set(names) | attributes)
        if nr_names > MAX_LABELS:
            raise not_valid(f"profile series has {nr_names} label names; limit {MAX_LABELS}")
    if len(names) != len(set(names)):
        raise not_valid("profile has duplicate label name: 'service_name'")
    for name, value in series.labels:
        if len(name.encode()) > MAX_NAME_BYTES:
            raise not_valid("profile has label name too long")
        if len(value.encode()) > MAX_VALUE_BYTES:
            raise not_valid("profile has label value too long")


def check(series, now_s):
    check_labels(series)
    if "-" in series.sample_type:
        raise not_valid("sample type contains -")
    age_s = now_s - series.time_ns / 1e9
    if series.time_ns and not -NEWEST_S <= age_s <= OLDEST_S:
        raise not_valid("profile is outside of ingestion window")
    if len(series.samples) > MAX_SAMPLES:
        raise not_valid(f"the profile exceeds the sample count limit (max {MAX_SAMPLES}, "
                        f"actual: {len(series.samples)})")


def convert_request(request):
    if not request.HasField("dictionary"):
        raise Refused(500, "INVALID_ARGUMENT", "missing profile metadata dictionary")
    if not request.resource_profiles:
        raise Refused(500, "INVALID_ARGUMENT", "missing resource profiles")
    converter = Converter(request.dictionary)
    return [series for part in request.resource_profiles for scope in part.scope_profiles
            for profile in scope.profiles
            for series in converter.convert(profile, resource_labels(part.resource, scope.scope))]


def parse(body):
    request_class = schema.otlp().ExportProfilesServiceRequest
    try:
        return request_class.FromString(body)
    except Exception as error:
        raise Refused(400, "INTERNAL", "Failed to parse protobuf request") from error


def judge(body, now_s, bucket):
    """(verdict, what is stored of the samples)"""
    stored, verdict = 0, OK
    try:
        for series in convert_request(parse(body)):
            try:
                check(series, now_s)
                bucket.take(series.nr_bytes + sum(series.locations.values()), now_s)
                stored += series.count
            except Refused as refused:
                verdict = refused.verdict
    except Refused as refused:
        verdict = refused.verdict
    return verdict, stored
