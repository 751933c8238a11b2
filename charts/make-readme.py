#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what values.yaml says of each value into the chart's README.md and values.schema.json.

    make-readme.py [--check] [CHART]      --check only tells whether they are up to date: exit status 1 if not

values.yaml is read as text: "## Title" begins a section; "# -- text" and the comment lines that follow document the key
below them; a plain comment above a key of the first level is what the section says of it. Every value must be
documented, and known to the schema."""

import json
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = 100  # as tests/lint/check_columns allows in prose
BEGIN, END = "<!-- values: begin -->\n", "<!-- values: end -->\n"
LINE = re.compile(r"(?P<indent> *)(?:(?P<key>[A-Za-z]\w*):(?: (?P<value>.*))?|# ?(?P<comment>.*))$")


class Section:
    def __init__(self, title):
        self.title, self.introduction, self.rows = title, [], []


def fail(message):
    sys.exit(f"make-readme.py: {message}")


def read_values(path):
    """The sections; a row is the path of a value, its default and its documentation."""
    sections, comment, keys = [], [], []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        match = LINE.match(line)
        if line.startswith("## "):
            sections.append(Section(line[3:]))
        elif not line:
            comment = []
        elif not match:
            fail(f"{path}:{number}: neither a comment nor a key")
        elif match["comment"] is not None:
            comment.append(match["comment"])
        else:
            depth = len(match["indent"]) // 2
            keys[depth:] = [match["key"]]
            add_key(sections[-1], keys, match["value"], comment, f"{path}:{number}")
            comment = []
    return sections


def add_key(section, keys, value, comment, where):
    name, text = ".".join(keys), " ".join(comment)
    if text.startswith("-- "):
        if value is None:
            fail(f"{where}: {name} is documented and has no default in its line")
        section.rows.append((name, value, text[3:]))
    elif value is not None:
        fail(f"{where}: {name} is not documented: write a comment that begins with \"# --\"")
    elif text and len(keys) == 1:
        section.introduction.append(f"`{name}`: {text}")


def resolve(schema, node):
    while "$ref" in node:
        target = schema
        for step in node["$ref"].lstrip("#/").split("/"):
            target = target[step]
        node = target
    return node


def find(schema, name):
    """The schema of a value, or None; what a reference leads to is shared."""
    node = schema
    for key in name.split("."):
        node = resolve(schema, node).get("properties", {}).get(key)
        if node is None:
            return None
    return node


def type_of(schema, node):
    node = resolve(schema, node)
    if "enum" in node:
        return ", ".join(f"`{word}`" for word in node["enum"] if word)
    if "minimum" in node and "title" not in node:
        return f"{node['minimum']} to {node['maximum']}"
    kind = node.get("title") or node["type"]
    return kind if isinstance(kind, str) else " or ".join(kind)


def cell(text):
    return text.replace("|", "\\|")


def table(schema, section):
    lines = [f"### {section.title}", ""]
    for text in section.introduction:
        lines += [textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False), ""]
    lines += ["| value | type | default | |", "|---|---|---|---|"]
    for name, value, text in section.rows:
        node = find(schema, name)
        if node is None:
            fail(f"values.schema.json does not know {name}")
        default = "" if value == '""' else f"`{value}`"
        lines.append("| " + " | ".join((f"`{name}`", type_of(schema, node), cell(default), cell(text))) + " |")
    return "\n".join(lines) + "\n"


def describe(schema, sections):
    """Puts the documentation into the schema, where editors show it."""
    for section in sections:
        for name, _, text in section.rows:
            node = find(schema, name)
            node["description"] = text
    return json.dumps(schema, indent=2) + "\n"


def leaves(schema, node, name=""):
    """The paths of all values. A map with a title is one value, whatever it has in it."""
    node = resolve(schema, node)
    properties = node.get("properties")
    if node.get("title") or not properties:
        return [name]
    return [leaf for key, child in properties.items() for leaf in leaves(schema, child, f"{name}.{key}".lstrip("."))]


def check_known(schema, sections):
    """What the schema allows must be documented, but for what a chart that depends on this one gives it."""
    known = {name for section in sections for name, _, _ in section.rows} | {"global", "enabled"}
    for leaf in leaves(schema, schema):
        if leaf not in known:
            fail(f"values.schema.json allows {leaf}, which values.yaml does not have")


def replace_between(text, new, path):
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        fail(f"{path} has no lines {BEGIN.strip()} and {END.strip()}")
    return text[:text.index(BEGIN) + len(BEGIN)] + new + text[text.index(END):]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    chart = arguments[0] if arguments else os.path.join(HERE, "flamelet")
    readme_path, schema_path = os.path.join(chart, "README.md"), os.path.join(chart, "values.schema.json")
    with open(schema_path, encoding="utf-8") as file:
        schema_text = file.read()
    with open(readme_path, encoding="utf-8") as file:
        readme = file.read()
    schema = json.loads(schema_text)
    sections = read_values(os.path.join(chart, "values.yaml"))
    check_known(schema, sections)
    tables = "\n".join(table(schema, section) for section in sections)
    wanted = {readme_path: (readme, replace_between(readme, "\n" + tables + "\n", readme_path)),
              schema_path: (schema_text, describe(schema, sections))}
    stale = [path for path, (old, new) in wanted.items() if old != new]
    if "--check" in sys.argv[1:]:
        if stale:
            fail(f"{', '.join(stale)} not up to date with values.yaml: run charts/make-readme.py")
        return
    for path in stale:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted[path][1])


main()
