#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a profile to a real OpenTelemetry Collector, over HTTP with gzip, and compares what the collector
writes down with what was sent.

    check_collector.py DRIVER PROTO COLLECTOR_DIR

COLLECTOR_DIR is e2e/collector; its build.sh says where the collector is, or that there can be none.
"""
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
from check_otlp import SKIP, Checker, check_content, load_schema  # noqa: E402

PATIENCE_S = 30
HOST = "127.0.0.1"


def build_collector(directory):
    build = subprocess.run([os.path.join(directory, "build.sh")], stdout=subprocess.PIPE,
                           check=False, text=True)
    if build.returncode != 0:
        sys.exit(build.returncode)
    return build.stdout.strip()


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def wait_for(what, condition, process):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        assert process.poll() is None, "the collector has ended"
        time.sleep(0.05)
    raise AssertionError(f"no {what} after {PATIENCE_S} s")


def is_listening(port):
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def collector(binary, config, port, output):
    environment = dict(os.environ, COLLECTOR_ADDRESS=f"{HOST}:{port}", COLLECTOR_FILE=output)
    process = subprocess.Popen([binary, "--config", config], env=environment)
    try:
        wait_for("collector", lambda: is_listening(port), process)
        yield process
    finally:
        process.terminate()
        process.wait()


def read_line(path):
    """The first line once it is complete."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        line = file.readline()
        return line if line.endswith("\n") else None
    return None


def resolve_resources(request):
    """The collector keeps keys and values of resource attributes as numbers in the string table."""
    strings = request.dictionary.string_table
    for of_resource in request.resource_profiles:
        for attribute in of_resource.resource.attributes:
            if attribute.key_strindex:
                attribute.key = strings[attribute.key_strindex]
                attribute.key_strindex = 0
            if attribute.value.WhichOneof("value") == "string_value_strindex":
                attribute.value.string_value = strings[attribute.value.string_value_strindex]


def parse(line, schema):
    from google.protobuf import json_format

    tree = json.loads(line)
    for of_resource in tree["resourceProfiles"]:
        for of_scope in of_resource["scopeProfiles"]:
            for profile in of_scope["profiles"]:
                # OTLP's JSON has ids in hex where protobuf's has base64.
                assert len(profile.pop("profileId")) == 32
    request = schema.ExportProfilesServiceRequest()
    json_format.ParseDict(tree, request)
    resolve_resources(request)
    return request


def check_rules(request):
    """The collector adds the strings of resource attributes and an empty value in attribute 0."""
    request.dictionary.attribute_table[0].ClearField("value")
    errors = [error for error in Checker(request).check()
              if not error.startswith(("profile id:", "orphan: string_table"))]
    assert not errors, "\n".join(errors)


def main():
    driver, proto, directory = sys.argv[1:]
    try:
        import google.protobuf  # noqa: F401
    except ImportError as error:
        print(f"SKIP: {error}")
        sys.exit(SKIP)
    binary = build_collector(directory)
    port = free_port()
    with tempfile.TemporaryDirectory() as work:
        schema = load_schema(proto, work)
        output = os.path.join(work, "profiles.json")
        config = os.path.join(directory, "config.yaml")
        with collector(binary, config, port, output) as process:
            subprocess.run([driver, "export", f"http://{HOST}:{port}"], check=True)
            line = wait_for("profile", lambda: read_line(output), process)
        request = parse(line, schema)
        check_content(request)
        check_rules(request)


main()
