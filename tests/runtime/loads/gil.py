# SPDX-License-Identifier: Apache-2.0
"""A load whose threads spend their time in functions in C that release the interpreter's lock (truth.py).

    gil.py DIRECTORY NR-THREADS
"""

import hashlib
import sys
import threading
import zlib

import truth

DATA = bytes(range(256)) * 4096


def digest(data):
    truth.note()
    return hashlib.sha256(data).hexdigest()


def derive(password):
    truth.note()
    return hashlib.pbkdf2_hmac("sha256", password, b"salt", 2000)


def compress(data):
    truth.note()
    return zlib.compress(data[:65536], 9)


class Hasher:
    def update(self):
        return digest(DATA)

    def stretch(self):
        return [derive(password) for password in (b"one", b"two")]


def serve(noted):
    turn, hasher = 0, Hasher()
    while True:
        hasher.update()
        hasher.stretch()
        compress(DATA)
        turn += 1
        if turn == 1:
            noted.wait()


def main():
    directory, nr_threads = sys.argv[1], int(sys.argv[2])
    noted = threading.Barrier(nr_threads, action=lambda: truth.tell(directory))
    for _ in range(nr_threads - 1):
        threading.Thread(target=serve, args=(noted,)).start()
    serve(noted)


if __name__ == "__main__":
    main()
