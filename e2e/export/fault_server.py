# SPDX-License-Identifier: Apache-2.0
"""A receiver of profiles that answers what a test wants: OTLP over HTTP and gRPC, and Pyroscope's push.

    client ──▶ Gate (TCP: refuse, cut, reset) ──▶ Unix socket ──▶ HTTP or gRPC server ──▶ script of answers

Each request is answered with the next Answer of the script, and with OK when none is left. A request that
is taken counts with all of its samples; a test compares that with what the sender says it sent. All requests
are noted with their times, in seconds of the monotonic clock. Those of OTLP are kept for tests/conformance, whatever
the answer is."""

import collections
import concurrent.futures
from dataclasses import dataclass
import email.utils
import gzip
import hashlib
import http.server
import json
import os
import socketserver
import ssl
import sys
import tempfile
import threading
import time

os.environ.setdefault("GRPC_VERBOSITY", "NONE")     # clients without a certificate are no event here

# pylint: disable=wrong-import-position
import grpc

from gate import Gate
import messages

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/conformance"))
import request_log

HTTP_PATHS = {"http": "/v1development/profiles", "push": "/push.v1.PusherService/Push"}
CONTENT_TYPES = {"http": "application/x-protobuf", "push": "application/proto"}
GRPC_METHOD = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
TRANSPORTS = ("http", "grpc", "push")
MAX_GRPC_BYTES = 4 << 20


@dataclass(frozen=True)
class Answer:
    """Answer to one request, for all protocols."""
    http: int = 200
    grpc: str = "OK"
    message: str = ""
    retry_after_s: float = None     # Retry-After, RetryInfo
    is_date: bool = False           # Retry-After says when, not how long
    nr_rejected: int = 0            # profiles, by partial success
    page: bytes = b""               # HTTP: in place of OTLP's answer
    delay_s: float = 0
    is_reset: bool = False          # the connection is reset in place of an answer …
    is_lost: bool = False           # … after the request was taken
    has_initial_metadata: bool = True   # gRPC: without it the answer consists of trailers only

    def takes(self):
        return self.is_lost or (self.http == 200 and not self.is_reset)


OK = Answer()
RESET = Answer(is_reset=True)
LOST = Answer(is_reset=True, is_lost=True)
UNAUTHENTICATED = Answer(401, "UNAUTHENTICATED", "the sender is not known")


@dataclass
class Request:
    began: float        # the request's head had come; with gRPC, all of it
    nr_samples: int
    digest: str         # of the body: the same for the same request sent again
    answer: Answer = None
    answered: float = 0


@dataclass(frozen=True)
class Tls:
    certificate: str
    key: str
    client_ca: str = None   # who must have signed the client's certificate


class Receiver:
    """One endpoint. start() and stop() switch the server, gate.open() and gate.shut() its port."""

    def __init__(self, transport):
        self.transport = transport
        self.directory = tempfile.TemporaryDirectory(prefix="flamelet-e2e-")
        self.socket_path = f"{self.directory.name}/socket"
        self.gate = Gate(self.socket_path)
        self.tls = self.server = None
        self.script = collections.deque()
        self.authorization = None       # the header that it must have; None: any
        self.on_denial = None           # called before the refusal leaves
        self.poison = None              # a digest, or True for the first one that comes …
        self.poison_answer = None       # … that gets this answer for ever
        self.requests = []
        self.log = request_log.RequestLog("export") if transport != "push" else None
        self.lock = threading.Lock()
        self.is_stopping = threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gate.close()
        self.stop()
        self.directory.cleanup()

    def start(self, tls=None):
        self.is_stopping.clear()
        self.tls = tls
        self.server = GrpcServer(self) if self.transport == "grpc" else HttpServer(self)

    def stop(self):
        if self.server:
            self.is_stopping.set()
            self.server.stop()
            self.server = None

    def open(self, tls=None):
        self.start(tls)
        self.gate.open()
        return self

    def endpoint(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.gate.port}"

    def taken(self):
        return [request for request in self.requests if request.answer.takes()]

    def gaps(self):
        """Seconds from each answer to the next request."""
        return [later.began - earlier.answered
                for earlier, later in zip(self.requests, self.requests[1:])]

    def repeated(self):
        """Returns the requests that had been taken before."""
        seen, repeated = set(), []
        for request in self.taken():
            if request.digest in seen:
                repeated.append(request)
            seen.add(request.digest)
        return repeated

    def nr_samples(self):
        """Taken, and of these the ones that had been taken before."""
        return [sum(request.nr_samples for request in requests)
                for requests in (self.taken(), self.repeated())]

    def take(self, body, began, authorization):
        """Notes a request and decides on its answer, then waits as long as that one is slow."""
        request = self.read(body, began)
        with self.lock:
            request.answer = self.decide(request, authorization)
            self.requests.append(request)
        self.is_stopping.wait(request.answer.delay_s)
        request.answered = time.monotonic()
        if request.answer.is_reset:
            self.gate.reset_connections()
        return request.answer

    def read(self, body, began):
        count = messages.count_push if self.transport == "push" else messages.count_otlp
        if self.log:
            self.log.add(body)
        return Request(began, count(body), hashlib.sha256(body).hexdigest())

    def decide(self, request, authorization):
        if self.authorization not in (None, authorization):
            if self.on_denial:
                self.on_denial()
            return UNAUTHENTICATED
        if self.poison is True:
            self.poison = request.digest
        if self.poison == request.digest:
            return self.poison_answer
        return self.script.popleft() if self.script else OK


