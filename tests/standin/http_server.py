#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that answers as its path says: the far side of the tests of HTTP clients and exporters.

    http_server.py DIR [http2]

Writes DIR/cert.pem and DIR/key.pem (for flamelet.test and localhost; no TLS without openssl), prints
"PORT TLS_PORT MTLS_PORT" and serves until its standard input is closed, so that it never outlives the test
that started it. At MTLS_PORT clients must show a certificate: that same one. With "http2" an nginx in
front of it speaks HTTP/2 at PORT, and with TLS at TLS_PORT; without nginx both are 0.

A request with a header X-Answer is answered as that says, whatever its path, see told_answer.py.

    /status/N            status N
    /retry-after/N/S     status N with Retry-After: S
    /body/N              N bytes
    /slow/S              an answer after S seconds
    /drip/N              N bytes, ten a second
    /refusal/N           status 403 with N bytes
    /headers/N           N headers of 1000 bytes
    /header/N            a header of N bytes
    /continue/N          N interim answers, status 100
    /trailer/N           a trailer of N bytes
    /trailers/N          N trailers of 1000 bytes, the last called X-Last, and a header of that name
    /too-long            more bytes than Content-Length says
    /too-short           fewer bytes than Content-Length says
    /redirect            302 to /status/200
    /hang-up             no answer at all
    /echo                the request as JSON
    /last                the last body that was posted
    /otlp/MODE/v1development/profiles
                         an OTLP receiver: MODE is ok, empty, junk, warning, half or partial (one or
                         two profiles rejected), strict (body and tenant come back as the warning),
                         slow, hang-up, switch (503 from /down on, until /up), or a status to
                         refuse with. Tests that export profiles have these bodies checked
                         afterwards (tests/conformance/request_log.py).
    /down, /up           what OTLP's switch does
"""
import gzip
import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

import told_answer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../conformance"))
import request_log  # noqa: E402

HOST = "127.0.0.1"
PROTOBUF = "application/x-protobuf"
OTLP_PATH = "/v1development/profiles"
SLOW_S = 1.5
NGINX_CONFIG = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log /dev/null;
events {{ }}
http {{
    access_log off; client_body_temp_path {dir}/nginx-body; proxy_temp_path {dir}/nginx-proxy;
    fastcgi_temp_path {dir}/nginx-proxy; uwsgi_temp_path {dir}/nginx-proxy;
    scgi_temp_path {dir}/nginx-proxy; proxy_buffering off; proxy_http_version 1.1;
    server {{
        listen {host}:{h2c_port} http2;
        listen {host}:{port} ssl http2;
        ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;
        location / {{ proxy_pass http://{host}:{plain_port}; }}
    }}
}}
"""
OTLP_REPLIES = {
    "ok": bytes([0x0A, 0x00]),
    "empty": b"",
    "partial": bytes([0x0A, 0x0C, 0x08, 0x02, 0x12, 0x08]) + b"too deep",
    "half": bytes([0x0A, 0x02, 0x08, 0x01]),
    "slow": b"",
    "junk": bytes([0x0A, 0xFF, 0xFF, 0xFF, 0x7F, 0x08]),
}


def rpc_status(code, message):
    """google.rpc.Status: code = 1, message = 2."""
    text = message.encode()
    return bytes([0x08, code, 0x12, len(text)]) + text


