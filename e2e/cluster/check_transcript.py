#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does transcript.py see where a command prints something else than the document shows?"""

import sys

import transcript

DOCUMENT = r"""$ make all
$ list --long \
      --all
NAME   AGE
web    3s
…
end
sandbox# top web
 50.0%  first
 25.0%  second
…
"""
# (step, what it printed, whether that is what the document shows)
CASES = (
    (0, "", True),
    (0, "warning\n", False),
    (1, "NAME  AGE\nweb   17s  \nend\n", True),
    (1, "NAME  AGE\nweb   17s\nmore\n\nand more\nend\n", True),
    (1, "NAME  AGE\nweb   xs\nend\n", False),
    (1, "NAME  AGE\nend\n", False),
    (1, "NAME  AGE\nweb   17s\n", False),
    (1, "warning\nNAME  AGE\nweb   17s\nend\n", False),
    (2, " 61.5%  second\n 38.5%  first\n", True),
    (2, " 61.5%  second\n  8.5%  first\n  1.0%  third\n", True),
    (2, " 61.5%  second\n", False),
    (2, "", False),
)


def main():
    steps = transcript.parse(DOCUMENT.splitlines())
    commands = [(step.command, step.is_inside) for step in steps]
    wanted = [("make all", False), ("list --long --all", False), ("top web", True)]
    faults = [] if commands == wanted else [f"commands are {commands}"]
    faults += [f"{output!r} is{' not' if is_same else ''} taken for what step {number} shows"
               for number, output, is_same in CASES if steps[number].matches(output) != is_same]
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