class HttpServer:
    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64
        receiver = context = None

        def get_request(self):
            """The handshake is the handler's: it must not hold up others."""
            connection, address = super().get_request()
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True,
                                                      do_handshake_on_connect=False)
            return connection, address

        def handle_error(self, *_args):
            """Ignores clients that disconnect or refuse the certificate."""

    def __init__(self, receiver):
        self.server = self.Server(receiver.socket_path, HttpHandler)
        self.server.receiver = receiver
        if tls := receiver.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls.certificate, tls.key)
            if tls.client_ca:
                context.load_verify_locations(tls.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
            self.server.context = context
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        os.unlink(self.server.server_address)


class HttpHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        began, receiver = time.monotonic(), self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != HTTP_PATHS[receiver.transport]:
            self.answer(404, b"")
        elif self.headers["Content-Type"] != CONTENT_TYPES[receiver.transport]:
            self.answer(415, b"")
        elif len(body) == int(self.headers["Content-Length"]):
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.reply(receiver.take(body, began, self.headers.get("Authorization")))

    def reply(self, answer):
        if answer.is_reset:
            self.close_connection = True
            return
        headers = []
        if answer.retry_after_s is not None:
            headers.append(("Retry-After", retry_after(answer)))
        if self.server.receiver.transport == "push":
            self.answer(answer.http, push_body(answer), headers)
        else:
            self.answer(answer.http, otlp_body(answer), headers)

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        is_json = self.server.receiver.transport == "push" and status != 200
        content_type = CONTENT_TYPES[self.server.receiver.transport]
        self.send_header("Content-Type", "application/json" if is_json else content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


def retry_after(answer):
    if not answer.is_date:
        return str(int(answer.retry_after_s))
    return email.utils.formatdate(time.time() + answer.retry_after_s, usegmt=True)


def otlp_body(answer):
    if answer.page:
        return answer.page
    if answer.http == 200:
        return messages.partial_success(answer.nr_rejected, answer.message)
    return messages.rpc_status(grpc_code(answer).value[0], answer.message)


def push_body(answer):
    """Connect's own form of an error."""
    if answer.http == 200:
        return b""
    return json.dumps({"code": answer.grpc.lower(), "message": answer.message}).encode()


def grpc_code(answer):
    return grpc.StatusCode[answer.grpc]


class GrpcServer:
    def __init__(self, receiver):
        self.receiver = receiver
        self.server = grpc.server(
            concurrent.futures.ThreadPoolExecutor(max_workers=8),
            options=(("grpc.max_receive_message_length", MAX_GRPC_BYTES),))
        self.server.add_generic_rpc_handlers((self,))
        address = f"unix:{receiver.socket_path}"
        if receiver.tls:
            self.server.add_secure_port(address, grpc_credentials(receiver.tls))
        else:
            self.server.add_insecure_port(address)
        self.server.start()

    def stop(self):
        self.server.stop(grace=0).wait()

    def service(self, details):
        """Called by grpc for each call."""
        if details.method != GRPC_METHOD:
            return None
        return grpc.unary_unary_rpc_method_handler(self.export)

    def export(self, body, context):
        metadata = dict(context.invocation_metadata())
        answer = self.receiver.take(body, time.monotonic(), metadata.get("authorization"))
        if answer.is_reset:
            context.abort(grpc.StatusCode.UNAVAILABLE, "never seen")
        if answer.grpc == "OK":
            return messages.partial_success(answer.nr_rejected, answer.message)
        code = grpc_code(answer)
        if answer.has_initial_metadata:
            context.send_initial_metadata(())
        if answer.retry_after_s is not None:
            details = messages.rpc_status(code.value[0], answer.message, answer.retry_after_s)
            context.set_trailing_metadata((("grpc-status-details-bin", details),))
        return context.abort(code, answer.message)


def grpc_credentials(tls):
    def read(path):
        with open(path, "rb") as file:
            return file.read()

    return grpc.ssl_server_credentials(
        [(read(tls.key), read(tls.certificate))], read(tls.client_ca) if tls.client_ca else None,
        bool(tls.client_ca))
