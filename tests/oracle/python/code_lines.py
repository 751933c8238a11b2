# SPDX-License-Identifier: Apache-2.0
"""Prints the lines and names of this Python's code objects, in the form of Flamelet's decoders."""
import array
import sys

MIN_VERSION = (3, 8)
UNIT_BYTES = 2


def codes(code):
    """The code object and those inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, type(code)):
            yield from codes(const)


def by_co_lines(code):
    lines = array.array("I", bytes(4 * (len(code.co_code) // UNIT_BYTES)))
    for start, end, line in code.co_lines():
        for unit in range(start // UNIT_BYTES, end // UNIT_BYTES):
            lines[unit] = max(line or 0, 0)
    return lines


def make_by_address():
    import ctypes

    find = ctypes.pythonapi.PyCode_Addr2Line
    find.argtypes = [ctypes.py_object, ctypes.c_int]
    return lambda code: array.array("I", (max(find(code, address), 0)
                                          for address in range(0, len(code.co_code), UNIT_BYTES)))


# The line of each code unit; 0: none.
lines_of = by_co_lines if sys.version_info >= (3, 10) else make_by_address()
