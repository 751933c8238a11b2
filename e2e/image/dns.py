# SPDX-License-Identifier: Apache-2.0
"""A name server that knows one name, on a loopback address of its own."""

import secrets
import socket
import struct
import threading

TYPE_A = 1


def question_of(query):
    """The name, in lower case, its type, and where the question ends."""
    labels, position = [], 12
    while query[position]:
        length = query[position]
        labels.append(query[position + 1:position + 1 + length].decode())
        position += 1 + length
    return ".".join(labels).lower(), struct.unpack_from(">H", query, position + 1)[0], position + 5


class NameServer:
    """Answers 127.0.0.1 for the name, and "no such name" for all others."""

    def __init__(self, name):
        self.name = name
        self.asked = []
        self.address = f"127.{secrets.randbelow(250) + 1}.{secrets.randbelow(256)}.53"
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((self.address, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                query, client = self.socket.recvfrom(512)
            except OSError:
                return
            if query:
                self.socket.sendto(self.answer(query), client)

    def answer(self, query):
        name, kind, end = question_of(query)
        self.asked.append(name)
        has_address = name == self.name and kind == TYPE_A
        flags = 0x8180 if name == self.name else 0x8183
        header = query[:2] + struct.pack(">HHHHH", flags, 1, int(has_address), 0, 0)
        record = struct.pack(">HHHIH4B", 0xC00C, TYPE_A, 1, 60, 4, 127, 0, 0, 1)
        return header + query[12:end] + (record if has_address else b"")

    def stop(self):
        self.socket.close()
