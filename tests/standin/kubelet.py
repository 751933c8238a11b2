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
    received  one line a request: the Authorization header as it came, or "-"
    address   host:port

What a test changes while it runs, all of it read again for each request, --pods too:

    fault        the present fault: one word of FAULTS. A number of seconds may follow; that long
                 after the file was written the fault is over
    accept       where it exists, the token to accept instead of that in DIR/token: the client's
                 old one is refused until the test writes the new one there as well
    certificate  one word of CERTIFICATES, for the connections from now on

Bodies are sent chunked and without Content-Length. An empty --token accepts every request.
"""

import argparse
import gzip
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
    "none", "401", "403", "403-old", "403-odd", "500", "500-odd", "redirect", "hang", "hang-middle",
    "drip", "slow-chunks", "truncate", "null-items", "garbage", "html", "gzip", "huge", "endless",
    "headers", "too-long", "too-short",
)
CERTIFICATES = (
    "serving",      # signed by the CA, for the node's name
    "renewed",      # the same with another key
    "expired",      # the same, of yesterday
    "self-signed",  # by no CA, for the node's name
    "impostor",     # self-signed, and the serving certificate shown behind it
)
CHUNK_BYTES = 4096
HUGE_BYTES = (64 << 20) + 1
HANG_S = 3600
SLOW_CHUNK_S = 0.05
DRIP_S = 1
NULL_ITEMS = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n'
GARBAGE = b'\x00\xff{"kind":"PodList","items":[{"metadata":\xc3(]}}}' * 64
HTML = b"<!DOCTYPE html><html><body>Log in to the network</body></html>\n"
ITEMS_START = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":['
REFUSALS = {
    "403": b"Forbidden (user=system:serviceaccount:prof:agent, verb=get, resource=nodes, "
           b"subresource(s)=[pods proxy])",
    "403-old": b"Forbidden (user=system:serviceaccount:prof:agent, verb=get, resource=nodes, "
               b"subresource=proxy)",
    "403-odd": b"Forbidden (user=\x1b[31m\xff\", verb=get, resource=secrets)\r\nlevel=error " * 4096,
}


def run_openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


class Certificates:
    """The certificates of the server. All but the first one are made when they are needed."""

    def __init__(self, directory, node_name):
        self.directory = directory
        self.node_name = node_name
        self.contexts = {}
        run_openssl("req", "-x509", *self.new_key("ca"), "-days", "2", "-out", self.path("ca.crt"),
                    "-subj", f"/CN={node_name}-ca@{int(time.time())}")

    def path(self, name):
        return os.path.join(self.directory, name)

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.path(f"{name}.key")]

    def make(self, name):
        request, certificate = self.path(f"{name}.csr"), self.path(f"{name}.crt")
        extensions = self.path(f"{name}.ext")
        with open(extensions, "w", encoding="utf-8") as file:
            file.write(f"subjectAltName=DNS:{self.node_name}\n"
                       "basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n")
        run_openssl("req", "-new", *self.new_key(name), "-out", request,
                    "-subj", f"/CN={self.node_name}")
        if name in ("self-signed", "impostor"):
            signer = ["-signkey", self.path(f"{name}.key")]
        else:
            signer = ["-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
                      "-set_serial", str(secrets.randbits(64))]
        run_openssl("x509", "-req", "-in", request, *signer, "-extfile", extensions,
                    "-days", "-1" if name == "expired" else "2", "-out", certificate)
        if name == "impostor":
            with open(certificate, "ab") as file, open(self.path("serving.crt"), "rb") as serving:
                file.write(serving.read())

    def context(self, name):
        if name not in self.contexts:
            self.make(name)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.path(f"{name}.crt"), self.path(f"{name}.key"))
            self.contexts[name] = context
        return self.contexts[name]


class State:
    """State that tests change while the server runs: all of it is in files."""

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
        word, _, seconds = (self.read("fault") or "none").partition(" ")
        if seconds and time.time() > os.stat(self.path("fault")).st_mtime + float(seconds):
            return "none"
        return word if word in FAULTS else "500"

    def certificate(self):
        word = self.read("certificate") or "serving"
        return word if word in CERTIFICATES else "serving"

    def accepts(self, authorization):
        token = self.read("accept") or self.read("token")
        with self.lock, open(self.path("received"), "a", encoding="utf-8") as file:
            file.write(f"{authorization or '-'}\n")
        return not token or authorization == f"Bearer {token}"

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
        if not state.accepts(self.headers.get("Authorization")) or fault == "401":
            self.answer(401, [b"Unauthorized"], "text/plain; charset=utf-8")
        elif fault in REFUSALS:
            self.answer(403, [REFUSALS[fault]], "text/plain; charset=utf-8")
        elif self.path.rstrip("/") != "/pods":
            self.answer(404, [b"404 page not found\n"], "text/plain; charset=utf-8")
        elif fault == "500":
            self.answer(500, [b"Internal Error: context deadline exceeded\n"], "text/plain")
        elif fault == "500-odd":
            self.answer(500, [b"\x1b[31m\x9b\xc2\x9b\xe2\x80\xae\xff\tcaf\xc3\xa9\r\nlevel=error\n"], "text/plain")
        elif fault == "redirect":
            self.answer(302, [], headers={"Location": "/pods?again"})
        elif fault == "hang":
            state.record(self.path, fault)
            time.sleep(HANG_S)
        else:
            self.answer_pods(fault)

    def answer_pods(self, fault):
        body = NULL_ITEMS if fault == "null-items" else self.state.body()
        if fault == "garbage":
            self.answer(200, [GARBAGE])
        elif fault == "html":
            self.answer(200, [HTML], "text/html")
        elif fault == "gzip":
            self.answer(200, [gzip.compress(body)], headers={"Content-Encoding": "gzip"})
        elif fault in ("huge", "endless"):
            self.answer(200, self.filler(HUGE_BYTES if fault == "huge" else None))
        elif fault == "headers":
            self.answer(200, [body], headers={f"X-{i}": "x" * 1000 for i in range(1000)})
        elif fault in ("too-long", "too-short"):
            claim = len(body) // 2 if fault == "too-long" else len(body) * 2
            self.answer(200, [body], is_complete=False, headers={"Content-Length": claim})
        elif fault == "truncate":
            self.answer(200, [body[:len(body) // 2]], is_complete=False)
        elif fault == "hang-middle":
            self.answer(200, self.pieces([body[:len(body) // 2], b"}"], HANG_S))
        elif fault == "drip":
            self.answer(200, self.pieces((body[i:i + 1] for i in range(len(body))), DRIP_S))
        elif fault == "slow-chunks":
            size = max(1, len(body) // 20)
            parts = (body[start:start + size] for start in range(0, len(body), size))
            self.answer(200, self.pieces(parts, SLOW_CHUNK_S))
        else:
            self.answer(200, [body])

    @staticmethod
    def filler(nr_bytes):
        """A list that goes on for so many bytes, or for ever, without ever naming a pod."""
        yield ITEMS_START
        blanks = b" " * (1 << 20)
        nr_bytes = nr_bytes and nr_bytes - len(ITEMS_START)
        while nr_bytes is None or nr_bytes > 0:
            part = blanks[:nr_bytes]
            nr_bytes = nr_bytes and nr_bytes - len(part)
            yield part

    @staticmethod
    def pieces(parts, pause_s):
        for part in parts:
            yield part
            time.sleep(pause_s)

    def answer(self, status, parts, content_type="application/json", is_complete=True,
               headers=None):
        """Sends the parts in chunks, or as they are where a length is claimed; an incomplete body
        ends with the connection, not with "0"."""
        headers = headers or {}
        is_chunked = "Content-Length" not in headers
        self.state.record(self.path, status)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.send_header(name, value)
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            for start in range(0, len(part), CHUNK_BYTES):
                chunk = part[start:start + CHUNK_BYTES]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk) if is_chunked else chunk)
        if is_complete:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def handle(self):
        """Ignores clients that disconnect or do not trust the certificate."""
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
    certificates = None
    state = None

    def get_request(self):
        """The handshake is the handler's, in a thread of its own."""
        connection, address = super().get_request()
        context = self.certificates.context(self.state.certificate())
        return context.wrap_socket(connection, server_side=True,
                                   do_handshake_on_connect=False), address

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
    certificates = Certificates(args.dir, args.node_name)
    certificates.context("serving")

    Server.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
    Handler.state = state
    Server.certificates, Server.state = certificates, state
    server = Server((host, port), Handler)
    state.write("token", args.token)
    state.write("fault", args.fault)
    shown_host = f"[{host}]" if ":" in host else host
    state.write("address", f"{shown_host}:{server.server_address[1]}")
    server.serve_forever()


if __name__ == "__main__":
    main()
