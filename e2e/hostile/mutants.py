# SPDX-License-Identifier: Apache-2.0
"""Real programs with something wrong in them, the same for the same seed. The loop of mapper.c stands in their .text, so
that they need not start to be sampled."""

import os
import random
import shutil
import struct

import host
from elf_image import LOOP, NOBITS

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../symbols/programs")
SPAN = 64           # bytes of code that a mutation leaves alone
TASTY = (0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff, 0xfff, 0x1000, 0x7fff, 0x8000, 0xffff, 0x10000, 1 << 20, 1 << 24,
         (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
READ = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".gopclntab", ".data.rel.ro.gopclntab", ".go.module", ".noptrdata",
        ".symtab", ".strtab", ".dynsym", ".dynstr", ".dynamic", ".gnu.hash", ".rela.plt", ".plt", ".debug_info",
        ".debug_abbrev", ".debug_line", ".debug_str", ".debug_rnglists", ".debug_ranges", ".debug_line_str", ".shstrtab",
        ".gnu_debugdata", ".gnu_debuglink", ".note.gnu.build-id", ".note.go.buildid", ".text")


def gcc(*options, source="layers.cpp", compiler="g++"):
    def build(path):
        host.require(compiler)
        host.run(compiler, "-g", "-O2", *options, f"{PROGRAMS}/{source}", "-o", path, seconds=120)
    return build


def go(architecture):
    def build(path):
        host.require("go")
        directory = path + ".go"
        os.makedirs(directory)
        shutil.copy(f"{PROGRAMS}/layers.go", f"{directory}/main.go")
        environment = {**os.environ, "GOARCH": architecture, "CGO_ENABLED": "0", "GO111MODULE": "off",
                       "GOFLAGS": "", "HOME": os.environ.get("HOME", "/root")}
        host.run("go", "build", "-o", path, f"{directory}/main.go", env=environment, seconds=300)
        shutil.rmtree(directory)
    return build


def rust(*options):
    def build(path):
        host.require("rustc")
        host.run("rustc", "-O", "-g", *options, f"{PROGRAMS}/layers.rs", "-o", path, seconds=200)
    return build


def musl(path):
    gcc("-static", source="layers.c", compiler="musl-gcc")(path)


def arm64(path):
    gcc("-static", source="layers.c", compiler="aarch64-linux-gnu-gcc")(path)


def mini(path):
    """With MiniDebugInfo, and nothing else."""
    gcc("-DTWEAK=9")(path)
    host.run("objcopy", "--only-keep-debug", path, path + ".debug")
    host.run("objcopy", "-S", "--keep-symbol=main", "--remove-section", ".comment", path + ".debug", path + ".mini")
    host.run("xz", "--force", path + ".mini")
    host.run("strip", path)
    host.run("objcopy", "--add-section", f".gnu_debugdata={path}.mini.xz", path)
    os.unlink(path + ".debug")
    os.unlink(path + ".mini.xz")


BUILDS = {
    "C": gcc("-DTWEAK=1", source="layers.c", compiler="gcc"),
    "C++": gcc("-DTWEAK=2", "-gz=none"),
    "C++ compressed": gcc("-DTWEAK=3", "-gz=zlib"),
    "C++ without tables": gcc("-DTWEAK=4", "-fno-asynchronous-unwind-tables", "-static"),
    "C++ DWARF 4": gcc("-DTWEAK=5", "-gdwarf-4"),
    "MiniDebugInfo": mini,
    "musl": musl,
    "Go": go("amd64"),
    "Go, arm64": go("arm64"),
    "Rust": rust("-C", "strip=none"),
    "Rust, v0 names": rust("-C", "symbol-mangling-version=v0"),
    "C, arm64": arm64,
}


class Elf:
    """A file in memory, as much of it as a mutation has to know."""

    def __init__(self, content):
        self.content = bytearray(content)
        self.segments_at, self.sections_at = struct.unpack_from("<QQ", content, 32)
        self.nr_segments, _, self.nr_sections, self.names = struct.unpack_from("<HHHH", content, 56)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", content, self.sections_at + 64 * i)
                         for i in range(self.nr_sections)]
        names_at = self.sections[self.names][4]
        self.section_names = [content[names_at + section[0]:].split(b"\0", 1)[0].decode()
                              for section in self.sections]
        # The sections that a profiler reads.
        self.read = [section for section, name in zip(self.sections, self.section_names)
                     if name in READ and section[1] != NOBITS and section[5] > 0]

    def find(self, name):
        return self.sections[self.section_names.index(name)]


