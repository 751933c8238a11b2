#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a port of a node's own network reachable from this machine, at 127.0.0.1 alone.

    forward.py PID PORT ADDRESS ITS_PORT

listens at 127.0.0.1:PORT, and connects whoever comes to ADDRESS:ITS_PORT in the network namespace of process
PID. It ends with that namespace's other processes, as it goes there itself."""

import contextlib
import ctypes
import os
import socket
import sys
import threading

CLONE_NEWNET = 0x40000000
CHUNK = 1 << 16


def enter_network(pid):
    """The sockets that this process already has stay where they are."""
    with open(f"/proc/{pid}/ns/net", "rb") as namespace:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def copy(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def serve(client, address):
    with client, contextlib.suppress(OSError):
        with socket.create_connection(address, timeout=10) as server:
            server.settimeout(None)
            back = threading.Thread(target=copy, args=(server, client), daemon=True)
            back.start()
            copy(client, server)
            back.join()


def main():
    pid, port, address, its_port = sys.argv[1:]
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        enter_network(pid)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, (address, int(its_port))), daemon=True).start()


if __name__ == "__main__":
    main()
