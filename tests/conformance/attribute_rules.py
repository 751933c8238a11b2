# SPDX-License-Identifier: Apache-2.0
"""The rules of single attributes: those that docs/export.md has in its table. Others are users' own, and free."""
import os
import re

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/export.md")

TEXT, NUMBER = "string_value", "int_value"
RESOURCE, SAMPLE, LOCATION, MAPPING = "resource", "sample", "location", "mapping"

# key: where it may be, its type. The conventions have restart counts as numbers and tags as a list: ours are texts,
# since Pyroscope drops what is neither text nor number and orders by text.
ATTRIBUTES = {
    "service.name": ({RESOURCE}, TEXT),
    "service.namespace": ({RESOURCE}, TEXT),
    "service.instance.id": ({RESOURCE}, TEXT),
    "k8s.namespace.name": ({RESOURCE}, TEXT),
    "k8s.pod.name": ({RESOURCE}, TEXT),
    "k8s.pod.uid": ({RESOURCE}, TEXT),
    "k8s.pod.start_time": ({RESOURCE}, TEXT),
    "k8s.deployment.name": ({RESOURCE}, TEXT),
    "k8s.container.name": ({RESOURCE}, TEXT),
    "k8s.container.restart_count": ({RESOURCE}, TEXT),
    "k8s.node.name": ({RESOURCE}, TEXT),
    "container.id": ({RESOURCE, SAMPLE}, TEXT),
    "container.image.name": ({RESOURCE}, TEXT),
    "container.image.tags": ({RESOURCE}, TEXT),
    "container.runtime.name": ({RESOURCE}, TEXT),
    "host.name": ({RESOURCE}, TEXT),
    "process.linux.cgroup": ({RESOURCE}, TEXT),
    "process.pid": ({RESOURCE, SAMPLE}, NUMBER),
    "process.executable.name": ({RESOURCE}, TEXT),
    "process.executable.path": ({RESOURCE}, TEXT),
    "process.creation.time": ({RESOURCE}, TEXT),
    "flamelet.identity": ({RESOURCE}, TEXT),
    "flamelet.capture.backend": ({RESOURCE}, TEXT),
    "namespace": ({RESOURCE}, TEXT),
    "pod": ({RESOURCE}, TEXT),
    "container": ({RESOURCE}, TEXT),
    "node": ({RESOURCE}, TEXT),
    "workload": ({RESOURCE}, TEXT),
    "process": ({RESOURCE}, TEXT),
    "thread.name": ({SAMPLE}, TEXT),
    "thread.id": ({SAMPLE}, NUMBER),
    "cpu.logical_number": ({SAMPLE}, NUMBER),
    "flamelet.cgroup.id": ({SAMPLE}, NUMBER),
    "flamelet.wait.reason": ({SAMPLE}, TEXT),
    "profile.frame.type": ({LOCATION}, TEXT),
    "process.executable.build_id.gnu": ({MAPPING}, TEXT),
    "process.executable.build_id.go": ({MAPPING}, TEXT),
    "process.executable.build_id.htlhash": ({MAPPING}, TEXT),
}

FRAME_TYPES = {"beam", "cpython", "dotnet", "go", "jvm", "kernel", "luajit", "native", "perl", "php", "ruby", "rust",
               "v8js"}

# Texts of one form: key, rule, pattern.
FORMS = (
    ("container.id", "container-id", r"[^/\s]+"),
    ("k8s.pod.uid", "pod-uid", r"[0-9A-Za-z-]+"),
    ("process.executable.name", "process-executable", r"[^/]+|\[other\]"),
    ("process.executable.path", "process-executable", r"/.*[^/]|[^/]+"),
    ("process.creation.time", "process-creation-time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    ("profile.frame.type", "frame-type", "|".join(sorted(FRAME_TYPES))),
    ("process.executable.build_id.gnu", "build-id-form", r"([0-9a-f]{2})+"),
    ("process.executable.build_id.go", "build-id-form", r"[0-9A-Za-z_/-]+"),
    ("process.executable.build_id.htlhash", "build-id-form", r"[0-9a-f]{32}"),
    ("flamelet.identity", "identity-state", r"kubelet|snapshot|logs|partial|path|host|unknown"),
)
POSITIVE = {"process.pid": "process-pid", "thread.id": "thread-id", "flamelet.cgroup.id": "cgroup-id"}
SHORT_NAMES = {"namespace": "k8s.namespace.name", "pod": "k8s.pod.name", "container": "k8s.container.name",
               "node": "k8s.node.name"}


def check(key, value, place, path, report):
    """One attribute; `value` is an AnyValue."""
    places, kind = ATTRIBUTES.get(key, (None, None))
    if places is None or value.WhichOneof("value") not in (TEXT, NUMBER, "double_value", "bool_value"):
        return
    report.expect(place in places, "attribute-place", path, f"{key} in a {place}")
    if not report.expect(value.WhichOneof("value") == kind, "attribute-type", path,
                         f"{key} is no {kind}"):
        return
    for name, rule, pattern in FORMS:
        if name == key:
            report.expect(re.fullmatch(pattern, value.string_value), rule, path,
                          f"{key} is {value.string_value}")
    if key in POSITIVE:
        report.expect(value.int_value > 0, POSITIVE[key], path, f"{key} is {value.int_value}")
    if key == "cpu.logical_number":
        report.expect(value.int_value >= 0, "cpu", path, f"{key} is {value.int_value}")


def check_resource(attributes, path, report):
    """`attributes`: by key, what texts and numbers a resource has."""
    name, file = (attributes.get(f"process.executable.{of}") for of in ("name", "path"))
    if name and file:
        report.expect(file.rsplit("/", 1)[-1] == name, "process-executable", path,
                      f"{name} is not the name of {file}")
    for short, long in SHORT_NAMES.items():
        if short in attributes and long in attributes:
            report.expect(attributes[short] == attributes[long], "short-names", path,
                          f"{short} is {attributes[short]}, {long} {attributes[long]}")
    report.expect("process" not in attributes or "process.pid" not in attributes, "one-process",
                  path, "says its process in both ways")


def documented():
    """The keys in the first column of the table in docs/export.md."""
    with open(DOCS, encoding="utf-8") as file:
        section = file.read().split("### Attribute by attribute", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`[^|]*)\|", section, re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`([a-z0-9_.]+)`", row.split("(", 1)[0])}
