# SPDX-License-Identifier: Apache-2.0
"""ELF files whose headers, sections, symbols and notes are made to hurt."""

import lzma
import struct
import subprocess
import zlib

from elf_image import (ALLOC, COMPRESSED, DYNAMIC, DYNSYM, GNU_HASH, HASH, LOOPS, NOTE, PROGBITS, RELA, STRTAB, SYMTAB,
                       XINDEX, Image, Repeat, Section, compressed_header, segment, symbol)

HUGE = 1 << 62
MANY = 65_530


def many_sections(name_bytes, of=b"a", name=1, kind=PROGBITS, **fields):
    """As many sections as a file may have, all named by one place of a large table."""
    def write(path):
        image = Image()
        image.name_table = image.add(".names", STRTAB, Repeat(of * (4096 // len(of)), name_bytes // 4096))
        section_fields = {"size": 1, "offset": 0, "name_offset": name, **fields}
        image.sections += [Section("", kind, **section_fields)] * (MANY - len(image.sections))
        return image.write(path)
    return write


def claims(**fields):
    """Header fields of a file that is right otherwise."""
    def write(path):
        image = Image(**fields)
        image.add_symbols(b"\0name\0", symbol(0, 0) + symbol(1, LOOPS))
        return image.write(path)
    return write


def symbols(nr, make, names=b"\0f\0", kind=SYMTAB, **fields):
    def write(path):
        image = Image()
        number = image.add_symbols(names, symbol(0, 0, 0, 0, 0) + b"".join(make(i) for i in range(nr)), kind)
        image.sections[number].fields.update(fields)
        return image.write(path)
    return write


def sparse_symbols(path):
    """4 GB of symbols that take no disk."""
    image = Image()
    names = image.add(".strtab", STRTAB, b"\0f\0")
    image.add(".symtab", SYMTAB, b"", offset=1 << 20, size=4 << 30, link=names, entsize=24)
    return image.write(path, 5 << 30)


def section(name, kind, data, **fields):
    def write(path):
        image = Image()
        image.add(name, kind, data, **fields)
        return image.write(path)
    return write


def notes(data):
    def write(path):
        image = Image()
        number = image.add(".note", NOTE, data, flags=ALLOC)
        image.segments.append(segment(4, image.sections[number].offset, len(data)))
        return image.write(path)
    return write


def segments(nr, kind, **fields):
    def write(path):
        image = Image(phoff=16 * 4096)
        image.add(".room", PROGBITS, Repeat(segment(kind, **fields), nr), offset=16 * 4096)
        image.header_fields["phnum"] = min(nr, 0xfffe)
        number = len(image.sections) - 1
        image.header_fields["phoff"] = image.sections[number].offset
        return image.write(path)
    return write


def dynamic(make):
    """A dynamic section, and what it leads to: `make` gets the address of a table of its own."""
    def write(path):
        image = Image()
        room = image.add(".room", PROGBITS, bytes(1 << 16), flags=ALLOC)
        entries, table = make(image.sections[room].offset)
        image.sections[room].data = table
        data = b"".join(struct.pack("<QQ", *entry) for entry in entries) + bytes(16)
        number = image.add(".dynamic", DYNAMIC, data, flags=ALLOC, entsize=16)
        image.segments.append(segment(2, image.sections[number].offset, len(data)))
        return image.write(path)
    return write


def hash_loop(at):
    """A chain of symbols that leads back to its begin."""
    table = struct.pack("<IIIIII", 1, 0xffffffff, 1, 1, 1, 1).ljust(1 << 16, b"\1")
    return [(4, at), (5, at), (6, at), (10, 1 << 20), (11, 24)], table


def gnu_hash_loop(at):
    table = struct.pack("<IIII", 0xffffff, 0, 1 << 20, 31).ljust(1 << 16, b"\2")
    return [(0x6ffffef5, at), (5, at), (6, at), (10, HUGE), (11, 24)], table


def dynamic_loop(at):
    return [(4, HUGE), (5, at), (6, at), (5, HUGE)] * 2000, bytes(1 << 16)


def xz(data, preset=0, **options):
    return lzma.compress(data, preset=preset, **options)


def xz_zeros(nr_bytes):
    packer = lzma.LZMACompressor(preset=0)
    parts = [packer.compress(bytes(1 << 24)) for _ in range(nr_bytes >> 24)]
    return b"".join(parts) + packer.flush()


def zlib_zeros(nr_bytes):
    packer = zlib.compressobj(9)
    parts = [packer.compress(bytes(1 << 24)) for _ in range(nr_bytes >> 24)]
    return b"".join(parts) + packer.flush()


def mini(content):
    """`content()` as MiniDebugInfo, made when it is needed."""
    return lambda path: section(".gnu_debugdata", PROGBITS, content())(path)


def piped(command):
    """Returns the output of a shell command."""
    return subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=True).stdout


def zstd_zeros(nr_bytes):
    return piped(f"head -c {nr_bytes} /dev/zero | zstd -1 -c")


def xz_dictionary():
    """A stream whose decoder wants a dictionary of 1.5 GB."""
    packed = bytearray(piped("head -c 1000000 /dev/zero | xz -c --check=none --lzma2=preset=0,dict=4KiB"))
    # The block's header: size, flags, LZMA2's id, one byte of properties, and padding; then its checksum.
    header = bytearray(packed[12:12 + 4 * (packed[12] + 1)])
    header[header.index(b"\x21\x01") + 2] = 37        # 3 << 29 bytes
    header[-4:] = struct.pack("<I", zlib.crc32(header[:-4]))
    packed[12:12 + len(header)] = header
    return bytes(packed)


def nested_mini():
    """MiniDebugInfo in MiniDebugInfo, ten times."""
    content = b""
    for _ in range(10):
        content = xz(small_elf(content))
    return content


def small_elf(mini_debug):
    names = b"\0.gnu_debugdata\0.shstrtab\0"
    body = bytes(64) + mini_debug
    at = len(body) + len(names) + 7 & ~7
    headers = (bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, 64, len(mini_debug), 0, 0, 1, 0)
               + struct.pack("<IIQQQQIIQQ", 16, 3, 0, 0, len(body), len(names), 0, 0, 1, 0))
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at, 0, 64, 56, 0, 64, 3, 2)
    return (header + mini_debug + names).ljust(at, b"\0") + headers


