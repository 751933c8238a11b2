# SPDX-License-Identifier: Apache-2.0
"""Files that attack readers of symbols. All of them have code that runs."""

import lzma
import os
import struct

import host
import robustness

LOOP_OFFSET = 4096      # robustness.RUN_FILES starts it there
NR_SYMBOLS = 300_000
NAME_BYTES = 4000
BOMB_BYTES = 1 << 28
GARBAGE = """void garbage_loop(unsigned long n) { while (n--) __asm__ volatile(""); }"""
# Runs garbage_loop of the libraries given, for ever.
RUN_LIBRARIES = """
import ctypes, sys
loops = [ctypes.CDLL(path).garbage_loop for path in sys.argv[1:]]
while True:
    for loop in loops:
        loop(ctypes.c_ulong(20_000_000))
"""


def write_file(path, start, size):
    with open(path, "wb") as file:
        file.write(start[:LOOP_OFFSET].ljust(LOOP_OFFSET, b"\0") + robustness.LOOP)
        file.write(start[LOOP_OFFSET + len(robustness.LOOP):])
        file.truncate(size)
    return path


def symbol_bomb():
    """Each symbol's name is long, and a part of one string: taken apart they need 1.2 GB."""
    names_at = NR_SYMBOLS * 24
    size = 8192 + names_at + NAME_BYTES + 4096
    symbols = b"".join(struct.pack("<IBBHQQ", names_at + i % 4000, 0x12, 0, 1, 4096 + i % 4096, 1)
                       for i in range(NR_SYMBOLS))
    start = robustness.elf(NR_SYMBOLS, size).ljust(8192, b"\0")
    return start + symbols + b"a" * (NAME_BYTES + 4000) + b"\0", size


def write_run_files(directory):
    bomb, bomb_size = symbol_bomb()
    files = {"fifo": (robustness.elf(100, 1 << 20), 1 << 20),
             "truncated": (robustness.elf(10_000, 1 << 20), 1 << 20),
             "sparse": (robustness.elf(170_000_000, 4 << 30), 4 << 30),
             "bomb": (bomb, bomb_size)}
    return [write_file(f"{directory}/{name}", *content) for name, content in files.items()]


def compile_library(path):
    with open(f"{path}.c", "w", encoding="ascii") as file:
        file.write(GARBAGE)
    host.run("gcc", "-g", "-O1", "-shared", "-fPIC", f"{path}.c", "-o", path)


def write_garbage(path):
    """Debug information of the right size, and nothing else right in it."""
    compile_library(path)
    for section in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"):
        host.run("objcopy", "--dump-section", f"{section}={path}.part", path, f"{path}.copy")
        with open(f"{path}.part", "r+b") as part:
            part.write(os.urandom(os.path.getsize(part.name)))
        host.run("objcopy", "--update-section", f"{section}={path}.part", path)
    return path


def write_xz_bomb(path):
    """MiniDebugInfo of zeros, a thousand times as large as the file."""
    compile_library(path)
    packer = lzma.LZMACompressor(preset=0)
    with open(f"{path}.xz", "wb") as packed:
        for _ in range(BOMB_BYTES >> 24):
            packed.write(packer.compress(bytes(1 << 24)))
        packed.write(packer.flush())
    host.run("strip", path)
    host.run("objcopy", "--add-section", f".gnu_debugdata={path}.xz", path)
    return path


def write_libraries(directory):
    return [write_garbage(f"{directory}/garbage.so"), write_xz_bomb(f"{directory}/xz.so")]


def turn_hostile(directory):
    """Changes files while they run."""
    os.unlink(f"{directory}/fifo")
    os.mkfifo(f"{directory}/fifo")
    os.truncate(f"{directory}/truncated", 2 * LOOP_OFFSET)
