# SPDX-License-Identifier: Apache-2.0
"""Debug information that no compiler would write; all of it says that it is of the code that runs."""

import struct
import zlib

from elf_image import COMPRESSED, LOOPS, PROGBITS, STRIDE, Image, compressed_header, symbol, uleb

NR_LOOPS = 64
CODE_BYTES = NR_LOOPS * STRIDE
UNIT, FUNCTION, BLOCK, INLINED, IMPORTED, PARTIAL = 0x11, 0x2e, 0x0b, 0x1d, 0x3d, 0x3c
NAME, STMT_LIST, LOW, HIGH, ORIGIN, SPECIFICATION, RANGES, IMPORT, CALL_LINE = (
    0x03, 0x10, 0x11, 0x12, 0x31, 0x47, 0x55, 0x18, 0x59)
ADDR, DATA8, STRING, REF4, SEC_OFFSET, INDIRECT, BLOCK1, STRP = 0x01, 0x07, 0x08, 0x13, 0x17, 0x16, 0x0a, 0x0e
HEAD_BYTES = 11     # of a unit of version 4
HERE_RANGE = struct.pack("<QQ", LOOPS, CODE_BYTES)


def abbreviation(code, tag, has_children, *attributes):
    pairs = b"".join(uleb(name) + uleb(form) for name, form in attributes)
    return uleb(code) + uleb(tag) + bytes([has_children]) + pairs + b"\0\0"


ABBREVIATIONS = b"".join((
    abbreviation(1, UNIT, 1, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8), (STMT_LIST, SEC_OFFSET)),
    abbreviation(2, FUNCTION, 1, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8)),
    abbreviation(3, BLOCK, 1, (LOW, ADDR), (HIGH, DATA8)),
    abbreviation(4, INLINED, 1, (ORIGIN, REF4), (LOW, ADDR), (HIGH, DATA8)),
    abbreviation(5, FUNCTION, 0, (ORIGIN, REF4)),
    abbreviation(6, FUNCTION, 0, (SPECIFICATION, REF4)),
    abbreviation(7, FUNCTION, 0, (RANGES, SEC_OFFSET), (NAME, STRING)),
    abbreviation(8, IMPORTED, 0, (IMPORT, REF4)),
    abbreviation(9, FUNCTION, 0, (NAME, INDIRECT)),
    abbreviation(10, UNIT, 1, (RANGES, SEC_OFFSET), (NAME, STRP)),
    abbreviation(11, FUNCTION, 0, (NAME, STRP), (LOW, ADDR), (HIGH, DATA8)),
)) + b"\0"
ROOT = b"\x01unit\0" + HERE_RANGE + struct.pack("<I", 0)
MAIN = b"\x02f\0" + HERE_RANGE


def unit(entries, length=None, version=4):
    body = struct.pack("<HIB", version, 0, 8) + entries
    return struct.pack("<I", len(body) if length is None else length) + body


def line_program(program, line_range=14, quantum=1, length=None, nr_directories=0):
    """Version 4."""
    head = struct.pack("<BBBbBB", quantum, 1, 1, -5, line_range, 13) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    head += b"directory\0" * nr_directories + b"\0" + b"file.c\0\0\0\0" + b"\0"
    body = struct.pack("<HI", 4, len(head)) + head + program
    return struct.pack("<I", len(body) if length is None else length) + body


SET_ADDRESS = b"\0\x09\x02" + struct.pack("<Q", LOOPS)
END_SEQUENCE = b"\0\1\1"
LINES = line_program(SET_ADDRESS + b"\x14" * 50 + END_SEQUENCE)


def file(info=None, lines=LINES, abbreviations=ABBREVIATIONS, packed=(), **others):
    """`others`: sections by the rest of their names; `packed`: which are compressed."""
    def write(path):
        image = Image(NR_LOOPS)
        image.add_symbols(b"\0f\0", symbol(0, 0) + symbol(1, LOOPS, CODE_BYTES))
        sections = {"info": info if info is not None else unit(ROOT + MAIN + b"\0\0"), "abbrev": abbreviations,
                    "line": lines, **others}
        for name, content in sections.items():
            content = content() if callable(content) else content
            if name in packed:
                content = compressed_header(1, len(content)) + zlib.compress(content, 6)
            image.add(f".debug_{name}", PROGBITS, content, flags=COMPRESSED if name in packed else 0)
        return image.write(path)
    return write


def nested(entry, depth):
    return lambda: unit(ROOT + MAIN + entry * depth + b"\0" * (depth + 2))


def origin(target):
    return b"\x04" + struct.pack("<I", target) + HERE_RANGE


def circle():
    """Two functions inlined into each other, for ever."""
    entries = ROOT + MAIN
    first = HEAD_BYTES + len(entries)
    second = first + len(origin(0))
    return unit(entries + origin(second) + origin(first) + b"\0\0\0\0")


def references(code, nr):
    """Each entry leads to the next one, the last to the first."""
    first = HEAD_BYTES + len(ROOT)
    return unit(ROOT + b"".join(bytes([code]) + struct.pack("<I", first + 5 * ((i + 1) % nr)) for i in range(nr)) + b"\0")


