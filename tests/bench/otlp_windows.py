# SPDX-License-Identifier: Apache-2.0
"""Decodes what an agent sends, window by window, with Google's own protobuf library."""

import collections
from dataclasses import dataclass, field
import gzip
import http.server
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../proto")
FRAME_TYPE = "profile.frame.type"


@dataclass
class Window:
    end: float                  # Unix time
    arrived: float
    frames: collections.Counter = field(default_factory=collections.Counter)    # (file, address, name)


class Sink:
    """An OTLP endpoint that keeps what comes, and when it came."""

    def __init__(self):
        self.requests = []
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_packed = self.headers.get("Content-Encoding") == "gzip"
                sink.requests.append((time.time(), body, is_packed))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @classmethod
    def start(cls):
        sink = cls()
        threading.Thread(target=sink.server.serve_forever, daemon=True).start()
        return sink


def load_request_class():
    """None where tools are missing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["protoc", f"-I{PROTO}", f"--python_out={folder}", "otlp_profiles.proto"], check=True)
            sys.path.insert(0, folder)
            return importlib.import_module("otlp_profiles_pb2").ExportProfilesServiceRequest
        except (OSError, ImportError):
            return None


def make_reader():
    """A function from a sink's requests to windows in the order of time; None where tools are missing."""
    request_class = load_request_class()
    return request_class and (lambda requests: read_windows(requests, request_class))


def make_resource_reader():
    """A function from a sink's requests to (end of the profile, arrival, attributes) of the resources in them."""
    request_class = load_request_class()
    return request_class and (lambda requests: read_resources(requests, request_class))


def parse(request_class, body, is_packed):
    return request_class.FromString(gzip.decompress(body) if is_packed else body)


def read_resources(requests, request_class):
    for arrived, body, is_packed in requests:
        request = parse(request_class, body, is_packed)
        text = request.dictionary.string_table
        for part in request.resource_profiles:
            profile = part.scope_profiles[0].profiles[0]
            end = (profile.time_unix_nano + profile.duration_nano) / 1e9
            yield end, arrived, {row.key or text[row.key_strindex]:
                                 row.value.string_value or text[row.value.string_value_strindex]
                                 for row in part.resource.attributes}


def attributes_of(tables, location):
    text = tables.string_table
    rows = (tables.attribute_table[index] for index in location.attribute_indices)
    return {text[row.key_strindex]: row.value.string_value or text[row.value.string_value_strindex]
            for row in rows}


def location_key(tables, location):
    """(file, address, name of the function itself), the first two of frames without a name only; None for the
    kernel's."""
    if not location.lines or attributes_of(tables, location).get(FRAME_TYPE) == "kernel":
        return None
    text = tables.string_table
    function = tables.function_table[location.lines[-1].function_index]
    path = text[tables.mapping_table[location.mapping_index].filename_strindex]
    return path, location.address, text[function.name_strindex]


def add_profile(profile, tables, places, window):
    for sample in profile.samples:
        count = sum(sample.values) or len(sample.timestamps_unix_nano)
        for index in tables.stack_table[sample.stack_index].location_indices:
            if places[index] is not None:
                window.frames[places[index]] += count


def read_windows(requests, request_class):
    windows = {}
    for arrived, body, is_packed in requests:
        request = parse(request_class, body, is_packed)
        tables = request.dictionary
        places = [location_key(tables, location) for location in tables.location_table]
        for resource in request.resource_profiles:
            for profile in (profile for scope in resource.scope_profiles for profile in scope.profiles):
                end = (profile.time_unix_nano + profile.duration_nano) / 1e9
                window = windows.setdefault(profile.time_unix_nano, Window(end, arrived))
                add_profile(profile, tables, places, window)
    return [windows[start] for start in sorted(windows)]