def put(elf, at, width, value):
    if 0 <= at and at + width <= len(elf.content):
        elf.content[at:at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def value(random_, elf):
    return random_.choice((random_.choice(TASTY), random_.getrandbits(random_.choice((8, 16, 32, 64))),
                           len(elf.content) + random_.randint(-64, 64), random_.randrange(len(elf.content))))


def header_field(random_, elf):
    at, width = random_.choice(((16, 2), (18, 2), (24, 8), (32, 8), (40, 8), (52, 2), (54, 2), (56, 2), (58, 2), (60, 2),
                                (62, 2)))
    put(elf, at, width, value(random_, elf))


def section_field(random_, elf):
    for _ in range(random_.randint(1, 6)):
        at, width = random_.choice(((0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)))
        put(elf, elf.sections_at + 64 * random_.randrange(max(1, elf.nr_sections)) + at, width, value(random_, elf))


def segment_field(random_, elf):
    at, width = random_.choice(((0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8)))
    put(elf, elf.segments_at + 56 * random_.randrange(max(1, elf.nr_segments)) + at, width, value(random_, elf))


def some_section(random_, elf):
    return random_.choice(elf.read) if elf.read else None


def section_bytes(random_, elf):
    section = some_section(random_, elf)
    if not section:
        return
    for _ in range(random_.choice((1, 4, 16, 256))):
        at = section[4] + min(random_.randrange(section[5]), random_.choice((64, 4096, section[5])))
        put(elf, at, random_.choice((1, 1, 2, 4, 8)), value(random_, elf))


def section_filled(random_, elf):
    section = some_section(random_, elf)
    if section:
        start = section[4] + random_.randrange(section[5])
        end = min(section[4] + section[5], start + random_.choice((16, 256, 1 << 16, 1 << 22)))
        elf.content[start:end] = bytes([random_.choice((0, 0xff, 0x80, 1, 0x41))]) * (end - start)


def section_repeated(random_, elf):
    """A part of a section again and again to its end."""
    section = some_section(random_, elf)
    if not section:
        return
    width = random_.choice((4, 8, 16, 24, 64))
    start = section[4] + random_.randrange(section[5])
    part = bytes(elf.content[start:start + width])
    end = min(section[4] + section[5], start + random_.choice((4096, 1 << 18, 1 << 22)))
    elf.content[start:end] = (part * ((end - start) // max(1, len(part)) + 1))[:end - start]


def sections_swapped(random_, elf):
    """A section's header says what another's does, but for its name."""
    if elf.nr_sections < 2:
        return
    one, other = (elf.sections_at + 64 * random_.randrange(elf.nr_sections) for _ in range(2))
    elf.content[one + 4:one + 64] = elf.content[other + 4:other + 64]


def said_to_be_compressed(random_, elf):
    section = some_section(random_, elf)
    if section and section[5] >= 24:
        put(elf, elf.sections_at + 64 * elf.sections.index(section) + 8, 8, 0x800 | section[2])
        put(elf, section[4], 4, random_.choice((1, 2, 3, 0)))
        put(elf, section[4] + 8, 8, value(random_, elf))
        put(elf, section[4] + 16, 8, 1)


def cut(random_, elf):
    del elf.content[random_.randrange(8192, len(elf.content)):]


def extended(random_, elf):
    elf.content += bytes(random_.choice((1, 4096, 1 << 20)))
    section_field(random_, elf)


MUTATIONS = (header_field, section_field, section_field, segment_field, section_bytes, section_bytes, section_bytes,
             section_bytes, section_filled, section_repeated, sections_swapped, said_to_be_compressed, cut, extended)


class Programs:
    """Built once; what has no compiler here is left out."""

    def __init__(self, directory):
        self.directory = directory
        self.contents = {}
        self.missing = []

    def build(self, kinds):
        for kind in kinds:
            path = f"{self.directory}/program"
            try:
                if kind not in self.contents:
                    BUILDS[kind](path)
                    with open(path, "rb") as file:
                        self.contents[kind] = file.read()
            except host.Skip as skip:
                self.missing.append(f"{kind}: {skip}")

    def mutant(self, kind, seed):
        """Content and where its loop is."""
        random_ = random.Random(f"{kind} {seed}")
        elf = Elf(self.contents[kind])
        at = elf.find(".text")[4] + 63 & ~63
        for _ in range(random_.choice((1, 1, 2, 5))):
            random_.choice(MUTATIONS)(random_, elf)
        if len(elf.content) < at + SPAN:
            elf.content += bytes(at + SPAN - len(elf.content))
        elf.content[at:at + len(LOOP)] = LOOP
        return bytes(elf.content), at

    def write(self, kind, seed, path):
        """Returns what mapper.c needs to run the file."""
        content, at = self.mutant(kind, seed)
        with open(path, "wb") as file:
            file.write(content)
        return path, at, 1, 16
