#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lines of the code objects of a Python's standard library with what that Python says: co_lines() from
3.10 on, PyCode_Addr2Line() before. Each code unit is compared.

    PYTHON compare_lines.py PYTHON_LINES [EVERY]

PYTHON is the one to be tested, 3.8 or later. EVERY: only each EVERY-th file is compiled.
"""
import os
import struct
import subprocess
import sys
import sysconfig
import warnings

from code_lines import MIN_VERSION, codes, lines_of

MIN_FILES = 50
LNOTAB, LINETABLE, LOCATIONS = range(3)  # enum cpython_lines


def sources(directory):
    for parent, directories, files in os.walk(directory):
        directories[:] = sorted(d for d in directories if d not in ("site-packages", "dist-packages", "__pycache__"))
        yield from (os.path.join(parent, name) for name in sorted(files) if name.endswith(".py"))


def compiled(path):
    """None if the file is no valid source, as some of the tests' data are not."""
    try:
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def main():
    version = sys.version_info[:2]
    if version < MIN_VERSION:
        print("SKIP: older than 3.8")
        sys.exit(77)
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    line_format = LNOTAB if version < (3, 10) else LINETABLE if version == (3, 10) else LOCATIONS
    paths = list(sources(sysconfig.get_path("stdlib")))[::every]
    if len(paths) < MIN_FILES:
        print(f"SKIP: only {len(paths)} sources of this Python's library")
        sys.exit(77)

    warnings.simplefilter("ignore")
    program = subprocess.Popen(sys.argv[1], stdin=subprocess.PIPE)
    for path in paths:
        module = compiled(path)
        for code in codes(module) if module else ():
            table = code.co_lnotab if line_format == LNOTAB else code.co_linetable
            lines = lines_of(code)
            name = f"{path}: {code.co_name}".encode(errors="replace")
            program.stdin.write(struct.pack("=IiIII", line_format, code.co_firstlineno, len(name), len(table),
                                            len(lines)) + name + table + lines.tobytes())
    program.stdin.close()
    print(f"Python {sys.version.split()[0]}, {len(paths)} files", flush=True)
    sys.exit(program.wait())


main()
