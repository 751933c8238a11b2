# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels, without installing their packages, and what they need to reach this machine's files. The
cache has a directory for each: `kernel`, `version`, `busybox` and `modules/`, whose names are in the order of
loading. It is filled once; who wants a newer kernel removes it."""

import fcntl
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass

import debian_packages
import host

# The smaller cloud kernels have no 9p. What is built in is no module.
MODULES = ("virtio_pci", "virtio_net", "9pnet_virtio", "9p", "overlay", "bridge", "veth")
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
# linux-image-amd64 needs the kernel's package, and that, since Linux 7, those of its two parts.
IMAGE, PART = re.compile(r"linux-image-\d"), re.compile(r"linux-(binary|modules)-\d")
# The header of an x86 kernel: Documentation/arch/x86/boot.rst.
SECTOR, SETUP_SECTORS, SIGNATURE, PAYLOAD = 512, 0x1F1, 0x202, 0x248
# First bytes of the payload; its last four are its size.
UNPACKERS = {
    b"\xfd7zXZ\0": lambda data: lzma.LZMADecompressor().decompress(data),
    b"\x1f\x8b": lambda data: zlib.decompressobj(wbits=31).decompress(data),
    b"\x28\xb5\x2f\xfd": lambda data: filtered(["zstd", "-dc"], data[:-4]),
    b"\x02\x21\x4c\x18": lambda data: filtered(["lz4", "-dc"], data[:-4]),
}


@dataclass(frozen=True)
class Kernel:
    """A suite's kernel; `series` is what its version begins with today, for who has to wait for it."""
    series: str
    suite: str
    architecture: str = "amd64"

    def directory(self):
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return os.path.join(cache, "flamelet", f"kernel-{self.suite}-{self.architecture}")


BOOKWORM = Kernel("6.1", "bookworm")


def filtered(command, data):
    host.require(command[0])
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True, timeout=60).stdout


def unpacked(data):
    """The data as it was before it was compressed, where it is."""
    for magic, unpack in UNPACKERS.items():
        if data.startswith(magic):
            return unpack(data)
    return data


def read(path):
    with open(path, "rb") as file:
        return file.read()


def executable_kernel(image):
    """The ELF file in an x86 kernel, which qemu starts at once; the guest would need seconds to unpack it. Other
    architectures' kernels are as they must be."""
    if image[SIGNATURE:SIGNATURE + 4] != b"HdrS":
        return image
    start, length = struct.unpack_from("<II", image, PAYLOAD)
    start += (image[SETUP_SECTORS] + 1) * SECTOR
    return unpacked(image[start:start + length])


class Modules:
    """The modules of a kernel, uncompressed, by their names for modprobe(8)."""

    def __init__(self, directory):
        self.paths = {os.path.basename(path).split(".ko")[0].replace("-", "_"): path
                      for path in glob.glob(f"{directory}/kernel/**/*.ko*", recursive=True)}

    def content(self, name):
        return unpacked(read(self.paths[name]))

    def ordered(self, wanted):
        """{name: content}, each behind those it depends on. What is built in is left out."""
        found = {}

        def add(name):
            name = name.replace("-", "_")
            if name not in self.paths or name in found:
                return
            content = self.content(name)
            depends = DEPENDS.search(content)
            for needed in depends.group(1).decode().split(",") if depends else ():
                add(needed)
            found[name] = content

        for name in wanted:
            add(name)
        return found


def package_names(packages, architecture):
    meta = f"linux-image-{architecture}"
    images = [name for name in packages.dependencies(meta) if IMAGE.match(name)]
    if not images:
        raise host.Skip(f"Debian's {packages.suite} has no {meta}")
    return images[:1] + [name for name in packages.dependencies(images[0]) if PART.match(name)]


def find(root, *patterns):
    return next(path for pattern in patterns for path in glob.glob(f"{root}/{pattern}"))


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def fill(kernel, directory):
    os.makedirs(f"{directory}/modules")
    with tempfile.TemporaryDirectory(prefix="flamelet-build-") as work:
        packages = debian_packages.Packages(work, kernel.suite, kernel.architecture)
        root = f"{work}/root"
        packages.unpack(package_names(packages, kernel.architecture) + ["busybox-static"], root)
        image = find(root, "boot/vmlinu[xz]-*", "usr/lib/modules/*/vmlinuz")
        modules = find(root, "lib/modules/*", "usr/lib/modules/*")
        write(f"{directory}/kernel", executable_kernel(read(image)))
        write(f"{directory}/version", os.path.basename(modules).encode())
        shutil.copy(find(root, "bin/busybox", "usr/bin/busybox"), directory)
        for number, (name, content) in enumerate(Modules(modules).ordered(MODULES).items()):
            write(f"{directory}/modules/{number:02}-{name}.ko", content)


def fill_anew(kernel):
    """Removes the directory, and what a killed run left behind."""
    unfinished = f"{kernel.directory()}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        fill(kernel, unfinished)
        os.rename(unfinished, kernel.directory())
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def fetch(kernel):
    """Returns the kernel's directory, filled now if need be; SKIP where it cannot be had."""
    directory = kernel.directory()
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(directory):
            fill_anew(kernel)
    return directory
