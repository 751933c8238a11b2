# SPDX-License-Identifier: Apache-2.0
"""Writes the stacks of a load as the interpreter itself sees them.

A load calls note() where it will be busy later. When it has passed through all of its work once, tell() writes what was
noted, and the load repeats its work without notes. Each of its stacks then is one of the noted chains, or the outer part
of one, in the same lines. It works with Python 3.8 and later."""

import dis
import json
import os
import sys
import threading

LOCK = threading.Lock()
CHAINS = set()
IS_NOTING = True
KEYS = ("name", "file", "line", "start_line", "last_line")


def last_line(code):
    return max(line for _, line in dis.findlinestarts(code) if line is not None)


def describe(frame):
    code = frame.f_code
    return (getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno, code.co_firstlineno,
            last_line(code))


def note():
    """Notes the caller's stack, outermost frame first."""
    if not IS_NOTING:
        return
    frame, chain = sys._getframe(1), []
    while frame:
        chain.append(describe(frame))
        frame = frame.f_back
    with LOCK:
        CHAINS.add(tuple(reversed(chain)))


def tell(directory):
    """Ends the notes of this process, and writes them to a file of its own."""
    global IS_NOTING
    IS_NOTING = False
    chains = [[dict(zip(KEYS, frame)) for frame in chain] for chain in CHAINS]
    text = json.dumps({"version": sys.version.split()[0], "chains": chains})
    path = os.path.join(directory, f"{os.getpid()}.json")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(path + ".new", path)
