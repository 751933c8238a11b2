# SPDX-License-Identifier: Apache-2.0
"""The network in front of a receiver: a port on loopback that refuses connections, passes them on to the
receiver's Unix socket, or resets them. It sees bytes only, so it does the same to HTTP, gRPC and TLS."""

import collections
import contextlib
import select
import socket
import struct
import threading

import host

CHUNK_BYTES = 16384
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Connection:
    """One client, and a thread that copies in both directions until one side ends."""

    def __init__(self, client, backend_path, cut_bytes):
        self.client, self.cut_bytes = client, cut_bytes
        self.backend = socket.socket(socket.AF_UNIX)
        self.backend.connect(backend_path)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with self.client, self.backend, contextlib.suppress(OSError):
            while self.copy():
                pass

    def copy(self):
        ready, _, _ = select.select([self.client, self.backend], [], [])
        for source in ready:
            data = source.recv(CHUNK_BYTES)
            if not data:
                return False
            if source is self.backend:
                self.client.sendall(data)
            elif not self.forward(data):
                return False
        return True

    def forward(self, data):
        """Returns whether the connection goes on."""
        if self.cut_bytes is None:
            self.backend.sendall(data)
            return True
        self.backend.sendall(data[:self.cut_bytes])
        self.cut_bytes -= min(len(data), self.cut_bytes)
        if self.cut_bytes == 0:
            self.reset()
        return self.cut_bytes > 0

    def reset(self):
        """The client gets a RST as soon as the thread, which this wakes, closes its socket."""
        with contextlib.suppress(OSError):
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            self.backend.shutdown(socket.SHUT_RDWR)


class Gate:
    """Shut at first. Its port stays its own until close(), open or not."""

    def __init__(self, backend_path):
        self.backend_path = backend_path
        self.port = host.free_port()
        self.cuts = collections.deque()     # the next connections are reset after so many bytes
        self.connections = []
        self.listener = socket.socket()
        # An explicit port stays bound when listening ends; connections to it are refused then.
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.thread = None

    def open(self):
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.accept_all, daemon=True)
        self.thread.start()

    def accept_all(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.pass_on(client)

    def pass_on(self, client):
        cut_bytes = self.cuts.popleft() if self.cuts else None
        try:
            self.connections.append(Connection(client, self.backend_path, cut_bytes))
        except OSError:
            client.close()

    def reset_connections(self):
        while self.connections:
            self.connections.pop().reset()

    def shut(self):
        """From now on connections are refused; those that are open are reset."""
        if self.thread:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.thread.join()
            self.thread = None
        self.reset_connections()

    def close(self):
        self.shut()
        self.listener.close()
