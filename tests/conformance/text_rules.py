# SPDX-License-Identifier: Apache-2.0
"""The rule of texts: whatever a program calls itself, its names do nothing to a terminal, a log or a page that shows
them (base/printable.h)."""
import re

HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def check(text, path, report):
    report.expect(not HARMFUL.search(text), "printable", path, repr(text))


def check_pairs(pairs, path, report):
    for i, pair in enumerate(pairs):
        check(pair.key, f"{path}[{i}].key", report)
        check(pair.value.string_value, f"{path}[{i}].value.string_value", report)


def check_request(request, report):
    """All texts but those of payloads."""
    for i, text in enumerate(request.dictionary.string_table):
        check(text, f"dictionary.string_table[{i}]", report)
    for i, row in enumerate(request.dictionary.attribute_table):
        check(row.value.string_value, f"dictionary.attribute_table[{i}].value.string_value", report)
    for i, of_resource in enumerate(request.resource_profiles):
        path = f"resource_profiles[{i}]"
        check_pairs(of_resource.resource.attributes, f"{path}.resource.attributes", report)
        for k, of_scope in enumerate(of_resource.scope_profiles):
            check_pairs(of_scope.scope.attributes, f"{path}.scope_profiles[{k}].scope.attributes",
                        report)
