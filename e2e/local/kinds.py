# SPDX-License-Identifier: Apache-2.0
"""For the tests of waits, locks and memory: programs that know what they did, and recordings of them."""

import http.server
import os
import subprocess

import host

E2E = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD_SECONDS = 300    # it only bounds a hang


class Destination(http.server.BaseHTTPRequestHandler):
    """Takes what an agent exports, and keeps it in `bodies`."""
    protocol_version = "HTTP/1.1"
    bodies = []

    def do_POST(self):
        Destination.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def build(directory, name, compiler="gcc", *options):
    """Compiles e2e/NAME.c. Returns the program, which has that name."""
    program = os.path.join(directory, name)
    host.run(compiler, "-O1", "-g", "-pthread", *options, "-o", program, os.path.join(E2E, f"{name}.c"))
    return program


def record(flamelet, *arguments):
    return subprocess.run([flamelet, "record", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=RECORD_SECONDS, check=False)


def read_folded(path):
    """[(frames, value)]"""
    with open(path, encoding="utf-8") as file:
        lines = [line.rsplit(" ", 1) for line in file]
    return [(frames.split(";"), int(value)) for frames, value in lines]


def read_seconds(path):
    """[(frames, seconds)] of values that are nanoseconds."""
    return [(frames, ns / 1e9) for frames, ns in read_folded(path)]


def read_times(output, names):
    """{name: seconds} of lines "NAME SECONDS" of these names, among other lines."""
    lines = [line.split() for line in output.splitlines()]
    return {words[0]: float(words[1]) for words in lines if len(words) == 2 and words[0] in names}
