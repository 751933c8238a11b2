#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds bodies of OTLP requests against the rules of the protocol (rules.py), which receivers do not check: an
index that leads nowhere is data lost without a word.

    otlp_check.py [--no-label-limit] FILE...

A FILE is an ExportProfilesServiceRequest in protobuf, not compressed; "-" is standard input. Each violation is a
line with the path to it. Exit status: 0 when there is none, 1 when there are some, 2 for usage, 77 without protoc
or Python's protobuf.
"""
import argparse
import sys

import dictionary_rules
import profile_rules
import schema
import text_rules
import wire
from rules import Options, Report


def check(body, options=None):
    """The Report on a body."""
    report = Report()
    request = decode(body, report)
    if request is not None:
        check_request(request, options or Options(), report)
    return report


def decode(body, report):
    """Decodes a body with the official decoder; returns None if that refuses it."""
    message_class = schema.otlp().ExportProfilesServiceRequest
    try:
        request = message_class.FromString(body)
    except schema.decode_error() as error:
        explain(body, message_class, report, "decodes", str(error))
        return None
    size = request.ByteSize()
    request.DiscardUnknownFields()
    if request.ByteSize() != size:
        explain(body, message_class, report, "known-fields", "there are some")
    return request


def explain(body, message_class, report, rule, text):
    violations = list(wire.problems(memoryview(body), message_class.DESCRIPTOR))
    for violation in violations:
        report.add(*violation)
    report.expect(violations, rule, "", text)


def check_request(request, options, report):
    if not report.expect(request.HasField("dictionary"), "dictionary", "dictionary", "is missing"):
        return
    dictionary = dictionary_rules.Dictionary(request.dictionary, report)
    rules = dictionary_rules.DictionaryRules(dictionary)
    rules.check()
    profile_rules.ProfileRules(request, dictionary, options).check()
    text_rules.check_request(request, report)
    rules.check_duplicates()
    rules.check_orphans()


def read(path):
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def report_lines(report):
    yield from (f"{violation} [{violation.rule}]" for violation in report.violations)
    for rule, count in report.left_out():
        yield f"and {count} more of that kind [{rule}]"


def main():
    parser = argparse.ArgumentParser(description="check OTLP profiles requests")
    parser.add_argument("--no-label-limit", action="store_true",
                        help="a resource and a sample may have any number of attributes")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    schema.skip_unless_available()
    options = Options(labels_max=None) if arguments.no_label_limit else Options()
    is_good = True
    for path in arguments.files:
        prefix = f"{path}: " if len(arguments.files) > 1 else ""
        for line in report_lines(check(read(path), options)):
            is_good = False
            print(prefix + line)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
