# SPDX-License-Identifier: Apache-2.0
"""Finds C sources, and reads their text without comments and literals, for the checks."""

import pathlib
import re
import sys

# A comment, a string or a character constant.
TOKENS = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.DOTALL | re.VERBOSE
)


def files(root, *suffixes):
    """All files with one of the suffixes, build directories, npm packages and hidden ones left out."""
    for path in sorted(pathlib.Path(root).rglob("*")):
        parts = path.relative_to(root).parts
        if parts[0].startswith("build") or any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        if path.is_file() and path.name.endswith(suffixes):
            yield path


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """The text with comments blanked and literals emptied; lines and columns stay as they are."""

    def replace(match):
        token = match.group()
        if token[0] == "/":
            return _blank(token)
        return token[0] + _blank(token[1:-1]) + token[-1]

    return TOKENS.sub(replace, text)


def comments_of(text):
    """(offset, text) of each comment."""
    return [(m.start(), m.group()) for m in TOKENS.finditer(text) if m.group()[0] == "/"]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(check, problems, summary):
    """Prints problems as `path:line: text` and exits."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{check}: {len(problems)} problem(s)")
        sys.exit(1)
    print(f"{check}: {summary}")
    sys.exit(0)
