# SPDX-License-Identifier: Apache-2.0
"""A program whose code is in no file and who tells lies about it:

    liar.py KIND DIRECTORY

It runs a loop in anonymous memory, and writes /tmp/perf-PID.map, or DIRECTORY/jit-PID.dump, which it maps as profilers
want, in one of the ways of KINDS, again and again until it is killed."""

import ctypes
import mmap
import os
import struct
import sys
import threading
import time

LOOP = bytes.fromhex("554889e54889f948ffc975fb5dc3")
PID = os.getpid()
MAP = f"/tmp/perf-{PID}.map"
START = 0


def code_memory():
    """Calls the loop in memory of our own; returns its address."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    start = libc.mmap(None, 1 << 20, 7, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    ctypes.memmove(start, LOOP, len(LOOP))
    return start


def spin(start):
    loop = ctypes.CFUNCTYPE(None, ctypes.c_ulong)(start)
    while True:
        loop(20_000_000)


def replace(path, content):
    with open(path + ".new", "wb") as file:
        for part in content:
            file.write(part)
    os.rename(path + ".new", path)


def line(number, name=b"f"):
    return b"%x 10 %s\n" % (START + 16 * (number % 65536), name)


def for_ever(change, pause=0.2):
    while True:
        change()
        time.sleep(pause)


def truncated():
    """Writes a long list, and truncates it while it is read."""
    def change():
        with open(MAP, "wb") as file:
            file.write(b"".join(line(i) for i in range(300_000)))
        time.sleep(0.05)
        os.truncate(MAP, 7)
    for_ever(change)


def rewritten():
    for_ever(lambda: replace(MAP, [line(i, b"g%d" % (time.monotonic_ns() % 997)) for i in range(100_000)]))


def growing():
    with open(MAP, "wb") as file:
        for number in range(40_000_000):
            file.write(line(number, b"h%d" % number))
            if number % 100_000 == 0:
                time.sleep(0.05)
    for_ever(lambda: None)


def garbage():
    for_ever(lambda: replace(MAP, [os.urandom(1 << 20) for _ in range(20)]), 2)


def long_line():
    replace(MAP, [b"%x 10 " % START] + [b"n" * (1 << 20)] * 256)
    for_ever(lambda: None)


def long_names():
    replace(MAP, [line(i, b"n" * (1 << 20)) for i in range(200)])
    for_ever(lambda: None)


def many():
    """Three million functions, all in one place."""
    replace(MAP, [line(i % 3, b"f%d" % i) for i in range(3_000_000)])
    for_ever(lambda: None)


def nested():
    replace(MAP, [b"%x %x f%d\n" % (START + i, 2_000_000 - 2 * i, i) for i in range(900_000)])
    for_ever(lambda: None)


def huge_numbers():
    replace(MAP, [b"f" * 5000 + b" 10 f\n", b"%x ffffffffffffffff f\n" % START, b"-1 -1 f\n", b"0 0\n" * 100_000])
    for_ever(lambda: None)


def bad_names():
    replace(MAP, [line(0, b"\x1b[2J\x07\x9b31m\xff\xfe\xc0\x80 _RC1aIC1aFGzzzzzzzzzz_EuE")])
    for_ever(lambda: None)


def rust_bomb():
    replace(MAP, [line(i, b"_RC1aIC1aFGzzzzzzzzzz_EuE") for i in range(1000)])
    for_ever(lambda: None)


def fifo():
    os.mkfifo(MAP)
    for_ever(lambda: None)


def link():
    os.symlink("/dev/zero", MAP)
    for_ever(lambda: None)


def foreign_link():
    os.symlink("/proc/1/environ", MAP)
    for_ever(lambda: None)


def swapped():
    """A file at one moment, a FIFO, a link or a directory at the next."""
    def change():
        replace(MAP, [line(0)])
        time.sleep(0.01)
        os.unlink(MAP)
        os.mkfifo(MAP)
        time.sleep(0.01)
        os.unlink(MAP)
        os.symlink("/dev/zero", MAP)
        time.sleep(0.01)
        os.unlink(MAP)
        os.mkdir(MAP)
        time.sleep(0.01)
        os.rmdir(MAP)
    for_ever(change, 0)


def sparse():
    with open(MAP, "wb") as file:
        file.truncate(200 << 30)
    for_ever(lambda: None)


def dump(directory, records):
    """Maps a jitdump as node and others do."""
    path = f"{directory}/jit-{PID}.dump"
    head = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, PID, 0, 0)
    with open(path, "w+b") as file:
        file.write(head)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        for record in records:
            file.write(record)
            file.flush()
        for_ever(lambda: mapped, 10)


def load(name, size=1 << 20, length=None, code=b""):
    body = struct.pack("<IIQQQQ", PID, PID, START, START, size, 1) + name + b"\0" + code
    return struct.pack("<IIQ", 0, len(body) + 16 if length is None else length, 0) + body


def debug_entries(nr):
    body = struct.pack("<QQ", START, nr) + struct.pack("<QII", START, 1, 0) + b"file.c\0"
    return struct.pack("<IIQ", 2, len(body) + 16, 0) + body


def slow(records):
    for record in records:
        yield record
        time.sleep(0.001)


DUMPS = {
    "jitdump-garbage": lambda: [os.urandom(16 << 20)],
    "jitdump-long-name": lambda: [load(b"n" * (1 << 20)) for _ in range(100)],
    "jitdump-no-length": lambda: [load(b"f", length=0)] * 100_000,
    "jitdump-huge-length": lambda: [load(b"f", length=0xffffffff)] * 1000,
    "jitdump-huge-code": lambda: [load(b"f", size=1 << 63)] * 100_000,
    "jitdump-huge-entries": lambda: [debug_entries(1 << 62)] * 1000 + [load(b"f")],
    "jitdump-many": lambda: [load(b"f%d" % i, 16) for i in range(1_000_000)],
    "jitdump-growing": lambda: slow(load(b"f%d" % i) * 100 for i in range(1 << 30)),
}
KINDS = {
    "truncated": truncated, "rewritten": rewritten, "growing": growing, "garbage": garbage, "long-line": long_line,
    "long-names": long_names, "many": many, "nested": nested, "huge-numbers": huge_numbers, "bad-names": bad_names,
    "rust-bomb": rust_bomb, "fifo": fifo, "link": link, "foreign-link": foreign_link, "swapped": swapped,
    "sparse": sparse,
}


def main():
    global START    # pylint: disable=global-statement
    kind, directory = sys.argv[1:]
    START = code_memory()
    os.umask(0o022)
    threading.Thread(target=spin, args=(START,), daemon=True).start()
    if kind in DUMPS:
        dump(directory, DUMPS[kind]())
    else:
        KINDS[kind]()


if __name__ == "__main__":
    main()
