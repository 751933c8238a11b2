# SPDX-License-Identifier: Apache-2.0
"""Reads what the Collector's file exporter wrote, as the requests that came in.

The Collector does not write what it got byte for byte: keys and values of resource attributes become indices into
the string table, with new strings at its end, and attribute 0 gets an empty value. Both is undone here, so
that what is left can be compared with what was sent, and checked.
"""
import base64
import json
import struct

import schema

LENGTH = struct.Struct(">I")


def requests_of_json(text):
    """One JSON object a line; a last line without an end is left out."""
    from google.protobuf import json_format

    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            request = schema.otlp().ExportProfilesServiceRequest()
            json_format.ParseDict(with_base64_ids(json.loads(line)), request)
            yield undo(request)


def requests_of_protobuf(data):
    """Each after its length."""
    at = 0
    while at < len(data):
        (length,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size + length
        assert at <= len(data), "the last request is not whole"
        yield undo(schema.otlp().ExportProfilesServiceRequest.FromString(data[at - length:at]))


def with_base64_ids(tree):
    """OTLP's JSON has ids in hexadecimal digits where protobuf's has base64."""
    if isinstance(tree, list):
        return [with_base64_ids(element) for element in tree]
    if not isinstance(tree, dict):
        return tree
    ids = {"profileId", "traceId", "spanId"}
    return {key: base64.b64encode(bytes.fromhex(value)).decode() if key in ids
            else with_base64_ids(value) for key, value in tree.items()}


def undo(request):
    strings = request.dictionary.string_table
    for of_resource in request.resource_profiles:
        resolve_pairs(of_resource.resource.attributes, strings)
        for of_scope in of_resource.scope_profiles:
            resolve_pairs(of_scope.scope.attributes, strings)
    attributes = request.dictionary.attribute_table
    if attributes and not attributes[0].value.WhichOneof("value"):
        attributes[0].ClearField("value")
    last_used = max(string_indices(request), default=0)
    del strings[last_used + 1:]
    return request


def resolve_pairs(pairs, strings):
    for pair in pairs:
        if pair.key_strindex:
            pair.key = strings[pair.key_strindex]
            pair.ClearField("key_strindex")
        resolve_value(pair.value, strings)


def resolve_value(value, strings):
    kind = value.WhichOneof("value")
    if kind == "string_value_strindex":
        value.string_value = strings[value.string_value_strindex]
    elif kind == "array_value":
        for element in value.array_value.values:
            resolve_value(element, strings)
    elif kind == "kvlist_value":
        resolve_pairs(value.kvlist_value.values, strings)


def string_indices(message):
    """All indices into the string table, wherever they are."""
    for field, value in message.ListFields():
        if field.name.endswith("strindex"):
            yield value
        elif field.type == field.TYPE_MESSAGE:
            for element in value if field.label == field.LABEL_REPEATED else [value]:
                yield from string_indices(element)
