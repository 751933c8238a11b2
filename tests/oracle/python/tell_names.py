# SPDX-License-Identifier: Apache-2.0
"""Tells what python_names reads: functions of this very process with their names, files and lines at some positions.
Those are of many modules of the library, and some whose names are made to be difficult. Then it stays until its input
ends. compare.py has it run by the Python to be tested.
"""
import gc
import importlib
import os
import struct
import sys
import types

from code_lines import MIN_VERSION, codes, lines_of

MODULES = ["argparse", "ast", "asyncio", "ctypes", "decimal", "email.message", "http.client", "inspect", "json", "logging",
           "pickle", "tarfile", "typing", "unittest", "urllib.request", "xml.etree.ElementTree", "zipfile"]
NAME_MAX_BYTES = 1024
FILE_MAX_BYTES = 4096
PR_SET_PTRACER = 0x59616D61

SOURCE = """
def größe(x):
    def 数える():
        return x
    class Élan:
        class Inner:
            def method(self):
                return [lambda: (x, self) for _ in
                        range(3)]
    try:
        with x as y:
            y()
    except ValueError:
        return 数える

    return Élan

async def coroutine(a):
    async for i in a:
        yield await i
"""
NAMES = ["", "fire🔥", "é" * 3, "\udc80bytes", "\ud83d\udd25", "line\nbreak", "\x00", "\x9b", "\x7f", "𝔘" * 300, "x" * 1024,
         "x" * 1025, "数" * 341, "数" * 342, "x" * 100_000]


def shown(text, max_bytes):
    """As the header runtime/frame_writer.h has it."""
    def is_plain(c):
        return not (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or 0xd800 <= ord(c) < 0xe000)

    encoded = [(c if is_plain(c) else "\ufffd").encode() for c in text]
    if sum(map(len, encoded)) <= max_bytes:
        return b"".join(encoded)
    cut, ellipsis = b"", "…".encode()
    for char in encoded:
        if len(cut + char + ellipsis) > max_bytes:
            break
        cut += char
    return cut + ellipsis


def difficult():
    module = compile(SOURCE, "/app/größe.py", "exec", dont_inherit=True)
    yield module
    function = next(const for const in module.co_consts if isinstance(const, types.CodeType))
    for name in NAMES:
        yield function.replace(co_name=name, co_filename=name * 2,
                               **({"co_qualname": name} if hasattr(function, "co_qualname") else {}))
    for line in (0, 1_000_000):
        yield function.replace(co_firstlineno=line)


def of_library():
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # a Python built without some libraries
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType):
            yield function.__code__


def frames(code):
    """Positions in a code object, and the lines there: at its start, at its end, in between."""
    lines = lines_of(code)
    yield -1, 0
    for unit in {0, len(lines) // 3, len(lines) // 2, len(lines) - 1}:
        yield unit, lines[unit]
    yield from list(enumerate(lines))[:8]


def records(all_codes):
    for code in all_codes:
        name = shown(getattr(code, "co_qualname", code.co_name), NAME_MAX_BYTES)
        filename = shown(code.co_filename, FILE_MAX_BYTES)
        start = max(code.co_firstlineno, 0)
        for position, line in frames(code):
            yield struct.pack("=QqIIII", id(code), position, line or start, start, len(name),
                              len(filename)) + name + filename


def let_others_read_memory():
    """Where Yama forbids it; elsewhere the call fails."""
    try:
        import ctypes
    except ImportError:
        return
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)


def main():
    if sys.version_info < MIN_VERSION:
        sys.exit("SKIP: older than 3.8")
    all_codes = list({id(c): c for top in (*of_library(), *difficult()) for c in codes(top)}.values())
    let_others_read_memory()
    sys.stdout.buffer.write(b"".join(records(all_codes)))
    sys.stdout.flush()
    os.close(sys.stdout.fileno())
    sys.stdin.read()


main()