def debug_link(name, also=()):
    def write(path):
        target = name or path.rsplit("/", 1)[1]
        data = target.encode() + b"\0"
        data = data.ljust(len(data) + 3 & ~3, b"\0") + struct.pack("<I", 0x12345678)
        image = Image()
        image.add(".gnu_debuglink", PROGBITS, data)
        image.add(".gnu_debugaltlink", PROGBITS, target.encode() + b"\0" + bytes(20))
        image.add_symbols(b"\0f\0", symbol(0, 0) + symbol(1, LOOPS))
        for section_name, content in also:
            image.add(section_name, PROGBITS, content)
        return image.write(path)
    return write


def whole_file_symbols(path):
    """The symbol table, its names and the code are the same bytes."""
    image = Image()
    number = image.add_symbols(b"\0f\0", symbol(1, LOOPS))
    image.sections[number].fields.update(offset=0, size=LOOPS, link=number)
    return image.write(path)


def relocations(path):
    """20,000 tables of relocations, each the same megabyte."""
    image = Image()
    image.add(".plt.got", PROGBITS, bytes(4096), flags=ALLOC)
    first = image.add(".rela.plt", RELA, bytes(1 << 20), flags=ALLOC, entsize=24)
    image.sections += [image.sections[first]] * 20_000
    return image.write(path)


def only(nr_bytes):
    """A file that begins like one."""
    def write(path):
        made = claims()(path)
        with open(path, "r+b") as file:
            file.seek(nr_bytes)
            file.write(bytes(LOOPS - nr_bytes))
        return made
    return write