def same_ranges(nr):
    """Functions that all have the same list of 60,000 ranges."""
    entries = (b"\x07" + struct.pack("<I", 0) + b"f\0") * nr
    ranges = b"".join(struct.pack("<QQ", LOOPS + i % 512, LOOPS + i % 512 + 1) for i in range(60_000)) + bytes(16)
    return {"info": lambda: unit(ROOT + entries + b"\0"), "ranges": ranges}


def units(nr):
    """All of them have the code that runs."""
    return lambda: unit(ROOT + MAIN + b"\0\0") * nr


def functions(nr):
    return lambda: unit(ROOT + b"".join(b"\x02f%d\0" % i + HERE_RANGE + b"\0" for i in range(nr)) + b"\0")


def many_abbreviations(nr):
    return lambda: b"".join(abbreviation(i + 1, UNIT, 1, *[(NAME, STRING)] * 20) for i in range(nr)) + b"\0"


def ranges_without_end():
    return b"".join(struct.pack("<QQ", LOOPS, LOOPS + 16) for _ in range(500_000))


LINES_5 = struct.pack("<HBBIBBBbBB", 5, 8, 0, 40, 1, 1, 1, -5, 14, 13) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])

FILES = {
    "200000 blocks in each other": file(nested(b"\x03" + HERE_RANGE, 200_000)),
    "100000 functions inlined in each other": file(nested(origin(HEAD_BYTES + len(ROOT)), 100_000)),
    "inlined in a circle": file(circle()),
    "origins in a circle": file(references(5, 1000)),
    "an origin that is itself": file(references(5, 1)),
    "specifications in a circle": file(references(6, 1000)),
    "units that import themselves": file(references(8, 1000)),
    "a chain of 200000 origins": file(lambda: references(5, 200_000)),
    "1000 functions of 60000 ranges": file(**same_ranges(1000)),
    "ranges without end": file(unit(ROOT + b"\x07" + struct.pack("<I", 0) + b"f\0" + b"\0"), ranges=ranges_without_end),
    "20000 units of the same code": file(units(20_000)),
    "100000 functions of the same code": file(functions(100_000)),
    "a form that says to look again": file(unit(ROOT + b"\x09" + b"\x16" * 1_000_000 + b"\x08f\0\0")),
    "100000 abbreviations": file(abbreviations=many_abbreviations(20_000)),
    "abbreviations without end": file(abbreviations=b"\x01\x11\x01" + b"\x03\x08" * 500_000),
    "no abbreviations": file(abbreviations=b""),
    "a unit of 2^31 bytes": file(unit(ROOT, 1 << 31)),
    "a unit of 2^62 bytes": file(struct.pack("<IQ", 0xffffffff, 1 << 62) + unit(ROOT)),
    "units without size": file(bytes(1 << 20)),
    "a version of tomorrow": file(unit(ROOT, version=77)),
    "a million lines": file(lines=lambda: line_program(SET_ADDRESS + b"\x14" * 1_000_000 + END_SEQUENCE)),
    "60 million lines, compressed": file(
        lines=lambda: line_program(SET_ADDRESS + b"\x14" * 60_000_000 + END_SEQUENCE), packed=("line",)),
    "a million sequences": file(lines=lambda: line_program((SET_ADDRESS + b"\x14" + END_SEQUENCE) * 300_000)),
    "lines of a range of 0": file(lines=line_program(SET_ADDRESS + b"\x14" * 1000, line_range=0)),
    "instructions of no bytes": file(lines=line_program(SET_ADDRESS + b"\x14" * 1000, quantum=0)),
    "lines that go back": file(lines=lambda: line_program((SET_ADDRESS + b"\x03\x7f\x02\x80\x80\x80\x80\x10\x01") * 200_000)),
    "numbers without end": file(lines=line_program(SET_ADDRESS + b"\x02" + b"\xff" * 1_000_000)),
    "a million directories": file(lines=lambda: line_program(END_SEQUENCE, nr_directories=300_000)),
    "2^32 files": file(lines=struct.pack("<I", 200) + LINES_5 + b"\x01\x01\x08" + b"\xff\xff\xff\xff\x0f" + b"\0" * 200),
    "lines of 2^31 bytes": file(lines=line_program(END_SEQUENCE, length=1 << 31)),
    "200 MB of entries, compressed": file(lambda: unit(ROOT + MAIN + b"\0" * (200 << 20)), packed=("info",)),
    "strings of 16 MB": file(unit(b"\x0a" + struct.pack("<II", 0, 0) + (
        b"\x0b" + struct.pack("<I", 0) + HERE_RANGE) * 1000 + b"\0"), str=lambda: b"s" * (16 << 20), ranges=bytes(32)),
    "strings past the end": file(unit(b"\x0a" + struct.pack("<II", 0, 0xfffffff0) + b"\0"), str=b"s", ranges=bytes(32)),
}