def warning(text):
    """ExportProfilesServiceResponse whose partial_success has only words."""
    return bytes([0x0A, len(text) + 2, 0x12, len(text)]) + text


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    last_body = b""
    is_down = False
    request_log = None

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, nr_bytes):
        self.send_response(200)
        self.send_header("Content-Length", str(nr_bytes))
        self.end_headers()
        for _ in range(nr_bytes):
            self.wfile.write(b".")
            self.wfile.flush()
            time.sleep(0.1)

    def mislead(self, claimed, body):
        self.send_response(200)
        self.send_header("Content-Length", str(claimed))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def trail(self, trailers):
        self.send_response(200)
        self.send_header("X-Last", "header")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"2\r\nok\r\n0\r\n")
        for trailer in trailers:
            self.wfile.write(f"{trailer}\r\n".encode())
        self.wfile.write(b"X-Last: trailer\r\n\r\n")

    def hang_up(self):
        self.close_connection = True

    def echo(self, body):
        request = {
            "method": self.command,
            "path": self.path,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": body.decode("latin-1"),
            "connection": self.client_address[1],
        }
        self.answer(200, json.dumps(request).encode(), Content_Type="application/json")

    def otlp(self, mode, body):
        if self.headers.get_all("Content-Type") != [PROTOBUF]:
            return self.answer(415)
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        Handler.last_body = body
        self.request_log.add(body)
        if mode == "strict":
            seen = body + b" " + self.headers.get("X-Scope-OrgID", "nobody").encode()
            return self.answer(200, warning(seen), Content_Type=PROTOBUF)
        if mode == "hang-up":
            return self.hang_up()
        if mode == "switch":
            mode = "503" if Handler.is_down else "ok"
        if mode.isdigit():
            return self.answer(int(mode), rpc_status(3, "status " + mode), Content_Type=PROTOBUF)
        if mode == "warning":
            return self.answer(200, warning(b"mild"), Content_Type=PROTOBUF)
        if mode == "slow":
            time.sleep(SLOW_S)
        return self.answer(200, OTLP_REPLIES[mode], Content_Type=PROTOBUF)

    def answer_as_told(self, body):
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        told = told_answer.parse(self.headers["X-Answer"], dict(self.headers.items()), body)
        return self.answer(told.status, told.body, **dict(told.headers))

    def route(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "X-Answer" in self.headers:
            return self.answer_as_told(body)
        if self.path.startswith("/otlp/") and self.path.endswith(OTLP_PATH):
            return self.otlp(self.path[len("/otlp/"):-len(OTLP_PATH)], body)
        name, *args = self.path.strip("/").split("/")
        if name == "status":
            return self.answer(int(args[0]), b"as asked")
        if name == "retry-after":
            return self.answer(int(args[0]), Retry_After=args[1])
        if name == "body":
            return self.answer(200, b"x" * int(args[0]))
        if name == "slow":
            time.sleep(float(args[0]))
            return self.answer(200)
        if name == "drip":
            return self.drip(int(args[0]))
        if name == "refusal":
            return self.answer(403, b"x" * int(args[0]))
        if name == "headers":
            return self.answer(200, **{f"X-{i}": "x" * 1000 for i in range(int(args[0]))})
        if name == "header":
            return self.answer(200, X_Long="x" * int(args[0]))
        if name == "continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * int(args[0]))
            return self.answer(200)
        if name == "trailer":
            return self.trail([f"X-Long: {'x' * int(args[0])}"])
        if name == "trailers":
            return self.trail([f"X-{i}: {'x' * 1000}" for i in range(int(args[0]))])
        if name == "too-long":
            return self.mislead(4, b"longer")
        if name == "too-short":
            return self.mislead(8, b"short")
        if name == "redirect":
            return self.answer(302, Location="/status/200")
        if name == "hang-up":
            return self.hang_up()
        if name == "echo":
            return self.echo(body)
        if name in ("down", "up"):
            Handler.is_down = name == "down"
            return self.answer(200)
        if name == "last":
            return self.answer(200, Handler.last_body)
        return self.answer(404)

    def do_GET(self):
        try:
            self.route()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_GET


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignores clients that disconnect: some tests do so on purpose."""


def make_certificate(directory):
    cert = os.path.join(directory, "cert.pem")
    key = os.path.join(directory, "key.pem")
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        "-subj", "/CN=flamelet.test", "-addext", "subjectAltName=DNS:flamelet.test,DNS:localhost",
        "-keyout", key, "-out", cert,
    ]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return cert, key


def serve(context=None):
    server = Server((HOST, 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def serve_tls(directory):
    """The ports without and with a certificate of the client; 0 where there is no openssl."""
    try:
        cert, key = make_certificate(directory)
    except (OSError, subprocess.CalledProcessError):
        return 0, 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    mutual = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mutual.load_cert_chain(cert, key)
    mutual.load_verify_locations(cert)
    mutual.verify_mode = ssl.CERT_REQUIRED
    return serve(context), serve(mutual)


def wait_until_it_listens(port, process):
    while process.poll() is None:
        try:
            socket.create_connection((HOST, port)).close()
            return port
        except ConnectionRefusedError:
            time.sleep(0.02)
    return 0


def free_ports():
    with socket.create_server((HOST, 0)) as one, socket.create_server((HOST, 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def start_nginx(directory, plain_port):
    """The process, and the ports it serves HTTP/2 at; none and 0 where there is no nginx or openssl."""
    h2c_port, port = free_ports()
    config = os.path.join(directory, "nginx.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(NGINX_CONFIG.format(dir=directory, host=HOST, port=port, h2c_port=h2c_port,
                                       plain_port=plain_port))
    try:
        make_certificate(directory)
        nginx = subprocess.Popen(["nginx", "-p", directory, "-c", config],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None, 0, 0
    return nginx, wait_until_it_listens(h2c_port, nginx), wait_until_it_listens(port, nginx)


def main():
    directory, nginx = sys.argv[1], None
    Handler.request_log = request_log.RequestLog("http_server")
    port = serve()
    if sys.argv[2:] == ["http2"]:
        nginx, port, tls_port = start_nginx(directory, port)
        mtls_port = 0
    else:
        tls_port, mtls_port = serve_tls(directory)
    print(port, tls_port, mtls_port, flush=True)
    sys.stdin.read()
    if nginx:
        nginx.terminate()
        nginx.wait()


if __name__ == "__main__":
    main()
