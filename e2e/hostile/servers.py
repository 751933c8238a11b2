# SPDX-License-Identifier: Apache-2.0
"""Servers that answer anything: over HTTP, HTTP/2 and what is neither. Each answer is a function that gets the
connection after the head of a request was read."""

import contextlib
import gzip
import json
import os
import socket
import struct
import threading
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
PODS = os.path.join(HERE, "../../tests/fixtures/kubelet/pods.json")
PIECE = 65536
MOST_BYTES = 1 << 30        # what "without end" is
SHOWN = "\x1b]0;owned\x07\x1b[2J\x9b31m"


class Server:
    """One thread a connection. `answer` may raise what the socket does."""

    def __init__(self, answer, is_silent=False):
        self.answer, self.is_silent = answer, is_silent
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.nr_connections = 0
        self.is_stopping = False
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, scheme="http"):
        return f"{scheme}://127.0.0.1:{self.port}"

    def stop(self):
        self.is_stopping = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while not self.is_stopping:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.nr_connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(30)
            if not self.is_silent:
                read_request(connection)
            self.answer(connection)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            connection.settimeout(1)
            while connection.recv(PIECE):
                pass


def read_request(connection):
    """The head and as much of the body as it says."""
    data = b""
    while b"\r\n\r\n" not in data and not data.startswith(b"PRI"):
        part = connection.recv(PIECE)
        if not part:
            return
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            left = int(line.split(b":")[1]) - len(body)
            while left > 0:
                left -= len(connection.recv(PIECE)) or left


def text(status, body, *headers, kind="application/json", length=None):
    """A whole answer."""
    body = body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} x", f"Content-Type: {kind}", f"Content-Length: {len(body) if length is None else length}",
             *headers]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def say(data):
    return lambda connection: connection.sendall(data)


def endless(head, part, pause=0):
    def answer(connection):
        connection.sendall(head)
        for _ in range(MOST_BYTES // len(part)):
            connection.sendall(part)
            if pause:
                time.sleep(pause)
    return answer


def silence(connection):
    time.sleep(60)
    connection.close()


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def zeros(nr_bytes, window=31):
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(nr_bytes >> 20)) + packer.flush()


def bomb(status):
    return lambda connection: connection.sendall(text(status, zeros(1 << 28), "Content-Encoding: gzip"))


def fields(number, kind, value):
    """A field of protobuf's: kind 0 a number, 2 bytes."""
    out = bytearray()
    for part in (number << 3 | kind, value if kind == 0 else len(value)):
        part &= (1 << 64) - 1
        while part > 0x7f:
            out.append(part & 0x7f | 0x80)
            part >>= 7
        out.append(part)
    return bytes(out) + (b"" if kind == 0 else value)


def nested_fields(depth):
    body = b""
    for _ in range(depth):
        body = fields(3, 2, body)
    return body


def partial(nr, message):
    return fields(1, 2, fields(1, 0, nr) + fields(2, 2, message))


DEEP = "[" * 200_000
JSON_ERROR = json.dumps({"code": "unavailable", "message": "not now"})
PROTOBUF = {"kind": "application/x-protobuf"}

