# SPDX-License-Identifier: Apache-2.0
"""A session as a document shows it: prompts, commands, and what they print.

    $ make cluster                  a command for this machine's shell, in the tree's root
    sandbox# helm install …         one for the shell that `sandbox.py shell` opens

A line that ends in a backslash goes on in the next one. In what a command prints, any number stands for any number,
any space for any spaces, … for anything in a line, and a line of that alone for any lines, or none. Lines that begin
with a share (12.3%) may be in any order. All else is compared literally."""

from dataclasses import dataclass, field
import re

BEGIN, END = "```console\n", "```\n"
PROMPTS = {"$ ": False, "sandbox# ": True}
TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<space>[ \t]+)|(?P<any>…)")
PATTERNS = {"number": r"\d+(?:\.\d+)?", "space": r"[ \t]+", "any": r".*?"}
ANY_LINES = "…"
SHARE = re.compile(r" *\d+\.\d+%")


def pattern_of(text):
    parts, at = [], 0
    for match in TOKEN.finditer(text):
        parts += [re.escape(text[at:match.start()]), PATTERNS[match.lastgroup]]
        at = match.end()
    return "".join(parts) + re.escape(text[at:])


@dataclass
class Step:
    command: str
    is_inside: bool
    lines: list = field(default_factory=list)

    def matches(self, output):
        """Returns whether it is all that the document shows. Blanks at the ends of lines do not
        count."""
        came = [line.strip() for line in output.strip().splitlines()]
        rows = [pattern_of(line.strip()) for line in self.lines if SHARE.match(line)]
        pattern = "".join(r"(?:.*\n)*?" if line == ANY_LINES or SHARE.match(line) else
                          pattern_of(line.strip()) + r"\n" for line in self.lines)
        return (re.fullmatch(pattern, "".join(line + "\n" for line in came)) is not None and
                all(any(re.fullmatch(row, line) for line in came) for row in rows))


def prompt_of(line):
    return next((prompt for prompt in PROMPTS if line.startswith(prompt)), None)


def parse(lines):
    steps = []
    for line in lines:
        prompt = prompt_of(line)
        if prompt:
            steps.append(Step(line.removeprefix(prompt), PROMPTS[prompt]))
        elif steps[-1].command.endswith("\\") and not steps[-1].lines:
            steps[-1].command = steps[-1].command[:-1].rstrip() + " " + line.strip()
        else:
            steps[-1].lines.append(line)
    return steps


def read(path):
    """The steps of all sessions in a document, in their order."""
    with open(path, encoding="utf-8") as document:
        blocks = document.read().split(BEGIN)[1:]
    return [step for block in blocks for step in parse(block.partition(END)[0].splitlines())]
