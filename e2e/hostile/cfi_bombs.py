# SPDX-License-Identifier: Apache-2.0
"""Unwind tables, of the compiler's and of Go's, that cost more than a program's do."""

import struct
import zlib

from elf_image import (ALLOC, COMPRESSED, LOOPS, PROGBITS, STRIDE, Image, Repeat, compressed_header, segment, symbol, uleb)

UNWIND = 0x70000001
DEBUG, EH = True, False
DEF_CFA_RSP_8 = b"\x0c\x07\x08\x90\x01"
NR_LOOPS = 64


def entry(content):
    content = content.ljust(len(content) + 7 & ~7, b"\0")
    return struct.pack("<I", len(content)) + content + b""


def cie(is_debug, program=DEF_CFA_RSP_8, augmentation=b"zR", data=b"\x01\x1b"):
    head = struct.pack("<IB", 0xffffffff if is_debug else 0, 4 if is_debug else 1)
    if is_debug:
        return entry(head + b"\0" + b"\x08\0" + b"\x01\x78\x10" + program)
    return entry(head + augmentation + b"\0" + b"\x01\x78\x10" + data + program)


def fde(is_debug, position, cie_at, begin, length, program=b""):
    """`position`: the entry's address, of which some pointers are relative."""
    if is_debug:
        return entry(struct.pack("<IQQ", cie_at, begin, length) + program)
    return entry(struct.pack("<IiI", position + 4 - cie_at, begin - (position + 8), length & 0xffffffff) + b"\0" + program)


def table(program, nr=1, is_debug=EH, begin=lambda i: LOOPS, length=lambda i: NR_LOOPS * STRIDE, first=DEF_CFA_RSP_8):
    """A function, given the address of the table, that makes it."""
    def make(at):
        text = bytearray(cie(is_debug, first))
        for i in range(nr):
            position = at + len(text)
            text += fde(is_debug, position, 0 if is_debug else at, begin(i), length(i), program)
        return bytes(text)
    return make


def write(make, is_debug=EH):
    def to(path):
        image = Image(NR_LOOPS)
        name, kind = (".debug_frame", PROGBITS) if is_debug else (".eh_frame", UNWIND)
        data = make(image.end)
        image.add(name, kind, data, flags=0 if is_debug else ALLOC)
        return image.write(path)
    return to


