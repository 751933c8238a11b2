# SPDX-License-Identifier: Apache-2.0
"""A running `flamelet ui`, as a browser asks it."""

import gzip
import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse

import host

WAIT_SECONDS = 60
URL = re.compile(r"^http://(localhost|127\.0\.0\.1:(\d+)|\[::1\]:(\d+))/([0-9a-f]{32})/$", re.M)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Page:
    """Starts the server; leaving the context ends it."""

    def __init__(self, binary, directory, *stores, listen="127.0.0.1:0"):
        words = [word for store in stores for word in ("--store", store)]
        self.path = listen[len("unix:"):] if listen.startswith("unix:") else None
        self.process = host.Process("ui", [binary, "ui", *words, "--listen", listen],
                                    os.path.join(directory, f"ui-{len(os.listdir(directory))}.log"))
        try:
            found = host.wait_until("the address", lambda: URL.search(self.process.log()) or not self.process.is_alive(),
                                    WAIT_SECONDS)
        except host.Failure:
            self.process.stop()
            raise
        if found is True:
            if "without the page" in self.process.log():
                raise host.Skip("flamelet was built without the page")
            raise host.Failure(f"flamelet ui ended: {self.process.log()}")
        self.url, self.token = found[0], found[4]
        self.port = int(found[2] or found[3] or 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()

    def connect(self, seconds=WAIT_SECONDS):
        if self.path:
            return UnixConnection(self.path, seconds)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)

    def ask(self, path, method="GET", headers=None, seconds=WAIT_SECONDS):
        """Returns (status, headers, body); the path begins with a slash."""
        connection = self.connect(seconds)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, what, parameters=(), **options):
        query = urllib.parse.urlencode(dict(parameters))
        return self.ask(f"/{self.token}/{what}" + (f"?{query}" if query else ""), **options)

    def api(self, what, **parameters):
        return self.get(f"api/v1/{what}", parameters)

    def json(self, what, **parameters):
        status, _, body = self.api(what, **parameters)
        if status != 200:
            raise host.Failure(f"{what} {parameters}: {status} {body[:500]}")
        return json.loads(body)


def is_gzip_of(packed, plain):
    return gzip.decompress(packed) == plain


def output_of(binary, *arguments, status=0):
    """What a command writes to standard output."""
    done = subprocess.run([binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          check=False)
    if done.returncode != status:
        raise host.Failure(f"{arguments}: exit status {done.returncode}: {done.stderr}")
    return done.stdout
