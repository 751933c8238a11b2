# SPDX-License-Identifier: Apache-2.0
"""Names of functions that cost those who read them more than they are worth."""

from elf_image import DYNSYM, LOOPS, STRIDE, SYMTAB, Image, Repeat, symbol

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RUST_FOR = "_RC1aIC1aFGzzzzzzzzzz_EuE"      # 62^10 lifetimes of a `for`, none of which prints anything


def base36(number):
    text = ""
    while True:
        text = DIGITS[number % 36] + text
        number //= 36
        if not number:
            return text


def substitution(index):
    return "S_" if index == 0 else f"S{base36(index - 1)}_"


def pack(depth, word="1a"):
    """A C++ name with a pack expansion over types that are each twice the one before: whoever looks for the pack
    visits 2^depth of them."""
    kind = word
    for level in range(1, depth + 1):
        kind = f"1bI{kind}{substitution(depth + level)}E"
    return f"_Z1fIDp{kind}Evv"


def doubling(depth):
    """A C++ name whose text doubles with each parameter."""
    return "_Z1fI1aE" + "".join(f"1bI{substitution(max(0, 2 * i))}{substitution(max(0, 2 * i))}E" for i in range(depth))


def rust_doubling(depth):
    """Tuples of two references to the tuple before."""
    text, last = "_RIC1aTuuE", len("IC1a")
    for _ in range(depth):
        begin = len(text) - 2
        back = f"B{rust_number(last)}"
        text += f"T{back}{back}E"
        last = begin
    return text + "E"


def rust_number(value):
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if value == 0:
        return "_"
    value, text = value - 1, ""
    while True:
        text = digits[value % 62] + text
        value //= 62
        if not value:
            return text + "_"


def d_doubling(depth):
    """D's tuples of back references."""
    text = "_D1aFi"
    for _ in range(depth):
        text += "DFQbQdZv"
    return text + "Z"


