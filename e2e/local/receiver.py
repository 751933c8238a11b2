#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the OpenTelemetry Collector where Go is missing: an OTLP/HTTP receiver for profiles
that decodes with the official protobuf runtime and appends each message as one line of JSON. It keeps
the bodies for the conformance checker, too (tests/conformance).

    receiver.py PORT PROTO_FILE OUTPUT"""

import gzip
import http.server
import importlib
import os
import subprocess
import sys
import tempfile

from google.protobuf import json_format

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/conformance"))
import request_log  # noqa: E402  pylint: disable=wrong-import-position

REQUEST = "ExportProfilesServiceRequest"
PATH = "/v1development/profiles"


def load_request_class(proto_path):
    """Compiles the .proto text and finds the message that exporters send."""
    directory, name = os.path.split(os.path.abspath(proto_path))
    with tempfile.TemporaryDirectory() as output:
        subprocess.run(["protoc", f"--proto_path={directory}", f"--python_out={output}", name],
                       check=True)
        sys.path.insert(0, output)
        module = importlib.import_module(name.replace(".proto", "_pb2"))
    return getattr(module, REQUEST)


class Handler(http.server.BaseHTTPRequestHandler):
    request_class = None
    output = None
    request_log = None

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path != PATH:
            self.answer(404)
        elif self.headers.get("Content-Type") != "application/x-protobuf":
            self.answer(415)
        else:
            self.answer(self.store(body))

    def store(self, body):
        if body:  # the doctor's request is empty
            self.request_log.add(body)
        try:
            request = self.request_class.FromString(body)
        except Exception:  # pylint: disable=broad-except
            return 400
        line = json_format.MessageToJson(request, indent=None)
        self.output.write(line + "\n")
        self.output.flush()
        return 200

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):
        pass


def main():
    port, proto_path, output_path = sys.argv[1:]
    Handler.request_class = load_request_class(proto_path)
    Handler.request_log = request_log.RequestLog("receiver")
    with open(output_path, "a", encoding="utf-8") as Handler.output:
        http.server.HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main()
