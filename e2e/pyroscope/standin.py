#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for Pyroscope's OTLP receiver, over HTTP and gRPC: a body that a real one has answered once
gets that answer, others what its limits say (limits.py). It stores nothing.

    standin.py [--verdict NAME] [--burst BYTES] [--max-body BYTES]

prints "HTTP_PORT GRPC_PORT" and serves until its standard input is closed. A real one has one port for
both. What comes is kept for tests/conformance, but for the recorded bodies, which nobody sends in earnest."""

import argparse
import base64
import concurrent.futures
from dataclasses import dataclass
import gzip
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import zlib

import grpc

import limits

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../tests/conformance"))
import request_log  # noqa: E402  pylint: disable=wrong-import-position

RECORDED = os.path.join(HERE, "../../tests/fixtures/pyroscope/verdicts.json")
HOST = "127.0.0.1"
HTTP_PATH = "/v1development/profiles"
GRPC_METHOD = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
CONTENT_TYPES = ("application/x-protobuf", "application/protobuf")


@dataclass(frozen=True)
class Case:
    """A recorded answer. The texts differ by protocol, hence two verdicts."""
    name: str
    body: bytes
    over_http: limits.Verdict
    over_grpc: limits.Verdict


@dataclass(frozen=True)
class Request:
    """One request and its outcome."""
    protocol: str
    verdict: limits.Verdict
    nr_bytes: int
    stored: int


def read_cases():
    with open(RECORDED, encoding="utf-8") as file:
        entries = json.load(file)["cases"]
    return [Case(entry["name"], base64.b64decode(entry["body_b64"]),
                 *(limits.Verdict(entry["http_status"], entry["grpc_code"], entry[text])
                   for text in ("http_text", "grpc_text"))) for entry in entries]


class Standin:
    """Used as a context. `verdict`: the name of the recorded case whose answer everything gets."""

    def __init__(self, verdict=None, burst=limits.BURST_BYTES, max_body=limits.MAX_BODY_BYTES):
        cases = read_cases()
        self.recorded = {hashlib.sha256(case.body).digest(): case for case in cases}
        self.forced = next(case for case in cases if case.name == verdict) if verdict else None
        self.bucket = limits.Bucket(burst)
        self.max_body = max_body
        self.requests = []
        self.log = request_log.RequestLog("pyroscope")
        self.lock = threading.Lock()
        self.http = HttpServer((HOST, 0), HttpHandler)
        self.http.standin = self
        self.http_port = self.http.server_port
        self.grpc = grpc.server(concurrent.futures.ThreadPoolExecutor(4), options=[
            ("grpc.max_receive_message_length", limits.MAX_MESSAGE_BYTES), ("grpc.so_reuseport", 0)])
        self.grpc.add_generic_rpc_handlers([GrpcHandler(self)])
        self.grpc_port = self.grpc.add_insecure_port(f"{HOST}:0")

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.grpc.start()
        return self

    def __exit__(self, *_error):
        self.http.shutdown()
        self.http.server_close()
        self.grpc.stop(0).wait()

    def url(self, protocol):
        return f"http://{HOST}:{self.http_port if protocol == 'http' else self.grpc_port}"

    def stored(self):
        """Samples, by the sum of their values."""
        return sum(request.stored for request in self.requests)

    def decide(self, body, protocol):
        recorded = self.recorded.get(hashlib.sha256(body).digest())
        case = self.forced or recorded
        with self.lock:
            judged, stored = limits.judge(body, time.time(), self.bucket)
            if case:
                verdict = case.over_http if protocol == "http" else case.over_grpc
                stored = stored if verdict.http == 200 else 0
            else:
                verdict = judged
            self.requests.append(Request(protocol, verdict, len(body), stored))
        if not recorded:
            self.log.add(body)
        return verdict

    def refuse(self, protocol, status, text):
        """Answers a request that the protocol refuses, before its profiles are read."""
        verdict = limits.Verdict(status, "UNKNOWN", text)
        self.requests.append(Request(protocol, verdict, 0, 0))
        return verdict


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    standin = None

    def handle_error(self, request, client_address):
        """Ignores clients that disconnect."""


class HttpHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        verdict = self.decide(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        body = verdict.text.encode() + b"\n" if verdict.http != 200 else b""
        self.send_response(verdict.http)
        self.send_header("Content-Type",
                         "text/plain; charset=utf-8" if body else "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def decide(self, body):
        standin, kind = self.server.standin, self.headers.get("Content-Type")
        if self.path != HTTP_PATH:
            return standin.refuse("http", 404, "404 page not found")
        if kind not in CONTENT_TYPES:
            return standin.refuse("http", 415, f"Unsupported Content-Type: {kind}")
        if self.headers.get("Content-Encoding", "").lower() == "gzip":
            try:
                body = gzip.decompress(body)
            except (OSError, EOFError, zlib.error):
                return standin.refuse("http", 400, "Failed to read request body")
        if len(body) > standin.max_body:
            return standin.refuse("http", 413, "uncompressed profile payload size exceeds limit")
        return standin.decide(body, "http")

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


class GrpcHandler(grpc.GenericRpcHandler):
    """Takes bytes as they are."""

    def __init__(self, standin):
        self.standin = standin

    def service(self, details):
        if details.method == GRPC_METHOD:
            return grpc.unary_unary_rpc_method_handler(self.export)
        return None

    def export(self, body, context):
        verdict = self.standin.decide(body, "grpc")
        if verdict.grpc != "OK":
            context.abort(grpc.StatusCode[verdict.grpc], verdict.text)
        return b""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verdict", choices=[case.name for case in read_cases()], metavar="NAME",
                        help="answer everything as this recorded case was answered")
    parser.add_argument("--burst", type=int, default=limits.BURST_BYTES, metavar="BYTES")
    parser.add_argument("--max-body", type=int, default=limits.MAX_BODY_BYTES, metavar="BYTES")
    args = parser.parse_args()
    with Standin(args.verdict, args.burst, args.max_body) as standin:
        print(standin.http_port, standin.grpc_port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
