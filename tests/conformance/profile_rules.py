# SPDX-License-Identifier: Apache-2.0
"""The rules of resources, scopes, profiles and samples."""
import attribute_rules
import payload_rules

PROFILE_ID_BYTES = 16
STACK_MAX_FRAMES = 1000
NO_TYPE = ("", "")

# Sample types, and the period type with which Pyroscope files each in the family that users look for.
TYPES = {
    ("samples", "count"): ("cpu", "nanoseconds"),
    ("wall", "nanoseconds"): ("wall", "nanoseconds"),
    ("off_cpu", "nanoseconds"): NO_TYPE,
    ("alloc_objects", "count"): ("memory", "bytes"),
    ("alloc_space", "bytes"): ("memory", "bytes"),
    ("inuse_objects", "count"): ("memory", "bytes"),
    ("inuse_space", "bytes"): ("memory", "bytes"),
    ("rss_growth", "bytes"): ("memory", "bytes"),
    ("irq", "nanoseconds"): ("irq", "nanoseconds"),
    ("contentions", "count"): ("mutex", "count"),
    ("delay", "nanoseconds"): ("mutex", "count"),
}


def has_reference(value):
    """Returns whether a value, or part of it, is an index into the string table."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return any(map(has_reference, value.array_value.values))
    if kind == "kvlist_value":
        return any(pair.key_strindex or has_reference(pair.value)
                   for pair in value.kvlist_value.values)
    return kind == "string_value_strindex"


class ProfileRules:
    def __init__(self, request, dictionary, options):
        self.request = request
        self.dictionary = dictionary
        self.options = options
        self.report = dictionary.report
        self.ids = set()

    def check(self):
        for path, of_resource in self.elements(self.request, "resource_profiles", ""):
            self.check_resource(of_resource, path)

    def elements(self, message, field, path):
        """(path, element) of a repeated field that must have some."""
        path = f"{path}.{field}" if path else field
        self.report.expect(getattr(message, field), "not-empty", path, "is empty")
        for i, element in enumerate(getattr(message, field)):
            yield f"{path}[{i}]", element

    def check_resource(self, of_resource, path):
        self.check_pairs(of_resource.resource.attributes, f"{path}.resource.attributes")
        self.check_meaning(of_resource.resource.attributes, f"{path}.resource.attributes")
        self.report.expect(of_resource.schema_url, "schema-url", f"{path}.schema_url", "is empty")
        nr_labels = len(of_resource.resource.attributes)
        for scope_path, of_scope in self.elements(of_resource, "scope_profiles", path):
            scope = of_scope.scope
            self.check_pairs(scope.attributes, f"{scope_path}.scope.attributes")
            self.report.expect(scope.name and scope.version, "scope", f"{scope_path}.scope",
                               "has no name or no version")
            for profile_path, profile in self.elements(of_scope, "profiles", scope_path):
                self.check_profile(profile, profile_path, nr_labels + len(scope.attributes))

    def check_pairs(self, pairs, path):
        keys = set()
        for i, pair in enumerate(pairs):
            element = f"{path}[{i}]"
            key = self.dictionary.check_key(pair, element)
            self.dictionary.check_value(pair.value, f"{element}.value")
            is_by_index = has_reference(pair.value) or (pair.key_strindex and not pair.key)
            self.report.expect(not is_by_index, "inline", element, "is an index into string_table")
            self.report.expect(key != "" and pair.value.WhichOneof("value"), "attributes", element,
                               f"has no key or no value: {key}")
            self.report.expect(not key or key not in keys, "resource-keys", element, f"{key} again")
            keys.add(key)

    def check_meaning(self, pairs, path):
        for i, pair in enumerate(pairs):
            attribute_rules.check(pair.key, pair.value, attribute_rules.RESOURCE, f"{path}[{i}]",
                                  self.report)
        values = {pair.key: pair.value.string_value or pair.value.int_value for pair in pairs}
        attribute_rules.check_resource(values, path, self.report)

    def check_profile(self, profile, path, nr_labels):
        self.check_types(profile, path)
        self.check_id(profile.profile_id, f"{path}.profile_id")
        for field in ("time_unix_nano", "duration_nano"):
            self.report.expect(getattr(profile, field), "time", f"{path}.{field}", "is 0")
        nr_labels += len(self.dictionary.attribute_keys(profile.attribute_indices, path))
        self.report.expect(len(profile.samples) <= self.options.samples_max, "sample-count", path,
                           f"{len(profile.samples)} samples, {self.options.samples_max} at most")
        identities, shapes = {}, {}
        for sample_path, sample in self.elements(profile, "samples", path):
            self.check_sample(sample, sample_path, nr_labels)
            self.check_identity(sample, sample_path, identities)
            self.check_shape(sample, sample_path, shapes)
            self.check_window(sample, sample_path, profile)
        payload_rules.check(profile, path, self.dictionary)

    def value_type(self, value_type, path):
        return (self.dictionary.string(value_type.type_strindex, f"{path}.type_strindex"),
                self.dictionary.string(value_type.unit_strindex, f"{path}.unit_strindex"))

    def check_types(self, profile, path):
        sample_type = self.value_type(profile.sample_type, f"{path}.sample_type")
        period_type = self.value_type(profile.period_type, f"{path}.period_type")
        self.report.expect(profile.period > 0 if any(period_type) else profile.period == 0,
                           "period", f"{path}.period", f"{profile.period} of {period_type}")
        if None in sample_type + period_type:
            return
        if self.report.expect(sample_type in TYPES, "types", f"{path}.sample_type",
                              f"{sample_type} is not known"):
            self.report.expect(period_type == TYPES[sample_type], "types", f"{path}.period_type",
                               f"is {period_type}, for {sample_type} {TYPES[sample_type]} is known")

    def check_id(self, profile_id, path):
        if not profile_id:
            return
        self.report.expect(len(profile_id) == PROFILE_ID_BYTES and any(profile_id), "profile-id",
                           path, f"{profile_id.hex()} is no id")
        self.report.expect(profile_id not in self.ids, "profile-id", path,
                           f"{profile_id.hex()} is another profile's")
        self.ids.add(profile_id)

    def check_sample(self, sample, path, nr_labels):
        nr_labels += len(self.dictionary.attribute_keys(sample.attribute_indices, path))
        self.dictionary.check_attributes(sample.attribute_indices, attribute_rules.SAMPLE, path)
        if self.options.labels_max is not None:
            self.report.expect(nr_labels <= self.options.labels_max, "label-count", path,
                               f"{nr_labels} attributes with its resource's, "
                               f"{self.options.labels_max} at most")
        self.dictionary.use("link_table", sample.link_index, f"{path}.link_index")
        stack = self.dictionary.get("stack_table", sample.stack_index, f"{path}.stack_index")
        if stack is not None:
            depth = len(stack.location_indices)
            self.report.expect(1 <= depth <= STACK_MAX_FRAMES, "depth", path, f"{depth} frames")
        for i, value in enumerate(sample.values):
            self.report.expect(value > 0, "positive", f"{path}.values[{i}]", f"is {value}")

    def check_identity(self, sample, path, identities):
        identity = (sample.stack_index, frozenset(sample.attribute_indices), sample.link_index)
        self.report.expect(identity not in identities, "identity", path,
                           f"is the same as {identities.get(identity)}")
        identities.setdefault(identity, path)

    def check_shape(self, sample, path, shapes):
        """`shapes`: by shape, the first sample that has it."""
        nr_values, nr_times = len(sample.values), len(sample.timestamps_unix_nano)
        if not nr_values or (nr_times and nr_times != nr_values):
            self.report.expect(nr_times and not nr_values, "entries", path,
                               f"{nr_values} values and {nr_times} time stamps")
        if nr_values and not nr_times:
            self.report.expect(nr_values == 1, "one-value", path, f"{nr_values} values")
        shape = bool(nr_values), bool(nr_times)
        if self.options.values_or_times and nr_values and nr_times:
            self.report.add("values-or-times", path, f"has a value and {nr_times} time stamps")
        elif any(shape):
            others = [other for name, other in shapes.items() if name != shape]
            self.report.expect(not others, "one-shape", path, f"is unlike {' '.join(others)}")
            shapes.setdefault(shape, path)

    def check_window(self, sample, path, profile):
        end = profile.time_unix_nano + profile.duration_nano
        for i, time in enumerate(sample.timestamps_unix_nano):
            self.report.expect(profile.time_unix_nano <= time < end, "window",
                               f"{path}.timestamps_unix_nano[{i}]",
                               f"{time} is out of {profile.time_unix_nano}..{end}")
