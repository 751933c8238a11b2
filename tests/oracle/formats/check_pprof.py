#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes the pprof of make_profile with Google's protobuf library and compares all of it; then what
pprof_driver makes of it, and of files that Flamelet recorded, by reading and writing them.

usage: check_pprof.py MAKE_PROFILE PPROF_DRIVER PROTO WORK_DIR [FILE.pb.gz]...
"""
import gzip
import importlib
import shutil
import subprocess
import sys

SKIP = 77

PERIOD_NS = 10_000_000
NS_A_SECOND = 1_000_000_000

WEB = {
    "service": "web",
    "identity": "kubelet",
    "k8s.pod.label.team": "till",
    "namespace": "shop",
    "pod": "web-0",
    "pod_uid": "6f2c1b1e-1111-4222-8333-944445555666",
    "container": "nginx",
    "container_id": "1f2e3d4c5b6a79880102030405060708090a0b0c0d0e0f101112131415161718",
}
DB = {
    "service": "db",
    "namespace": "shop",
    "pod": "db-0",
    "pod_uid": "0a1b2c3d-1111-4222-8333-944445555666",
    "container": "postgres",
    "container_id": "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100",
}
NGINX_FILE = ("/usr/sbin/nginx", "8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0", 1290240)
POSTGRES_FILE = ("/usr/lib/postgresql/17/bin/postgres", "", 9437184)
KERNEL_FILE = ("[kernel.kallsyms]", "00112233445566778899aabbccddeeff00112233", 2**64 - 1)

API_FILE = ("/srv/api", "", 8388608)
PARSER_FILE = ("/srv/parser", "", 4194304)
RUNTIME_FILE = ("/usr/lib/libruntime.so", "", 2097152)
ANON_FILE = ("[anon]", "", 2**64 - 1)

# (filenames, line numbers, inlined functions) of the locations in it
DETAIL = {
    NGINX_FILE: (True, True, True),
    POSTGRES_FILE: (True, False, False),
    KERNEL_FILE: (False, False, False),
    API_FILE: (True, True, True),
    PARSER_FILE: (True, True, True),
    RUNTIME_FILE: (False, False, False),
    ANON_FILE: (True, True, False),
}


def named(mapping, address, name):
    return mapping, address, [(name, name, "", 0, 0)]


# (mapping, address, [(name, system name, source file, start line, line)] innermost first), leaf first
SERVE = [
    named(KERNEL_FILE, 0xFFFFFFFF81A00010, "vfs_read"),
    named(KERNEL_FILE, 0xFFFFFFFF81000040, "do_syscall_64"),
    (NGINX_FILE, 0x4A10, [
        ("http::parse(char*)", "_ZN4http5parseEPc", "/src/http/parse.hh", 12, 15),
        ("http::serve(int)", "_ZN4http5serveEi", "http.cc", 30, 41),
    ]),
    (NGINX_FILE, 0x1200, [("main", "main", "nginx.c", 0, 0)]),
]
CHECKPOINT = [
    named(None, 0, "[stack truncated here]"),
    (POSTGRES_FILE, 0x1200, [("main", "main", "main.c", 20, 0)]),
]
SWAP = [
    named(KERNEL_FILE, 0xFFFFFFFF81300020, "kswapd"),
    named(KERNEL_FILE, 0xFFFFFFFF81100030, "kthread"),
]
GO = [
    (API_FILE, 0x2040, [
        ("json.encode", "json.encode", "/go/src/encoding/json/encode.go", 90, 95),
        ("main.reply", "main.reply", "/src/api/main.go", 60, 61),
        ("main.render", "main.render", "/src/api/main.go", 40, 41),
    ]),
    (API_FILE, 0x2100, [
        ("main.handle", "main.handle", "/src/api/main.go", 30, 44),
        ("main.main", "main.main", "/src/api/main.go", 10, 12),
    ]),
]
RUST = [
    (PARSER_FILE, 0x3010, [
        ("<alloc::vec::Vec<T>>::push", "push", "alloc/src/vec/mod.rs", 2000, 2010),
        ("parser::next", "next", "src/lib.rs", 70, 78),
        ("parser::run", "run", "src/lib.rs", 50, 55),
    ]),
]
JAVA = [named(ANON_FILE, 1, "Cart.total()"), named(RUNTIME_FILE, 0x100, "JavaMain")]
NODE = [
    (ANON_FILE, 2, [("handler", "handler", "/srv/app.js", 3, 9)]),
    named(RUNTIME_FILE, 0x200, "node::Start"),
]
PYTHON = [named(ANON_FILE, 3, "py::work"), named(RUNTIME_FILE, 0x300, "Py_RunMain")]


def numbers(pid, tid, cpu, cgroup_id):
    return {"pid": pid, "tid": tid, "cpu": cpu, "cgroup_id": cgroup_id}


def host_sample(frames, count, comm, pid):
    return frames, count, {"comm": comm, "thread": comm}, numbers(pid, pid, 0, 1)


EXPECTED = [
    (SERVE, 7, WEB | {"comm": "nginx", "thread": "nginx"}, numbers(100, 100, 0, 4711)),
    (SERVE, 5, WEB | {"comm": "nginx", "thread": "nginx"}, numbers(100, 101, 1, 4711)),
    (CHECKPOINT, 3, DB | {"comm": "postgres", "thread": "checkpointer"}, numbers(200, 202, 1, 4712)),
    (SWAP, 2, {"comm": "kswapd0", "thread": "kswapd0"}, numbers(50, 50, 0, 1)),
    host_sample(GO, 10, "api", 60),
    host_sample(RUST, 8, "parser", 61),
    host_sample(JAVA, 6, "java", 62),
    host_sample(NODE, 5, "node", 63),
    host_sample(PYTHON, 4, "python3", 64),
]


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def compile_proto(proto, work_dir):
    if not shutil.which("protoc"):
        skip("no protoc")
    try:
        importlib.import_module("google.protobuf")
    except ImportError:
        skip("no python3-protobuf")
    proto_dir, name = proto.rsplit("/", 1)
    subprocess.run(["protoc", f"-I{proto_dir}", f"--python_out={work_dir}", name], check=True)
    sys.path.insert(0, work_dir)
    return importlib.import_module(name.removesuffix(".proto") + "_pb2")


def check_raw(message):
    """Well-formed to a decoder that knows no schema."""
    subprocess.run(["protoc", "--decode_raw"], input=message, stdout=subprocess.DEVNULL, check=True)


def by_id(elements):
    ids = [element.id for element in elements]
    assert ids == list(range(1, len(ids) + 1)), ids
    return dict(zip(ids, elements))


class Reader:
    def __init__(self, profile):
        self.strings = list(profile.string_table)
        self.mappings = by_id(profile.mapping)
        self.locations = by_id(profile.location)
        self.functions = by_id(profile.function)

    def value_type(self, value_type):
        return self.strings[value_type.type], self.strings[value_type.unit]

    def mapping(self, mapping_id):
        if mapping_id == 0:
            return None
        mapping = self.mappings[mapping_id]
        assert mapping.memory_start == 0 and mapping.file_offset == 0 and mapping.has_functions
        file = (self.strings[mapping.filename], self.strings[mapping.build_id], mapping.memory_limit)
        detail = (mapping.has_filenames, mapping.has_line_numbers, mapping.has_inline_frames)
        assert detail == DETAIL[file], (file, detail)
        return file

    def line(self, line):
        function = self.functions[line.function_id]
        texts = (function.name, function.system_name, function.filename)
        return (*(self.strings[t] for t in texts), function.start_line, line.line)

    def frame(self, location_id):
        location = self.locations[location_id]
        return (self.mapping(location.mapping_id), location.address,
                [self.line(line) for line in location.line])

    def sample(self, sample):
        texts, nums = {}, {}
        for label in sample.label:
            key = self.strings[label.key]
            assert key not in texts and key not in nums, key
            if label.str:
                texts[key] = self.strings[label.str]
            else:
                assert self.strings[label.num_unit] == key
                nums[key] = label.num
        count, cpu_ns = sample.value
        assert cpu_ns == count * PERIOD_NS
        return [self.frame(i) for i in sample.location_id], count, texts, nums

    def used_strings(self, profile):
        used = {0, profile.default_sample_type, *profile.comment}
        for value_type in [*profile.sample_type, profile.period_type]:
            used |= {value_type.type, value_type.unit}
        for sample in profile.sample:
            for label in sample.label:
                used |= {label.key, label.str, label.num_unit}
        for mapping in profile.mapping:
            used |= {mapping.filename, mapping.build_id}
        for function in profile.function:
            used |= {function.name, function.system_name, function.filename}
        return used


def check_header(profile, reader, comments):
    assert reader.strings[0] == ""
    assert len(set(reader.strings)) == len(reader.strings), "a string stands twice"
    assert [reader.value_type(t) for t in profile.sample_type] == [
        ("samples", "count"),
        ("cpu", "nanoseconds"),
    ]
    assert reader.value_type(profile.period_type) == ("cpu", "nanoseconds")
    assert reader.strings[profile.default_sample_type] == "cpu"
    assert profile.period == PERIOD_NS
    assert profile.time_nanos == 1795188153 * NS_A_SECOND
    assert profile.duration_nanos == 10 * NS_A_SECOND
    assert [reader.strings[c] for c in profile.comment] == comments


def check_tables(profile, reader):
    """Everything that is there is referred to."""
    assert {i for s in profile.sample for i in s.location_id} == set(reader.locations)
    assert {l.mapping_id for l in profile.location} - {0} == set(reader.mappings)
    assert {n.function_id for l in profile.location for n in l.line} == set(reader.functions)
    assert reader.used_strings(profile) == set(range(len(reader.strings)))


def decode(schema, message):
    check_raw(message)
    profile = schema.Profile()
    profile.ParseFromString(message)
    return profile


def check_profile(profile, comments):
    reader = Reader(profile)
    check_header(profile, reader, comments)
    check_tables(profile, reader)
    assert [reader.sample(s) for s in profile.sample] == EXPECTED


def rewrite(driver, path):
    return subprocess.run([driver, path], stdout=subprocess.PIPE, check=True).stdout


def resolve(reader, message):
    """A message as plain data, numbers into the string table replaced by the strings."""
    texts = {"type", "unit", "key", "str", "num_unit", "filename", "build_id", "name", "system_name",
             "default_sample_type"}
    plain = {}
    for field, value in message.ListFields():
        many = value if field.label == field.LABEL_REPEATED else [value]
        if field.message_type:
            plain[field.name] = [resolve(reader, element) for element in many]
        elif field.name in texts:
            plain[field.name] = [reader.strings[element] for element in many]
        else:
            plain[field.name] = list(many)
    return plain


def check_same(before, after):
    """All that is in one is in the other, in the same order, but for comments."""
    plain = []
    for profile in (before, after):
        resolved = resolve(Reader(profile), profile)
        resolved.pop("comment", None)
        resolved.pop("string_table")
        plain.append(resolved)
    assert plain[0] == plain[1]


def main(make_profile, driver, proto, work_dir, *recordings):
    schema = compile_proto(proto, work_dir)
    made = f"{work_dir}/made.pb.gz"
    with open(made, "wb") as out:
        subprocess.run([make_profile, "pprof"], stdout=out, check=True)
    for path in (made, *recordings):
        with gzip.open(path) as file:
            before = decode(schema, file.read())
        after = decode(schema, rewrite(driver, path))
        check_same(before, after)
        if path == made:
            check_profile(before, ["a title", "a subtitle"])
            check_profile(after, [])


main(*sys.argv[1:])
