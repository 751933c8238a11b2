# SPDX-License-Identifier: Apache-2.0
"""Call frame information as readelf(1) reads it.

readelf makes rows of it (--debug-dump=frames-interp) but says no more than "exp" where there is an expression.
Those are in its other listing (--debug-dump=frames), instruction by instruction; of that one only the
expressions are followed here."""
import dataclasses
import re
import subprocess

ENTRY = re.compile(r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)(.*)")
PC = re.compile(r"cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
AUGMENTATION = re.compile(r'"(.*?)"')
SECTION = re.compile(r"Contents of the (\S+) section")
INSTRUCTION = re.compile(r" +DW_CFA_(\w+):? *(?:r\d+ \((\w+)\))?(.*)")
OPERATION = re.compile(r"DW_OP_(\w+?)(\d*)(?: \(\w+\))?(?:: (-?\w+))?$")


@dataclasses.dataclass
class Row:
    start: int
    cfa: str
    places: dict  # by register
    expressions: dict = dataclasses.field(default_factory=dict)  # by register, or "cfa"


@dataclasses.dataclass
class Function:
    section: str
    offset: str  # of its entry
    start: int
    end: int
    is_signal: bool
    cie: str
    rows: list
    is_unlike_others: bool = False  # of Go


def readelf(path, *options):
    """It fails when it misses a separate debug file."""
    done = subprocess.run(["readelf", "-W", *options, path], check=False, capture_output=True, text=True, errors="replace")
    return done.stdout.splitlines()


def entries(lines):
    """(section, offset, kind, description, lines) of each entry."""
    section, found, body = "", None, []
    for line in lines:
        match = ENTRY.match(line)
        if not match:
            is_new = SECTION.match(line)
            section = is_new[1] if is_new else section
            body.append(line)
            continue
        if found:
            yield *found, body
        found, body = (section, match[1], match[2], match[3]), []
    if found:
        yield *found, body


def parse_rows(machine, lines):
    """The last row of each address counts."""
    rows, heads = {}, []
    for line in lines:
        field = re.sub(r"r\d+ \((\w+)\)", r"\1", line).split()
        if field and field[0] == "LOC":
            heads = [machine.names.get(name, name) for name in field[2:]]
        elif heads and len(field) == len(heads) + 2:
            rows[int(field[0], 16)] = Row(int(field[0], 16), field[1], dict(zip(heads, field[2:])))
    return list(rows.values())


def load_functions(machine, path):
    """All functions; one whose entry says nothing has the row of its CIE."""
    signals, initial, functions = {}, {}, []
    for section, offset, kind, description, lines in entries(readelf(path, "--debug-dump=frames-interp")):
        rows = parse_rows(machine, lines)
        if kind == "CIE":
            signals[section, offset] = "S" in AUGMENTATION.search(description)[1]
            initial[section, offset] = rows
            continue
        cie, start, end = PC.search(description).groups()
        start, end = int(start, 16), int(end, 16)
        rows = [row for row in rows if row.start < end] or [
            Row(start, row.cfa, row.places) for row in initial[section, cie]
        ]
        if start < end:
            functions.append(Function(section, offset, start, end, signals[section, cie], cie, rows))
    add_instructions(machine, path, functions)
    return functions


def has_expression(function):
    return any("exp" in (row.cfa, *row.places.values()) for row in function.rows)


def follow_instructions(machine, lines, known, place):
    """{address: {register: expression, or "undefined"}}, where it changes or may do so."""
    known, remembered, found = dict(known), [], {}
    for line in lines:
        match = INSTRUCTION.match(line)
        if not match:
            continue
        operation, register, rest = match.groups()
        target = re.search(r"(?:to |: )([0-9a-f]+)$", line)
        if operation.startswith(("advance_loc", "set_loc")):
            found[place] = dict(known)
            place = int(target[1], 16)
        elif operation == "remember_state":
            remembered.append(dict(known))
        elif operation == "restore_state":
            known = remembered.pop()
        elif operation.startswith("def_cfa"):
            known["cfa"] = rest.strip()
        elif register:
            known[machine.names.get(register, register)] = operation if operation == "undefined" else rest.strip()
    found[place] = dict(known)
    return found


def set_return_address(machine, row, found):
    """Without a place it is in a register, or there is none."""
    if row.places.get("ra", "u") in ("u", "s"):
        row.places["ra"] = "u" if found.get("ra") == "undefined" else machine.return_register


def add_instructions(machine, path, functions):
    wanted = {(function.section, function.offset): function for function in functions}
    initial = {}
    for section, offset, kind, _, lines in entries(readelf(path, "--debug-dump=frames")):
        function = wanted.get((section, offset))
        if kind == "CIE":
            initial[section, offset] = follow_instructions(machine, lines, {}, 0)[0]
        elif function and (has_expression(function) or "undefined" in "".join(lines)):
            found = follow_instructions(machine, lines, initial[section, function.cie], function.start)
            for row in function.rows:
                row.expressions = {name: text[1:-1] for name, text in found[row.start].items() if text[:1] == "("}
                set_return_address(machine, row, found[row.start])
        elif function:
            for row in function.rows:
                set_return_address(machine, row, {})


def remembered_word(address):
    """Returns a word of the machine's memory."""
    return (address * 0x9E3779B97F4A7C15 >> 5) & 0x7FFFFFFFFFF8


def start_values(machine, pc):
    """Values of the registers, all different."""
    values = {name: 0x10000000000 * (i + 1) + 0x1238 * i for i, name in enumerate(machine.numbers)}
    values["ra"] = pc
    return values


def evaluate(machine, expression, registers, stack=()):
    """Evaluates a DWARF expression on a machine with these registers. Returns None if it has
    unknown operations."""
    stack = list(stack)
    binary = {
        "plus": lambda a, b: a + b,
        "minus": lambda a, b: a - b,
        "and": lambda a, b: a & b,
        "ge": lambda a, b: int(a >= b),
        "shl": lambda a, b: a << b,
        "mul": lambda a, b: a * b,
    }
    for text in expression.split("; "):
        name, number, operand = OPERATION.match(text).groups()
        if name == "breg":
            stack.append(registers[machine.numbers[int(number)]] + int(operand))
        elif name == "lit":
            stack.append(int(number))
        elif name.startswith("const"):
            stack.append(int(operand))
        elif name == "plus_uconst":
            stack.append(stack.pop() + int(operand))
        elif name == "deref":
            stack.append(remembered_word(stack.pop()))
        elif name in binary:
            upper = stack.pop()
            stack.append(binary[name](stack.pop(), upper))
        else:
            return None
    return stack[-1]
