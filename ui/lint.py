#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tsc and eslint on the viewer. Their packages (package-lock.json) come from the npm registry at the first run, and
are kept in the directory that tests/runtime/fetch.py uses; nothing is written into the tree.

usage: ui/lint.py
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e/local"), str(HERE.parent / "tests/runtime")]

# pylint: disable=wrong-import-position
import fetch
import host

CONFIGURATION = ("package.json", "package-lock.json", "tsconfig.json", "eslint.config.js")
COMMANDS = (("tsc", "--noEmit"), ("eslint", "--max-warnings", "0", "src", "test"))


def packages():
    """Returns the directory of the packages. Raises host.Skip if it cannot be had."""
    host.require("node", "npm")

    def make(path):
        os.mkdir(path)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, path)
        host.run("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", path, cwd="/",
                 seconds=fetch.SECONDS)

    digest = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:12]
    return pathlib.Path(fetch.kept(f"ui-{digest}", make)) / "node_modules"


def check():
    modules = packages()
    faults = []
    if "dependencies" in json.loads((HERE / "package.json").read_text()):
        faults.append("a package in the page needs its licence in the image and the bill of materials")
    with tempfile.TemporaryDirectory() as directory:
        for name in ("src", "test"):
            shutil.copytree(HERE / name, f"{directory}/{name}")
        for name in CONFIGURATION:
            shutil.copy(HERE / name, directory)
        os.symlink(modules, f"{directory}/node_modules")
        for program, *arguments in COMMANDS:
            done = subprocess.run([f"{modules}/.bin/{program}", *arguments], cwd=directory, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                faults.append(f"{program}:\n{done.stdout}".replace(directory, "ui"))
    return faults


sys.exit(host.judge_anyone(check))