FILES = {
    "65530 sections, 16 MB of names": many_sections(16 << 20),
    "65530 sections, names without debug_": many_sections(16 << 20, b"debug-"),
    "65530 sections named .debug_info": many_sections(4096, b".debug_info\0....", 0, size=4096),
    "65530 sections named .eh_frame": many_sections(4096, b".eh_frame\0......", 0, flags=ALLOC, size=1 << 16),
    "65530 symbol tables": many_sections(4096, b".symtab\0", 0, SYMTAB, size=1 << 16, entsize=24, link=2),
    "65530 sections of notes": many_sections(4096, b".note\0..", 0, NOTE, flags=ALLOC, size=1 << 16),
    "65530 index tables": many_sections(4096, b".x\0.", 0, XINDEX, size=1 << 16, entsize=4),
    "section headers past the end": claims(shoff=HUGE),
    "section headers at the end": claims(shoff=(1 << 64) - 64),
    "section headers are the ELF header": claims(shoff=0, shnum=100),
    "section headers of 1 byte": claims(shentsize=1),
    "section headers without size": claims(shentsize=0),
    "segments without size": claims(phentsize=0),
    "names in no section": claims(shstrndx=0xfff1),
    "segments past the end": claims(phoff=HUGE, phnum=0xfffe),
    "an object file": claims(type=1),
    "a core file": claims(type=4),
    "another machine": claims(machine=183),
    "no machine": claims(machine=0xffff),
    "4096 loads": segments(4096, 1, offset=0, size=1 << 20, address=0),
    "65534 segments": segments(65534, 1, offset=0, size=1 << 20, address=0),
    "4000 segments of unwind tables": segments(4000, 0x6474e550, offset=LOOPS, size=1 << 16),
    "4000 dynamic segments": segments(4000, 2, offset=LOOPS, size=1 << 16),
    "4000 segments of notes": segments(4000, 4, offset=LOOPS, size=1 << 16),
    "4 GB of symbols in a sparse file": sparse_symbols,
    "2^58 symbols": symbols(1, lambda i: symbol(1, LOOPS), size=24 << 58),
    "symbols of 1 byte": symbols(1000, lambda i: symbol(1, LOOPS), entsize=1),
    "symbols without size of an entry": symbols(1000, lambda i: symbol(1, LOOPS), entsize=0),
    "symbols named by themselves": whole_file_symbols,
    "300000 symbols at one address": symbols(300_000, lambda i: symbol(1, LOOPS)),
    "300000 symbols of 4 GB": symbols(300_000, lambda i: symbol(1, LOOPS - i % 4096, 4 << 30)),
    "300000 symbols, each in the one before": symbols(300_000, lambda i: symbol(1, i, 600_000 - 2 * i)),
    "300000 symbols backwards": symbols(300_000, lambda i: symbol(1, (300_000 - i) * 16, 32)),
    "300000 labels without size": symbols(300_000, lambda i: symbol(1, LOOPS + i % 16, 0, 0)),
    "symbols at the end of memory": symbols(1000, lambda i: symbol(1, -i, HUGE)),
    "symbols of sections that are not there": symbols(100_000, lambda i: symbol(1, LOOPS, 16, 0x12, 0xff00 + i % 255)),
    "indirect functions": symbols(100_000, lambda i: symbol(1, LOOPS, 16, 0x1a)),
    "names past their table": symbols(100_000, lambda i: symbol(0xfffffff0 + i % 16, LOOPS + i % 16)),
    "dynamic symbols, 300000": symbols(300_000, lambda i: symbol(1, LOOPS + i, 1), kind=DYNSYM),
    "a hash table that loops": dynamic(hash_loop),
    "a GNU hash table that loops": dynamic(gnu_hash_loop),
    "8000 dynamic entries": dynamic(dynamic_loop),
    "a hash section of 2^32 buckets": section(".hash", HASH, b"\xff" * 4096),
    "a GNU hash section of 2^32 buckets": section(".gnu.hash", GNU_HASH, b"\xff" * 4096),
    "notes without size": notes(bytes(65536)),
    "a note of 4 GB": notes(struct.pack("<III", 0xffffffff, 0xffffffff, 3) + b"GNU\0"),
    "5000 build ids": notes(struct.pack("<III", 4, 0, 3) + b"GNU\0" + (struct.pack("<III", 4, 0, 3) + b"GNU\0") * 4000),
    "20000 tables of relocations": relocations,
    "MiniDebugInfo of a gigabyte of zeros": mini(lambda: xz_zeros(1 << 30)),
    "MiniDebugInfo with a dictionary of 1.5 GB": mini(xz_dictionary),
    "MiniDebugInfo in MiniDebugInfo": mini(nested_mini),
    "MiniDebugInfo cut off": mini(lambda: xz(bytes(1 << 24))[:-30]),
    "MiniDebugInfo of a thousand streams": mini(lambda: xz(b"") * 1000),
    "a debug link to itself": debug_link(None),
    "a debug link upwards": debug_link("../" * 1000 + "etc/shadow"),
    "a debug link to a device": debug_link("/dev/zero"),
    "a debug link without end": debug_link("a" * (1 << 20)),
    "debug information of zlib's zeros": lambda path: section(
        ".debug_info", PROGBITS, compressed_header(1, 1 << 30) + zlib_zeros(1 << 30), flags=COMPRESSED)(path),
    "debug information of zstd's zeros": lambda path: section(
        ".debug_info", PROGBITS, compressed_header(2, 1 << 30) + zstd_zeros(1 << 30), flags=COMPRESSED)(path),
    "compressed, 2^62 bytes": section(".debug_info", PROGBITS, compressed_header(1, HUGE) + b"x" * 100, flags=COMPRESSED),
    "compressed by nobody knows what": section(".debug_line", PROGBITS, compressed_header(99, 1 << 20) + bytes(100),
                                               flags=COMPRESSED),
    "a header of 52 bytes": only(52),
    "a header alone": only(64),
}
