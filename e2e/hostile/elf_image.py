# SPDX-License-Identifier: Apache-2.0
"""Makes ELF files that no linker would. All have loops that can be run (mapper.c), from LOOPS on, and one segment that
is the whole file, at address 0."""

import os
import struct

LOOPS = 4096
# push %rbp; mov %rsp,%rbp; mov %rdi,%rcx; 1: dec %rcx; jnz 1b; pop %rbp; ret
LOOP = bytes.fromhex("554889e54889f948ffc975fb5dc3")
STRIDE = 16
X86_64 = 62
NOTHING = b""

PROGBITS, SYMTAB, STRTAB, RELA, HASH, DYNAMIC, NOTE, NOBITS, REL, DYNSYM = 1, 2, 3, 4, 5, 6, 7, 8, 9, 11
GNU_HASH, VERSYM, XINDEX = 0x6ffffff6, 0x6fffffff, 18
WRITE, ALLOC, EXEC, COMPRESSED = 1, 2, 4, 0x800
FUNCTION = 0x12     # global


class Repeat:
    """Bytes again and again, without taking their memory."""

    def __init__(self, data, times):
        self.data, self.times = data, times

    def __len__(self):
        return len(self.data) * self.times

    def write(self, file):
        step = max(1, (1 << 20) // max(1, len(self.data)))
        for done in range(0, self.times, step):
            file.write(self.data * min(step, self.times - done))


class Section:
    def __init__(self, name, kind, data=NOTHING, **fields):
        self.name, self.kind, self.data, self.fields = name, kind, data, fields
        self.offset = self.name_offset = 0

    def header(self):
        get = self.fields.get
        flags = get("flags", 0)
        offset = get("offset", self.offset)
        return struct.pack("<IIQQQQIIQQ", get("name_offset", self.name_offset), get("kind", self.kind), flags,
                           get("addr", offset if flags & ALLOC else 0) & ((1 << 64) - 1), offset,
                           get("size", len(self.data)), get("link", 0), get("info", 0), get("align", 1),
                           get("entsize", 0))


class Image:
    """An ELF file in the making; header fields can be overridden."""

    def __init__(self, nr_loops=1, **header):
        self.nr_loops, self.header_fields = nr_loops, header
        self.sections = [Section("", 0)]
        self.segments = []          # besides the one that is the file
        self.names = bytearray(b"\0")
        self.name_table = None      # the number of the section with the sections' names, if not one of our own
        self.end = LOOPS + (max(1, nr_loops) * STRIDE + 4095 & ~4095)
        self.add(".text", PROGBITS, flags=ALLOC | EXEC, offset=LOOPS, size=nr_loops * STRIDE)

    def add(self, name, kind, data=NOTHING, **fields):
        """Returns the section's number."""
        section = Section(name, kind, data, **fields)
        section.name_offset = len(self.names)
        self.names += name.encode() + b"\0"
        section.offset = self.end
        self.end += len(data) + 15 & ~15
        self.sections.append(section)
        return len(self.sections) - 1

    def add_symbols(self, names, symbols, kind=SYMTAB):
        """`symbols`: packed; `names`: the string table."""
        strings = self.add(".strtab" if kind == SYMTAB else ".dynstr", STRTAB, names)
        return self.add(".symtab" if kind == SYMTAB else ".dynsym", kind, symbols, link=strings, info=1, entsize=24,
                        align=8)

    def header(self, sections_at, nr_sections):
        get = self.header_fields.get
        return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", get("type", 3), get("machine", X86_64), 1, get("entry", 0), get("phoff", 64),
            get("shoff", sections_at), 0, 64, get("phentsize", 56), get("phnum", 1 + len(self.segments)),
            get("shentsize", 64), get("shnum", nr_sections if nr_sections < 0xff00 else 0),
            get("shstrndx", self.name_table))

    def write(self, path, size=None):
        """Returns what mapper.c needs to run it."""
        if self.name_table is None:
            self.name_table = self.add(".shstrtab", STRTAB)
            self.sections[self.name_table].data = bytes(self.names)
            self.end += len(self.names)
        self.end = sections_at = self.end + 63 & ~63
        if len(self.sections) >= 0xff00:
            self.sections[0].fields.update(size=len(self.sections), link=self.name_table)
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, *[size or sections_at] * 2, 4096)
        with open(path, "wb") as file:
            file.write(self.header(sections_at, len(self.sections)) + load + b"".join(self.segments))
            file.seek(LOOPS)
            file.write(LOOP.ljust(STRIDE, b"\x90") * self.nr_loops)
            for section in self.sections:
                file.seek(section.offset)
                if isinstance(section.data, Repeat):
                    section.data.write(file)
                else:
                    file.write(section.data)
            file.seek(sections_at)
            file.write(b"".join(section.header() for section in self.sections))
            file.truncate(max(size or 0, sections_at + 64 * len(self.sections), self.end))
        os.chmod(path, 0o755)
        return path, LOOPS, self.nr_loops, STRIDE


def symbol(name, value, size=STRIDE, info=FUNCTION, section=1):
    return struct.pack("<IBBHQQ", name & 0xffffffff, info, 0, section, value & ((1 << 64) - 1), size & ((1 << 64) - 1))


def segment(kind, offset=0, size=0, address=None, flags=4):
    where = offset if address is None else address
    return struct.pack("<IIQQQQQQ", kind, flags, offset, where, where, size, size, 8)


def uleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def compressed_header(kind, size):
    """The gABI's: 1 is zlib, 2 zstd."""
    return struct.pack("<IIQQ", kind, 0, size, 1)
