# SPDX-License-Identifier: Apache-2.0
"""The image that all containers run, and what the names in their samples say; spin.c tells how they come
about. A name is compared with what Kubernetes says, and nothing here knows what the agent says."""

from dataclasses import dataclass
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import host
import image

SOURCE = os.path.join(HERE, "spin.c")
IMAGE = "flamelet.test/e2e:1"
# Frame pointers: the plainest way to unwind. Static: the image holds nothing else but busybox.
COMPILE = ("gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
           "-static", "-Wl,--build-id=sha1")
# The command of a sandbox. Sandboxes use the same image.
PAUSE = ("/bin/busybox", "sleep", "1000000000")

NAME = re.compile(r"spin_([0-9a-f]{16})_([0-9a-f]{32})_([0-9a-f]{16})")
UNKNOWN_ID = 16 * "0"
FNV_OFFSET, FNV_PRIME, FNV_MASK = 0xcbf29ce484222325, 0x100000001b3, 2**64 - 1


def compile_program(path):
    host.run(*COMPILE, SOURCE, "-o", path)


def write_archive(path, busybox, directory):
    """Writes the image to be imported; `directory` is for the program in between."""
    program = f"{directory}/spin"
    compile_program(program)
    image.write_image(path, IMAGE, {"bin/spin": program, "bin/busybox": busybox}, PAUSE)


def digest(namespace, pod, container):
    """Returns the first part of the name of a container's function: 16 hex digits."""
    value = FNV_OFFSET
    for byte in f"{namespace}/{pod}/{container}".encode():
        value = (value ^ byte) * FNV_PRIME & FNV_MASK
    return f"{value:016x}"


@dataclass(frozen=True)
class Identity:
    """A container's identity in the name of its function: `uid` is without dashes, `container_id`
    has its first 16 digits."""
    digest: str
    uid: str
    container_id: str


def identity_of(frames):
    """The identity in a sample's function names, or None."""
    for name in frames:
        match = NAME.fullmatch(name)
        if match:
            return Identity(*match.groups())
    return None


def thread_name(container_digest):
    """Returns the kernel's name of the thread. It identifies samples that have no stack."""
    return f"spin_{container_digest[:10]}"