def overlapping(nr_bytes, nr_sections, is_sparse=False):
    """Sections of nothing but CIEs, all in the same bytes."""
    def to(path):
        image = Image(NR_LOOPS)
        one = cie(EH, b"", b"", b"")
        data = b"" if is_sparse else Repeat(one, nr_bytes // len(one))
        first = image.add(".eh_frame", UNWIND, data, flags=ALLOC, size=nr_bytes)
        image.sections += [image.sections[first]] * (nr_sections - 1)
        return image.write(path, 2 * nr_bytes if is_sparse else None)
    return to


def packed(nr_bytes, one, is_old=False):
    """.debug_frame of so many bytes, compressed."""
    def to(path):
        content = zlib.compress(one * (nr_bytes // len(one)), 9)
        image = Image(NR_LOOPS)
        if is_old:
            image.add(".zdebug_frame", PROGBITS, b"ZLIB" + struct.pack(">Q", nr_bytes // len(one) * len(one)) + content)
        else:
            head = compressed_header(1, nr_bytes // len(one) * len(one))
            image.add(".debug_frame", PROGBITS, head + content, flags=COMPRESSED)
        return image.write(path)
    return to


def claimed(nr_bytes, kind=1):
    def to(path):
        image = Image(NR_LOOPS)
        image.add(".debug_frame", PROGBITS, compressed_header(kind, nr_bytes) + zlib.compress(bytes(1 << 20)),
                  flags=COMPRESSED)
        return image.write(path)
    return to


def raw(data, is_debug=EH):
    return write(lambda at: data, is_debug)


def index(path):
    """.eh_frame_hdr that says it has 2^32 - 1 entries."""
    image = Image(NR_LOOPS)
    number = image.add(".eh_frame_hdr", PROGBITS, b"\x01\x1b\x03\x3b" + struct.pack("<iI", 0, 0xffffffff) + bytes(4096),
                       flags=ALLOC)
    image.segments.append(segment(0x6474e550, image.sections[number].offset, 4096 + 12))
    return image.write(path)


def chain(nr):
    """Entries each of which says that the one before is its CIE."""
    def make(at):
        del at
        text = bytearray(cie(EH))
        for _ in range(nr):
            text += entry(struct.pack("<IiI", 24, LOOPS, 16) + b"\0")
        return bytes(text)
    return make


ADVANCES = b"\x41\x0e\x10" * 300_000
REMEMBERS = b"\x0a" * 1_000_000
SKIP_BACK = b"\x0f" + uleb(3) + b"\x2f\xfd\xff"      # DW_CFA_def_cfa_expression: DW_OP_skip -3

CFI = {
    "2^18 CIEs in 12 sections at one place": overlapping(8 << 20, 12),
    "16 KB, sparse: 250 MB of nothing": overlapping(250 << 20, 1, is_sparse=True),
    "sparse: 60 MB of nothing": overlapping(60 << 20, 1, is_sparse=True),
    "sparse: 12 sections of 20 MB": overlapping(20 << 20, 12, is_sparse=True),
    "248 KB, compressed: 250 MB of CIEs": packed(250 << 20, cie(DEBUG, b"")),
    "compressed: 60 MB of CIEs": packed(60 << 20, cie(DEBUG, b"")),
    "compressed the old way": packed(60 << 20, cie(DEBUG, b""), is_old=True),
    "compressed: 250 MB of functions": packed(250 << 20, cie(DEBUG) + fde(DEBUG, 0, 0, LOOPS, 1)),
    "compressed, said to be 2^62 bytes": claimed(1 << 62),
    "compressed, said to be 1 GB": claimed(1 << 30),
    "compressed by zstd": claimed(1 << 20, 2),
    "a function of 300000 rows": write(table(ADVANCES, length=lambda i: 400_000)),
    "30 functions of 300000 rows": write(table(ADVANCES, 30, begin=lambda i: LOOPS + 400_000 * i,
                                               length=lambda i: 400_000)),
    "30 functions of 300000 rows at one place": write(table(ADVANCES, 30, length=lambda i: 400_000)),
    "a million states remembered": write(table(REMEMBERS)),
    "a million states restored": write(table(b"\x0b" * 1_000_000)),
    "300000 functions at one place": write(table(b"", 300_000)),
    "300000 functions, each in the one before": write(table(b"", 300_000, begin=lambda i: LOOPS + i,
                                                            length=lambda i: 700_000 - 2 * i)),
    "300000 functions backwards": write(table(b"", 300_000, begin=lambda i: 4_000_000 - 8 * i, length=lambda i: 16)),
    "functions of 4 GB": write(table(b"\x41\x0e\x10", 1000, length=lambda i: 0xffffffff)),
    "functions without size": write(table(b"\x41\x0e\x10", 100_000, length=lambda i: 0)),
    "expressions that jump back": write(table(SKIP_BACK, 1000)),
    "an expression of a megabyte": write(table(b"\x0f" + uleb(1_000_000) + b"\x96" * 1_000_000)),
    "a CIE's program of a megabyte": write(table(b"", 1000, first=DEF_CFA_RSP_8 + b"\x41\x0e\x10" * 300_000)),
    "entries of 64 bits": raw(struct.pack("<IQ", 0xffffffff, 1 << 62) + bytes(4096)),
    "entries without size": raw(bytes(1 << 20)),
    "lengths past the end": raw(struct.pack("<I", 0x7fffffff) + bytes(4096)),
    "numbers without end": write(table(b"\x0c" + b"\xff" * 1_000_000)),
    "augmentations without end": raw(entry(struct.pack("<IB", 0, 1) + b"z" * (1 << 20))),
    "functions that are each other's CIEs": write(chain(100_000)),
    "an index of 2^32 entries": index,
    "a million words": raw(bytes(range(256)) * 4096),
    "registers that are not there": write(table(b"\x05" + uleb(1 << 60) + uleb(1 << 60), 1000)),
    ".debug_frame of functions": write(table(ADVANCES, 4, DEBUG, length=lambda i: 400_000), DEBUG),
}

GO_MAGICS = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}


def go_header(magic, nr_functions, offsets=(96, 4096, 8192, 12288, 16384), text=LOOPS, nr_files=1, word=8, quantum=1):
    """nfunc, nfile, textStart, then where names, cu, files, pc tables and functions begin."""
    return struct.pack("<IBBBB", magic, 0, 0, quantum, word) + struct.pack(
        "<8Q", nr_functions, nr_files, text, *offsets)


def go_file(table_of, with_module=True):
    def to(path):
        image = Image(NR_LOOPS)
        number = image.add(".gopclntab", PROGBITS, table_of, flags=ALLOC)
        at = image.sections[number].offset
        module = struct.pack("<Q", at) + struct.pack("<QQQ", at, 1 << 40, 1 << 40) * 40
        if with_module:
            image.add(".go.module", PROGBITS, module, flags=ALLOC)
            image.add(".noptrdata", PROGBITS, module, flags=ALLOC)
        image.add_symbols(b"\0runtime.text\0", symbol(0, 0) + symbol(1, LOOPS, NR_LOOPS * STRIDE))
        return image.write(path)
    return to


def go_functions(magic, nr, pcsp, offsets=lambda i: i, name=lambda i: 0):
    """A table of so many functions, whose tables of stack sizes are all the same one."""
    functions_at = 1 << 20
    head = go_header(magic, nr, (96, 4096, 8192, 16384, functions_at))
    index_bytes = b"".join(struct.pack("<II", offsets(i), 8 * (nr + 1)) for i in range(nr)) + struct.pack("<I", 1 << 20)
    function = struct.pack("<IiIIIIIIBBBB", 0, name(0), 0, 0, 1, 1, 1, 0, 0, 0, 0, 0)
    text = head.ljust(16384, b"a") + b"\0" + pcsp
    return text.ljust(functions_at, b"\0") + (index_bytes + bytes(8)).ljust(8 * (nr + 1), b"\0") + function * 4


GO = {
    **{f"{version}: 2^40 functions": go_file(go_header(magic, 1 << 40) + bytes(1 << 16))
       for version, magic in GO_MAGICS.items()},
    "2^31 functions in a megabyte": go_file(go_header(0xfffffff1, 1 << 31) + bytes(1 << 20)),
    "all tables are one": go_file(go_header(0xfffffff1, 1000, (0, 0, 0, 0, 0)) + bytes(1 << 20)),
    "tables past the end": go_file(go_header(0xfffffff1, 1000, (1 << 62,) * 5) + bytes(1 << 16)),
    "words of 3 bytes": go_file(go_header(0xfffffff1, 1000, word=3) + bytes(1 << 16)),
    "instructions of no bytes": go_file(go_header(0xfffffff1, 1000, quantum=0) + bytes(1 << 16)),
    "2^32 files": go_file(go_header(0xfffffff1, 10, nr_files=1 << 32) + bytes(1 << 16)),
    "100000 functions of 600000 sizes": go_file(go_functions(0xfffffff1, 100_000, b"\x02\x01" * 300_000)),
    "100000 functions at one place": go_file(go_functions(0xfffffff1, 100_000, b"\x02\x01\0", lambda i: 1)),
    "100000 functions backwards": go_file(go_functions(0xfffffff1, 100_000, b"\x02\x01\0", lambda i: 200_000 - i)),
    "sizes without end": go_file(go_functions(0xfffffff1, 1000, b"\xff" * 900_000)),
    "names past the end": go_file(go_functions(0xfffffff1, 1000, b"\x02\x01\0", name=lambda i: 0x7fffffff)),
    "names of a megabyte": go_file(go_functions(0xfffffff1, 100_000, b"\x02\x01\0", lambda i: 8 * i)),
    "nothing but 0xff": go_file(struct.pack("<IBBBB", 0xfffffff1, 0, 0, 1, 8) + b"\xff" * (1 << 20)),
    "nothing but 0": go_file(struct.pack("<IBBBB", 0xfffffff1, 0, 0, 1, 8) + bytes(1 << 20), False),
}
