#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kubelet's GET /pods over TLS, for tests: answers with recorded bodies, and with every fault a
real kubelet or the network in front of it has shown.

    kubelet.py --node-name node-1 --pods pods.json --dir DIR

makes a CA and a serving certificate whose only name is DNS:<node name>, as a real kubelet's, and
writes into DIR, the last one when it is ready to serve:

    ca.crt    the CA to verify with
    token     the bearer token to present; read again for each request, so a test rotates it
    requests  one line a request: path and HTTP status (or the fault that gave none)
    address   host:port

DIR/fault holds the present fault, one word of FAULTS; a test switches it by writing the word. DIR
and --pods are read again for each request. Bodies are sent chunked and without Content-Length. An
empty --token accepts every request.
"""

import argparse
import http.server
import os
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

FAULTS = (
    "none", "401", "403", "hang", "truncate", "null-items", "huge", "garbage", "500", "slow-chunks",
)
CHUNK_BYTES = 4096
HUGE_BYTES = 64 << 20
HANG_S = 3600
SLOW_CHUNK_S = 0.05
NULL_ITEMS = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n'
GARBAGE = b'\x00\xff{"kind":"PodList","items":[{"metadata":\xc3(]}}}' * 64
FORBIDDEN = (
    b"Forbidden (user=system:serviceaccount:prof:agent, verb=get, resource=nodes, "
    b"subresource(s)=[pods proxy])"
)


def run_openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def make_certificates(directory, node_name):
    """Writes ca.crt, and serving.crt with serving.key, and returns the paths of the latter two."""
    ca_key, ca_crt = os.path.join(directory, "ca.key"), os.path.join(directory, "ca.crt")
    key, crt = os.path.join(directory, "serving.key"), os.path.join(directory, "serving.crt")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    run_openssl("req", "-x509", *new_key, "-keyout", ca_key, "-out", ca_crt,
                "-subj", f"/CN={node_name}-ca@{int(time.time())}")
    run_openssl("req", "-x509", "-CA", ca_crt, "-CAkey", ca_key, *new_key,
                "-keyout", key, "-out", crt, "-subj", f"/CN={node_name}",
                "-addext", f"subjectAltName=DNS:{node_name}",
                "-addext", "basicConstraints=critical,CA:FALSE",
                "-addext", "extendedKeyUsage=serverAuth")
    os.unlink(ca_key)
    return crt, key


class State:
    """What tests change while the server runs: all of it lives in files."""

    def __init__(self, directory, pods):
        self.directory = directory
        self.pods = pods
        self.lock = threading.Lock()

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def write(self, name, text):
        with open(self.path(name) + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name) + ".new", self.path(name))

    def fault(self):
        word = self.read("fault") or "none"
        return word if word in FAULTS else "500"

    def record(self, path, outcome):
        with self.lock, open(self.path("requests"), "a", encoding="utf-8") as file:
            file.write(f"{path} {outcome}\n")

    def body(self):
        if not self.pods:
            return NULL_ITEMS
        with open(self.pods, "rb") as file:
            return file.read()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def do_GET(self):  # pylint: disable=invalid-name
        """Dispatches on authentication, path and fault, in a kubelet's order."""
        state, fault = self.state, self.state.fault()
        token = state.read("token")
        if fault == "401" or (token and self.headers.get("Authorization") != f"Bearer {token}"):
            self.answer(401, [b"Unauthorized"], "text/plain; charset=utf-8")
        elif fault == "403":
            self.answer(403, [FORBIDDEN], "text/plain; charset=utf-8")
        elif self.path.rstrip("/") != "/pods":
            self.answer(404, [b"404 page not found\n"], "text/plain; charset=utf-8")
        elif fault == "500":
            self.answer(500, [b"Internal Error: context deadline exceeded\n"], "text/plain")
        elif fault == "hang":
            state.record(self.path, fault)
            time.sleep(HANG_S)
        else:
            self.answer_pods(fault)

    def answer_pods(self, fault):
        if fault == "null-items":
            self.answer(200, [NULL_ITEMS])
        elif fault == "garbage":
            self.answer(200, [GARBAGE])
        elif fault == "huge":
            filler = b" " * (1 << 20)
            self.answer(200, (filler for _ in range(HUGE_BYTES // len(filler))))
        elif fault == "truncate":
            body = self.state.body()
            self.answer(200, [body[:len(body) // 2]], is_complete=False)
        elif fault == "slow-chunks":
            self.answer(200, self.slowly(self.state.body()))
        else:
            self.answer(200, [self.state.body()])

    @staticmethod
    def slowly(body):
        size = max(1, len(body) // 20)
        for start in range(0, len(body), size):
            time.sleep(SLOW_CHUNK_S)
            yield body[start:start + size]

    def answer(self, status, parts, content_type="application/json", is_complete=True):
        """Sends the parts in chunks; an incomplete body ends with the connection, not with "0"."""
        self.state.record(self.path, status)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            for start in range(0, len(part), CHUNK_BYTES):
                chunk = part[start:start + CHUNK_BYTES]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if is_complete:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def handle(self):
        """A client that goes away, or does not trust the certificate, is no event here."""
        try:
            self.connection.do_handshake()
            super().handle()
        except (ssl.SSLError, OSError):
            self.close_connection = True

    def finish(self):
        try:
            super().finish()
        except (ssl.SSLError, OSError):
            pass

    def log_message(self, *_args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_args):
        pass


def parse_listen(text):
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit():
        sys.exit(f"kubelet.py: --listen wants HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)


def parse_args():
    parser = argparse.ArgumentParser(description="A TLS kubelet stand-in that serves GET /pods.")
    parser.add_argument("--listen", default="127.0.0.1:0", help="host:port, port 0: any free one")
    parser.add_argument("--node-name", default="node-1", help="the certificate's only name")
    parser.add_argument("--pods", help="file served as the body; without it: no pods (items null)")
    parser.add_argument("--token", default=secrets.token_hex(16), help="default: a random one")
    parser.add_argument("--dir", required=True, help="where ca.crt, token and address are written")
    parser.add_argument("--fault", choices=FAULTS, default="none")
    return parser.parse_args()


def main():
    args = parse_args()
    host, port = parse_listen(args.listen)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    os.makedirs(args.dir, exist_ok=True)
    state = State(args.dir, args.pods)
    certificate, key = make_certificates(args.dir, args.node_name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    Server.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
    Handler.state = state
    server = Server((host, port), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    state.write("token", args.token)
    state.write("fault", args.fault)
    shown_host = f"[{host}]" if ":" in host else host
    state.write("address", f"{shown_host}:{server.server_address[1]}")
    server.serve_forever()


if __name__ == "__main__":
    main()
