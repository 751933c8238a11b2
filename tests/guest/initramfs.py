# SPDX-License-Identifier: Apache-2.0
"""Writes the archive that the guest's kernel starts from: cpio in its "newc" form, whose headers are
numbers of eight hex digits; names and contents are padded to four bytes."""

import os
import pathlib

DIRECTORY, PROGRAM, FILE, LINK = 0o040755, 0o100755, 0o100644, 0o120777
DIRECTORIES = ("bin", "dev", "host", "modules", "proc", "root", "sys")
APPLETS = ("cp", "insmod", "ln", "mkdir", "mount", "sh", "switch_root", "tr")
END = "TRAILER!!!"


def padded(data):
    return data + bytes(-len(data) % 4)


def entry(number, name, mode, data=b""):
    text = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(text), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    return padded(header + text) + padded(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def copies(files):
    """Files below root/, each with the directories above it."""
    above = sorted({str(parent) for path in files for parent in pathlib.PurePath(path).parents if parent.name})
    return ([(f"root{path}", DIRECTORY) for path in above] +
            [(f"root{place}", PROGRAM, read(path)) for place, path in files.items()])


def write(path, init, kernel, files):
    """`init` is the script that runs first, `kernel` a directory of debian_kernel.py, `files` are paths of this
    machine's by their places in the guest."""
    modules = sorted(os.listdir(f"{kernel}/modules"))
    entries = [(name, DIRECTORY) for name in DIRECTORIES]
    entries += [("init", PROGRAM, read(init)), ("bin/busybox", PROGRAM, read(f"{kernel}/busybox"))]
    entries += [(f"bin/{name}", LINK, b"busybox") for name in APPLETS]
    entries += [(f"modules/{name}", FILE, read(f"{kernel}/modules/{name}")) for name in modules]
    entries += copies(files)
    entries.append((END, 0))
    archive = b"".join(entry(number, *each) for number, each in enumerate(entries, 1))
    with open(path, "wb") as file:
        file.write(archive)