HTTP = {
    "JSON with a 503": say(text(503, JSON_ERROR)),
    "JSON with a 400": say(text(400, JSON_ERROR)),
    "deep JSON": say(text(503, DEEP)),
    "deep JSON objects": say(text(503, '{"a":' * 100_000)),
    "a JSON string of 4 MB": say(text(503, json.dumps({"message": "m" * (4 << 20)}))),
    "a JSON number of 4 MB": say(text(503, '{"code":' + "9" * (4 << 20) + "}")),
    "numbers of JSON that are none": say(text(503, '{"code":1e999999,"message":-1e-999999}')),
    "JSON with controls": say(text(400, json.dumps({"message": SHOWN + "\n\r\0"}))),
    "JSON that is no UTF-8": say(text(400, b'{"message":"\xff\xfe\xc0\x80\xed\xa0\x80\x9b31m"}')),
    "JSON with lone surrogates": say(text(400, '{"message":"\\ud800\\udfff\\udfff"}')),
    "JSON with a million keys": say(text(503, "{" + ",".join(f'"k{i}":{i}' for i in range(300_000)) + "}")),
    "words with controls": say(text(400, SHOWN, kind="text/plain")),
    "a page": say(text(502, "<html>" + "<b>" * 100_000, kind="text/html")),
    "headers without end": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: y\r\n" * 1000),
    "a header without end": endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"y" * PIECE),
    "a status line without end": endless(b"HTTP/1.1 200 ", b"y" * PIECE),
    "50000 headers": say(text(200, b"", *[f"X-{i}: {i}" for i in range(50_000)])),
    "headers with controls": say(text(503, b"", "Retry-After: " + SHOWN, "X-A: \x01\x02\udcff")),
    "100 Continue for ever": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "103 Early Hints for ever": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000),
    "gzip bomb, 200": bomb(200),
    "gzip bomb, 503": bomb(503),
    "compressed twenty times": say(text(200, b"x", "Content-Encoding: " + ", ".join(["gzip"] * 20))),
    "a byte a second": endless(text(200, b"", length=1 << 20), b"x", 1),
    "a header's byte a second": endless(b"HTTP/1.1 200 OK\r\nX: ", b"x", 1),
    "a body without end": endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * PIECE),
    "a body without end, 503": endless(b"HTTP/1.1 503 x\r\n\r\n", b"x" * PIECE),
    "more than it says": say(text(200, b"x" * 100_000, length=1)),
    "less than it says": say(text(200, b"x", length=100_000)),
    "2^63 bytes": say(text(200, b"x", length=1 << 63)),
    "-1 bytes": say(text(200, b"x", length=-1)),
    "two lengths": say(text(200, b"x", "Content-Length: 7")),
    "a chunk of 2^64 bytes": say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"),
    "chunks of a byte": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 10_000),
    "a chunk's extension without end": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"e" * PIECE),
    "a trailer of a megabyte": say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"t" * (1 << 20)
                                   + b"\r\n\r\n"),
    "HTTP of 1990": say(b"hello"),
    "status 999": say(text(999, JSON_ERROR)),
    "status 000": say(b"HTTP/1.1 000 x\r\n\r\n"),
    "a redirect to a file": say(text(302, b"", "Location: file:///etc/shadow")),
    "a redirect to itself": say(text(307, b"", "Location: /")),
    "cookies": say(text(200, b"", *[f"Set-Cookie: c{i}={'x' * 4000}" for i in range(200)])),
    "come back in 10^30 s": say(text(429, b"", "Retry-After: 1" + "0" * 30)),
    "come back yesterday": say(text(503, b"", "Retry-After: Wed, 21 Oct 1970 07:28:00 GMT")),
    "come back -5 s": say(text(503, b"", "Retry-After: -5")),
    "-2^63 rejected": say(text(200, partial(-(1 << 63), b"no"), **PROTOBUF)),
    "2^63 rejected": say(text(200, partial((1 << 63) - 1, SHOWN.encode()), **PROTOBUF)),
    "deep protobuf": say(text(503, nested_fields(3000), **PROTOBUF)),
    "protobuf of a number without end": say(text(200, b"\x08" + b"\xff" * 100_000, **PROTOBUF)),
    "protobuf of 2^63 bytes": say(text(200, b"\x0a" + b"\xff" * 9 + b"\x01x", **PROTOBUF)),
    "nothing": lambda connection: None,
    "silence": silence,
    "a reset": reset,
}
TLS = {
    "TLS cut off": say(bytes.fromhex("160303007a0200007603")),
    "TLS of 2^24 bytes": endless(bytes.fromhex("16030340000200ffff0303"), b"x" * 16384),
    "TLS alerts for ever": endless(b"", bytes.fromhex("15030300020100") * 1000),
    "plain text": say(text(200, b"")),
    "TLS that is silent": silence,
}


def frame(kind, flags, stream, body=b""):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def literal(name, value_):
    def string(data):
        if len(data) < 127:
            return bytes([len(data)]) + data
        rest, out = len(data) - 127, b"\x7f"
        while rest > 0x7f:
            out += bytes([rest & 0x7f | 0x80])
            rest >>= 7
        return out + bytes([rest]) + data
    return b"\0" + string(name) + string(value_)


SETTINGS = frame(4, 0, 0) + frame(4, 1, 0)
HEADERS = b"\x88" + literal(b"content-type", b"application/grpc")


def grpc(trailers, body=b"\0\0\0\0\0", headers=HEADERS, before=b""):
    """An answer with these trailers, cut into frames; only the first call of a connection is answered."""
    def answer(connection):
        connection.sendall(SETTINGS + before + frame(1, 4, 1, headers))
        for at in range(0, len(body), 16384):
            connection.sendall(frame(0, 0, 1, body[at:at + 16384]))
        block = b"".join(literal(name, value_) for name, value_ in trailers)
        parts = [block[at:at + 16384] for at in range(0, len(block), 16384)] or [b""]
        connection.sendall(frame(1, 1 | (4 if len(parts) == 1 else 0), 1, parts[0]))
        for part in parts[1:]:
            connection.sendall(frame(9, 4 if part is parts[-1] else 0, 1, part))
        time.sleep(2)
    return answer


