# SPDX-License-Identifier: Apache-2.0
"""Says where a body does not fit its schema. The official decoder finds that it does not, and no more: it keeps
unknown fields to itself, and of a text that is not UTF-8 it says nothing but "error"."""
import collections

from rules import Violation

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
VARINT_MAX_BYTES = 10


class Truncated(Exception):
    """The bytes end before the field does."""


def wire_type(field):
    if field.type in (field.TYPE_FIXED64, field.TYPE_SFIXED64, field.TYPE_DOUBLE):
        return FIXED64
    if field.type in (field.TYPE_FIXED32, field.TYPE_SFIXED32, field.TYPE_FLOAT):
        return FIXED32
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES, field.TYPE_MESSAGE):
        return BYTES
    return VARINT


def accepts(field, wire):
    is_packable = field.label == field.LABEL_REPEATED and wire_type(field) != BYTES
    return wire == wire_type(field) or (is_packable and wire == BYTES)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = 0
        for i in range(VARINT_MAX_BYTES):
            if self.at >= len(self.data):
                raise Truncated
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value
        raise Truncated

    def take(self, length):
        if length > len(self.data) - self.at:
            raise Truncated
        self.at += length
        return self.data[self.at - length:self.at]

    def value(self, wire):
        if wire == VARINT:
            return self.varint()
        if wire in (FIXED64, FIXED32):
            return self.take(8 if wire == FIXED64 else 4)
        if wire == BYTES:
            return self.take(self.varint())
        raise Truncated     # groups have no length, and proto3 has no groups


def field_path(path, field, counts):
    path = f"{path}.{field.name}" if path else field.name
    if field.label != field.LABEL_REPEATED:
        return path
    counts[path] += 1
    return f"{path}[{counts[path] - 1}]"


def problems(data, descriptor, path="", counts=None):
    """Yields a violation for each field that does not fit; what follows broken bytes is not looked at. `counts`: of
    repeated fields by path, since a message may come in several pieces."""
    reader = Reader(data)
    counts = collections.Counter() if counts is None else counts
    try:
        while reader.at < len(data):
            tag = reader.varint()
            field = descriptor.fields_by_number.get(tag >> 3)
            value = reader.value(tag & 7)
            if field is None:
                yield Violation("known-fields", path, f"{descriptor.name} has no field {tag >> 3}")
            elif not accepts(field, tag & 7):
                yield Violation("known-fields", path,
                                f"{descriptor.name}.{field.name} does not have wire type {tag & 7}")
            else:
                yield from value_problems(value, field, field_path(path, field, counts), counts)
    except Truncated:
        yield Violation("decodes", path, f"{descriptor.name} ends within a field, or has none there")


def value_problems(value, field, path, counts):
    if field.type == field.TYPE_MESSAGE:
        yield from problems(value, field.message_type, path, counts)
    elif field.type == field.TYPE_STRING:
        try:
            bytes(value).decode()
        except UnicodeDecodeError as error:
            yield Violation("utf-8", path, f"{bytes(value)!r}: {error.reason}")
