# SPDX-License-Identifier: Apache-2.0
"""Tells what python_lines reads: the line tables of the code objects of this Python's standard library, and the line of
each code unit. compare.py has it run by the Python to be tested.

    PYTHON - EVERY     only each EVERY-th file is compiled
"""
import os
import struct
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
        sys.exit("SKIP: older than 3.8")
    line_format = LNOTAB if version < (3, 10) else LINETABLE if version == (3, 10) else LOCATIONS
    paths = list(sources(sysconfig.get_path("stdlib")))[::int(sys.argv[1])]
    if len(paths) < MIN_FILES:
        sys.exit(f"SKIP: only {len(paths)} sources of this Python's library")

    warnings.simplefilter("ignore")
    for path in paths:
        module = compiled(path)
        for code in codes(module) if module else ():
            table = code.co_lnotab if line_format == LNOTAB else code.co_linetable
            lines = lines_of(code)
            name = f"{path}: {code.co_name}".encode(errors="replace")
            head = struct.pack("=IiIII", line_format, code.co_firstlineno, len(name), len(table), len(lines))
            sys.stdout.buffer.write(head + name + table + lines.tobytes())


main()
