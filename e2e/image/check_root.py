#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays out the image's root directory without building an image, twice, and judges what is in it.

    check_root.py path/to/flamelet"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import contents
import host

LAYOUT = os.path.join(TREE, "cmake/image-root.sh")


def lay_out(binary, root):
    """As the build does it. The date is given: nothing else may differ from one time to the next."""
    host.run(LAYOUT, binary, root, seconds=100, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
    return contents.read_directory(root)


def check_reproducibility(one, other):
    faults = [f"{path} differs from one time to the next" for path in {**one.entries, **other.entries}
              if one.entries.get(path) != other.entries.get(path)]
    date = b'"created": "2023-11-14T22:13:20Z"'
    if date not in one.entries[contents.SBOM].content:
        faults.append("the bill of materials is not of the date given")
    return faults


def check_version():
    """The Dockerfile cannot ask CMake."""
    versions = [re.search(pattern, host.read_text(os.path.join(TREE, name))).group(1)
                for name, pattern in (("CMakeLists.txt", r"project\(flamelet VERSION (\S+)"),
                                      ("Dockerfile", r"\nARG VERSION=(\S+)"))]
    return [] if len(set(versions)) == 1 else [f"CMakeLists.txt and Dockerfile disagree: {versions}"]


def check(binary):
    host.require("llvm-strip", "readelf", "dpkg-query")
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        try:
            images = [lay_out(binary, f"{directory}/{name}") for name in ("one", "other")]
            faults = contents.check_sections(f"{directory}/one{contents.PROGRAM}")
        finally:
            # Its directories are read-only to their owner, too.
            subprocess.run(["chmod", "-R", "u+w", directory], check=True)
    print(f"{len(images[0].files())} files, {images[0].size() / 1e6:.1f} MB")
    return faults + contents.check_files(images[0]) + check_reproducibility(*images) + check_version()


if __name__ == "__main__":
    sys.exit(host.judge_anyone(check, sys.argv[1]))