# name: the names that the loops have, in turn
ONE_NAME = {
    "Rust: a for of 62^10 lifetimes": [RUST_FOR],
    "Rust: fors in fors": ["_RC1aI" + "C1aF" + "Gzzzzz_FGzzzzz_" * 20 + "EuEuE"],
    "Rust: a for whose body prints": ["_RIC1aFGzzzz_R" + "L_" + "uEuE"],
    "Rust: doubling back references": [rust_doubling(60)],
    "Rust: a back reference to itself": ["_RIC1aB4_E"],
    "Rust: two back references to each other": ["_RIC1aTB5_B4_EE"],
    "Rust: nested references": ["_RIC1a" + "R" * 3000 + "uE"],
    "Rust: nested functions": ["_RIC1a" + "FE" * 1500 + "u" * 10 + "E"],
    "Rust: a constant of 4000 digits": ["_RIC1aKj" + "f" * 4000 + "_E"],
    "Rust: punycode": ["_RNvC1au" + str(4000) + "_" + "9" * 4000],
    "Rust: legacy, 1000 pieces": ["_ZN" + "1a" * 1000 + "17h0123456789abcdefE"],
    "C++: a pack in 2^50 types": [pack(50)],
    "C++: a pack in 2^28 types": [pack(28)],
    "C++: packs in packs": ["_Z1fIDp" + "Dp" * 1000 + "iEvv"],
    "C++: doubling": [doubling(60)],
    "C++: nested pointers": ["_Z1f" + "P" * 4000 + "i"],
    "C++: nested templates": ["_Z1f" + "1aI" * 1000 + "i" + "E" * 1000],
    "C++: nested expressions": ["_Z1fIXplLi1E" + "plLi1E" * 500 + "Li1EEEvv"],
    "C++: nested lambdas": ["_ZZ1fvENKUlvE_clEv" * 200],
    "C++: conversion operators": ["_ZN1acvT_IiEEv" + "cvT_" * 500],
    "C++: substitutions of themselves": ["_Z1fIS_S0_S1_EvS2_S3_"],
    "C++: a fold of 300 packs": ["_Z1fIJ" + "i" * 300 + "EEvDp" + "Dp" * 50 + "T_"],
    "C++: a number without end": ["_Z" + "9" * 4000 + "a"],
    "C++: array types": ["_Z1f" + "A99999999999999999999_" * 150 + "i"],
    "D: doubling back references": [d_doubling(300)],
    "D: doubling maps": ["_D1aFAiHQdQf" + "HQgQi" * 700 + "Zv"],
    "D: two readings of each type": ["_D" + "1aFS" * 1000],
    "D: nested delegates": ["_D1a" + "DF" * 1000 + "Zv" * 1000],
    "D: nested template arguments": ["_D" + "__T1aT" * 500 + "iZ" * 500 + "v"],
    "D: a number without end": ["_D" + "9" * 4000],
    "Go: brackets": ["main.f[" + "a[" * 2000 + "]" * 2000 + "]"],
    "Go: unbalanced": ["main.f[" + "]" * 4000],
    "versions": ["f" + "@" * 4000],
    "controls": ["\x1b]0;owned\x07\x1b[2J", "a\nb;c d", "\x9b31m", "\x7f\x01\x02"],
    "invalid UTF-8": ["\udcff\udcfe\udc80", "\udcc0\udc80", "\udced\udca0\udc80", "a\udce2\udc80"],
    "right to left": ["\u202egnp.exe\u2066", "\ufeff\u200b", "\u2028line"],
    "4095 bytes": ["a" * 4095],
    "4096 bytes": ["_Z" + "4090" + "a" * 4090],
    "a megabyte": ["a" * (1 << 20)],
    "empty": ["", ".", " ", "\t"],
}
MANY_NAMES = {
    "10000 Rust fors": (10000, lambda i: f"_RC1aIC1aFG{rust_number(1 << 58 | i)}EuE"),
    "10000 C++ packs": (10000, lambda i: pack(40, f"{len(str(i)) + 1}a{i}")),
    "10000 doublings": (10000, lambda i: f"_Z{len(str(i)) + 1}a{i}" + doubling(50)[4:]),
    "10000 names of 4 KB": (10000, lambda i: str(i) + "x" * 4000),
    "10000 nested pointers": (10000, lambda i: f"_Z{len(str(i)) + 1}a{i}" + "P" * 500 + "i"),
}


def encode(name):
    return name.encode("utf-8", "surrogateescape")


def named_loops(names, nr_loops, kind=SYMTAB):
    """A file whose loops have these names, in turn."""
    image = Image(nr_loops)
    table, offsets = bytearray(b"\0"), []
    for name in names:
        offsets.append(len(table))
        table += encode(name) + b"\0"
    symbols = b"".join(symbol(offsets[i % len(names)], LOOPS + i * STRIDE) for i in range(nr_loops))
    image.add_symbols(bytes(table), symbol(0, 0, 0, 0, 0) + symbols, kind)
    return image


def write_names(names, kind=SYMTAB):
    return lambda path: named_loops(names, max(4, len(names)), kind).write(path)


def write_many(nr, make):
    return lambda path: named_loops([make(i) for i in range(nr)], nr).write(path)


def endless_string(path):
    """300,000 names that are each the rest of 16 MB."""
    image = Image()
    names = image.add(".strtab", 3, Repeat(b"a" * 4096, 4096))
    symbols = b"".join(symbol(i, LOOPS + i, 1) for i in range(300_000))
    image.add(".symtab", SYMTAB, symbols, link=names, entsize=24)
    return image.write(path)


def files():
    """{name: what writes it to a path}"""
    made = {name: write_names(names) for name, names in ONE_NAME.items()}
    made["Rust: a for, among dynamic symbols"] = write_names([RUST_FOR], DYNSYM)
    made.update({name: write_many(*many) for name, many in MANY_NAMES.items()})
    made["300000 names, each the rest of 16 MB"] = endless_string
    return made