GRPC = {
    "garbage": say(bytes(range(256)) * 1000),
    "HTTP/1.1": say(text(200, b"")),
    "settings for ever": endless(SETTINGS, frame(4, 0, 0) * 1000),
    "pings for ever": endless(SETTINGS, frame(6, 0, 0, bytes(8)) * 1000),
    "continuations for ever": endless(SETTINGS + frame(1, 0, 1, HEADERS), frame(9, 0, 1) * 1000),
    "continuations of headers for ever": endless(SETTINGS + frame(1, 0, 1, HEADERS),
                                                 frame(9, 0, 1, literal(b"x", b"y" * 1000) * 16)),
    "priorities for ever": endless(SETTINGS, frame(2, 0, 3, bytes(5)) * 1000),
    "window updates for ever": endless(SETTINGS, frame(8, 0, 0, b"\0\0\0\1") * 1000),
    "a window that overflows": say(SETTINGS + frame(8, 0, 0, b"\x7f\xff\xff\xff") * 10),
    "no window": endless(frame(4, 0, 0, struct.pack(">HI", 4, 0)) + frame(4, 1, 0), frame(6, 0, 0, bytes(8)), 1),
    "a table of 4 GB": endless(frame(4, 0, 0, struct.pack(">HI", 1, 0xffffffff)) + frame(1, 0, 1, HEADERS),
                               frame(9, 0, 1, b"\x40\x01a\x7f\x80\x01" + b"v" * 255 + b"\xbe" * 4000)),
    "pushes": endless(SETTINGS, frame(5, 4, 1, struct.pack(">I", 2) + HEADERS) * 100),
    "go away": say(SETTINGS + frame(7, 0, 0, bytes(8) + SHOWN.encode())),
    "resets": say(SETTINGS + frame(3, 0, 1, bytes(4)) * 1000),
    "a frame of 16 MB": say(SETTINGS + b"\xff\xff\xff\0\0\0\0\0\1" + bytes(1 << 20)),
    "trailers of a megabyte": grpc([(b"grpc-status", b"14"), (b"grpc-message", b"m" * (1 << 20))]),
    "20000 trailers": grpc([(b"x-%d" % i, b"y") for i in range(20_000)] + [(b"grpc-status", b"14")]),
    "a message with controls": grpc([(b"grpc-status", b"3"), (b"grpc-message", b"%1b[2J%07%0a%9b31m%ff%fe")]),
    "a message of percents": grpc([(b"grpc-status", b"3"), (b"grpc-message", b"%" * 8000)]),
    "details of a megabyte": grpc([(b"grpc-status", b"14"), (b"grpc-status-details-bin", b"A" * (1 << 20))]),
    "details that are none": grpc([(b"grpc-status", b"14"), (b"grpc-status-details-bin", b"!!==%%")]),
    "status 10^30": grpc([(b"grpc-status", b"1" + b"0" * 30)]),
    "no status": grpc([]),
    "a message of 4 GB": grpc([(b"grpc-status", b"0")], b"\0\xff\xff\xff\xffx"),
    "a compressed bomb": grpc([(b"grpc-status", b"0")], b"\1" + struct.pack(">I", len(zeros(1 << 26))) + zeros(1 << 26),
                              HEADERS + literal(b"grpc-encoding", b"gzip")),
    "a thousand messages": grpc([(b"grpc-status", b"0")], b"\0\0\0\0\0" * 100_000),
    "silence": silence,
}


def pods(change=lambda body: body, *headers):
    def answer(connection):
        with open(PODS, "rb") as file:
            connection.sendall(text(200, change(file.read()), *headers))
    return answer


def good_pods(connection):
    pods()(connection)


LIST = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":['
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
POD = b'{"metadata":{"name":"p","namespace":"n","uid":"%d","labels":{%s}},"spec":{"containers":[]},"status":{}},'

KUBELET = {
    "deep JSON": say(text(200, DEEP)),
    "deep items": say(text(200, LIST + b'{"a":' * 100_000)),
    "items without end": endless(OK_HEAD + LIST, POD % (7, b"") * 100),
    "a string without end": endless(OK_HEAD + LIST + b'{"metadata":{"name":"', b"n" * PIECE),
    "a number without end": endless(OK_HEAD + LIST + b'{"a":', b"9" * PIECE),
    "spaces without end": endless(OK_HEAD + LIST, b" " * PIECE),
    "a pod of a million labels": say(text(200, LIST + POD % (1, b",".join(
        b'"k%d":"v"' % i for i in range(300_000))) + b"null]}")),
    "100000 pods": say(text(200, LIST + b"".join(POD % (i, b"") for i in range(100_000)) + b"null]}")),
    "names with controls": pods(lambda body: body.replace(b'"name": "', b'"name": "\\u001b[2J\\u009b\\u0000')
                                .replace(b'"name":"', b'"name":"\\u001b[2J\\u009b\\u0000')),
    "names that are no UTF-8": pods(lambda body: body.replace(b'"name":"', b'"name":"\xff\xc0\x80')),
    "compressed": pods(gzip.compress, "Content-Encoding: gzip"),
    "a gzip bomb": bomb(200),
    "JSON with a 503": say(text(503, JSON_ERROR)),
    "deep JSON with a 403": say(text(403, DEEP)),
    "a byte a second": endless(OK_HEAD + LIST, b" ", 1),
    "headers without end": HTTP["headers without end"],
    "100 Continue for ever": HTTP["100 Continue for ever"],
    "a redirect": say(text(302, b"", "Location: file:///etc/shadow")),
    "silence": silence,
}
