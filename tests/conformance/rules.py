# SPDX-License-Identifier: Apache-2.0
"""All rules for requests, and how a violation is reported."""
import collections

# The rules come from the comments in OpenTelemetry's profiles.proto and from its own checker,
# unless a rule says "ours".
RULES = {
    "decodes": "the body is an ExportProfilesServiceRequest",
    "known-fields": "the body has no field that OTLP does not have",
    "utf-8": "texts are UTF-8",
    "printable": "ours: no text has characters that control what is around it",
    "dictionary": "there is a dictionary",
    "zero": "element 0 of each table is there and empty",
    "range": "indices lead into their table",
    "duplicates": "no element stands twice in a table",
    "orphans": "no element of a table is unused",
    "attributes": "an attribute has a key and a value",
    "attribute-keys": "the keys of a list of attributes are unique",
    "resource-keys": "the keys of a resource, or scope, are unique",
    "key-xor": "a key is written either in place or as an index",
    "inline": "ours: keys and values of resources and scopes are in place; Pyroscope loses the others",
    "mapping-limits": "a mapping starts before it ends, or has neither",
    "build-id": "a mapping has a build id or hash",
    "address": "an address is within its mapping",
    "attribute-place": "ours: attributes of our table are of a resource, sample, location or mapping as it says",
    "attribute-type": "ours: they have the type that it says, which is the conventions' but for two",
    "container-id": "container.id is an id alone, and no path",
    "pod-uid": "k8s.pod.uid is a UID",
    "process-pid": "process.pid is positive",
    "process-executable": "process.executable.name is the last component of the path",
    "process-creation-time": "process.creation.time is ISO 8601, in UTC",
    "one-process": "ours: a resource says its process by the conventions, or as \"process\"",
    "short-names": "ours: short names say the same as the conventions' names",
    "thread-id": "thread.id is positive",
    "cpu": "cpu.logical_number is not negative",
    "cgroup-id": "ours: flamelet.cgroup.id is positive",
    "identity-state": "ours: flamelet.identity is one of those that docs/kubernetes.md lists",
    "frame-type": "profile.frame.type is one that the conventions list",
    "build-id-form": "build ids are lower-case hex, Go's base64 with slashes; an htlhash has 16 bytes",
    "link-ids": "a trace id has 16 bytes and a span id 8",
    "function-names": "a function has a name, a system name or a file",
    "lines": "numbers of lines and columns are not negative",
    "named": "ours: each location has lines, and each line a named function; backends drop the others",
    "not-empty": "there are resources, scopes, profiles and samples",
    "scope": "ours: the scope says who measured, and in which version",
    "schema-url": "the schema of a resource's attributes is told",
    "types": "ours: the sample and period types are some that Pyroscope files as users expect",
    "period": "a period is positive and has a type",
    "time": "a profile says when it begins and how long it is",
    "profile-id": "an id of a profile has 16 bytes, not all zero, and is unique",
    "identity": "samples of the same stack, attributes and link are one",
    "entries": "a sample has a value or time stamp, and as many of both where it has both",
    "one-value": "a sample without time stamps has exactly one value",
    "one-shape": "all samples of a profile have the same shape",
    "window": "time stamps are within the profile",
    "values-or-times": "ours: a sample has a value or time stamps; Pyroscope refuses several of both",
    "positive": "ours: values are positive; Pyroscope drops the others",
    "depth": "ours: a stack has 1 to 1000 frames; Pyroscope would cut the leaf off",
    "sample-count": "ours: a profile has at most as many samples as Pyroscope takes",
    "label-count": "ours: a resource and a sample together have at most as many attributes as Pyroscope takes",
    "payload-pair": "original_payload and its format come together",
    "payload-format": "the format of original_payload is one that the specification knows",
    "payload-decodes": "an original_payload in pprof is one",
    "payload-time": "it is of the same time and period as the profile",
    "payload-total": "it has the same total as the profile",
    "payload-stacks": "it has the same stacks, as often",
}

PER_RULE_MAX = 20

Violation = collections.namedtuple("Violation", "rule path text")
Violation.__str__ = lambda self: f"{self.path or 'body'}: {self.text}"


class Options:
    """Settings that differ between senders or receivers."""

    def __init__(self, labels_max=25, samples_max=16000, values_or_times=True):
        self.labels_max = labels_max        # None: any number
        self.samples_max = samples_max
        self.values_or_times = values_or_times


class Report:
    """Collects violations; of each rule only so many, since a broken table may break every sample."""

    def __init__(self):
        self.violations = []
        self.counts = collections.Counter()

    def add(self, rule, path, text):
        assert rule in RULES, rule
        self.counts[rule] += 1
        if self.counts[rule] <= PER_RULE_MAX:
            self.violations.append(Violation(rule, path, text))

    def expect(self, holds, rule, path, text):
        if not holds:
            self.add(rule, path, text)
        return holds

    def left_out(self):
        """(rule, violations that are not in the list)."""
        return [(rule, count - PER_RULE_MAX) for rule, count in self.counts.items()
                if count > PER_RULE_MAX]
