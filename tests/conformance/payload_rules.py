# SPDX-License-Identifier: Apache-2.0
"""The rules of original_payload: pprof that rides along must tell the same as the profile around it."""
import collections
import zlib

import text_rules
from pprof_file import PprofFile, element

FORMATS = {"jfr", "pprof", "linux_perf"}


def check(profile, path, dictionary):
    report = dictionary.report
    payload, payload_format = profile.original_payload, profile.original_payload_format
    if not report.expect(bool(payload) == bool(payload_format), "payload-pair", path,
                         f"{len(payload)} bytes of original_payload and the format "
                         f"\"{payload_format}\""):
        return
    if not payload or not report.expect(payload_format in FORMATS, "payload-format",
                                        f"{path}.original_payload_format",
                                        f"{payload_format} is not known"):
        return
    if payload_format == "pprof":
        check_pprof(profile, f"{path}.original_payload", dictionary)


def check_pprof(profile, path, dictionary):
    report = dictionary.report
    try:
        ours, type_and_unit = stacks(profile, dictionary), sample_type(profile, dictionary)
    except LookupError:
        return                          # an index out of range, which has its own rule
    try:
        pprof = PprofFile(profile.original_payload)
        theirs = pprof.stacks(type_and_unit)
    except (ValueError, LookupError, OSError, EOFError, zlib.error) as error:
        report.add("payload-decodes", path, f"{type(error).__name__}: {error}")
        return
    for i, text in enumerate(pprof.strings):
        text_rules.check(text, f"{path}.string_table[{i}]", report)
    period = (pprof.message.time_nanos, pprof.message.duration_nanos, pprof.message.period)
    wanted = (profile.time_unix_nano, profile.duration_nano, profile.period)
    report.expect(period == wanted, "payload-time", path,
                  f"time, duration and period are {period}, the profile's {wanted}")
    compare(ours, theirs, path, report)


def compare(ours, theirs, path, report):
    totals = sum(ours.values()), sum(theirs.values())
    if not report.expect(totals[0] == totals[1], "payload-total", path,
                         f"is {totals[1]}, the profile's {totals[0]}"):
        return
    unlike = sorted(stack for stack in set(ours) | set(theirs) if ours[stack] != theirs[stack])
    for stack in unlike[:1]:
        report.add("payload-stacks", path,
                   f"{len(unlike)} stacks are not as often there as in the profile, "
                   f"{';'.join(stack)} {theirs[stack]} times instead of {ours[stack]}")


def sample_type(profile, dictionary):
    strings = dictionary.tables["string_table"]
    return (element(strings, profile.sample_type.type_strindex),
            element(strings, profile.sample_type.unit_strindex))


def stacks(profile, dictionary):
    """Counts the stacks of function names, innermost first."""
    tables, counts = dictionary.tables, collections.Counter()
    for sample in profile.samples:
        names = []
        for index in element(tables["stack_table"], sample.stack_index).location_indices:
            for line in element(tables["location_table"], index).lines:
                function = element(tables["function_table"], line.function_index)
                names.append(element(tables["string_table"], function.name_strindex))
        counts[tuple(names)] += sum(sample.values) or len(sample.timestamps_unix_nano)
    return counts
