# SPDX-License-Identifier: Apache-2.0
"""A cgroup that counts the memory of what runs in it, page cache included, as the limit of a pod does."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e/local"))

# pylint: disable=wrong-import-position
import host

# The figures to print: version 2's file or line of memory.stat, and version 1's.
FILES = {"peak": ("memory.peak", "memory.max_usage_in_bytes"), "now": ("memory.current", "memory.usage_in_bytes")}
LINES = {"anon": ("anon", "rss"), "file": ("file", "cache"), "kernel": ("kernel", None)}
KERNEL_V1 = "memory.kmem.usage_in_bytes"


def find_parent():
    """Returns the mount point of the memory controller, and whether it is of version 1."""
    v1, v2 = host.cgroup_mounts()
    for mount in v1:
        if os.path.exists(f"{mount}/memory.usage_in_bytes"):
            return mount, True
    with open(f"{v2}/cgroup.subtree_control", "w", encoding="ascii") as control:
        control.write("+memory")
    return v2, False


def read_bytes(path):
    """MB; None where this kernel does not count it."""
    try:
        return int(host.read_text(path)) / 2**20
    except (OSError, ValueError):
        return None


class MemoryCgroup:
    def __init__(self, name):
        parent, self.is_v1 = find_parent()
        self.path = f"{parent}/{name}-{os.getpid()}"

    def __enter__(self):
        os.mkdir(self.path)
        return self

    def __exit__(self, *_):
        host.kill_cgroup(self.path)
        host.remove_cgroup(self.path)

    def enter(self):
        """Of the process that calls it."""
        with open(f"{self.path}/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write("0")

    def read(self):
        """MB, by what it is; what the kernel does not count is left out."""
        stat = dict(line.split() for line in host.read_text(f"{self.path}/memory.stat").splitlines())
        found = {key: read_bytes(f"{self.path}/{names[self.is_v1]}") for key, names in FILES.items()}
        found |= {key: int(stat[names[self.is_v1]]) / 2**20 for key, names in LINES.items()
                  if names[self.is_v1] in stat}
        if self.is_v1:
            found["kernel"] = read_bytes(f"{self.path}/{KERNEL_V1}")
        return {key: value for key, value in found.items() if value is not None}
