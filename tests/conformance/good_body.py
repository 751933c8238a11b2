# SPDX-License-Identifier: Apache-2.0
"""A small request in which everything is right, and ways to add to it."""
import gzip

import schema

TIME_NS, DURATION_NS, PERIOD_NS = 1_795_188_153_000_000_000, 10_000_000_000, 10_000_000
BUILD_ID = "process.executable.build_id.gnu"
TRACE_ID, SPAN_ID = bytes(range(1, 17)), bytes(range(1, 9))
PROFILE_ID = bytes(range(16))


def text(request, string):
    """Its index; at the end of the table where it is new."""
    table = request.dictionary.string_table
    if string not in table:
        table.append(string)
    return list(table).index(string)


def add_attribute(request, key, value):
    row = request.dictionary.attribute_table.add(key_strindex=text(request, key))
    if isinstance(value, int):
        row.value.int_value = value
    else:
        row.value.string_value = value
    return len(request.dictionary.attribute_table) - 1


def add_function(request, name, **fields):
    request.dictionary.function_table.add(name_strindex=text(request, name), **fields)
    return len(request.dictionary.function_table) - 1


def add_location(request, functions, **fields):
    row = request.dictionary.location_table.add(**fields)
    for function in functions:
        row.lines.add(function_index=function)
    return len(request.dictionary.location_table) - 1


def add_stack(request, locations):
    request.dictionary.stack_table.add(location_indices=locations)
    return len(request.dictionary.stack_table) - 1


def first_profile(request):
    return request.resource_profiles[0].scope_profiles[0].profiles[0]


def add_dictionary(request):
    tables = request.dictionary
    tables.string_table.append("")
    for table in (tables.mapping_table, tables.location_table, tables.function_table,
                  tables.link_table, tables.attribute_table, tables.stack_table):
        table.add()
    build_id = add_attribute(request, BUILD_ID, "0123456789abcdef")
    native = add_attribute(request, "profile.frame.type", "native")
    tables.mapping_table.add(memory_limit=4096, filename_strindex=text(request, "/bin/app"),
                             attribute_indices=[build_id])
    main = add_function(request, "main", filename_strindex=text(request, "/bin/app"))
    work = add_function(request, "work", start_line=7)
    caller = add_location(request, [main], mapping_index=1, address=291, attribute_indices=[native])
    leaf = add_location(request, [work])
    tables.link_table.add(trace_id=TRACE_ID, span_id=SPAN_ID)
    add_stack(request, [leaf, caller])
    add_stack(request, [caller])


def add_profile(request, of_scope):
    profile = of_scope.profiles.add(time_unix_nano=TIME_NS, duration_nano=DURATION_NS,
                                    period=PERIOD_NS, profile_id=PROFILE_ID)
    profile.sample_type.type_strindex = text(request, "samples")
    profile.sample_type.unit_strindex = text(request, "count")
    profile.period_type.type_strindex = text(request, "cpu")
    profile.period_type.unit_strindex = text(request, "nanoseconds")
    thread = add_attribute(request, "thread.name", "web")
    profile.samples.add(stack_index=1, attribute_indices=[thread], link_index=1, values=[5])
    profile.samples.add(stack_index=2, values=[2])


def good_body():
    request = schema.otlp().ExportProfilesServiceRequest()
    add_dictionary(request)
    of_resource = request.resource_profiles.add(
        schema_url="https://opentelemetry.io/schemas/1.44.0")
    for key, value in (("service.name", "web"), ("k8s.pod.name", "web-0")):
        of_resource.resource.attributes.add(key=key).value.string_value = value
    of_scope = of_resource.scope_profiles.add()
    of_scope.scope.name, of_scope.scope.version = "flamelet", "1"
    add_profile(request, of_scope)
    return request


def good_pprof():
    """Returns the contents of good_body() as pprof."""
    strings = ["", "samples", "count", "main", "work"]
    profile = schema.pprof().Profile(string_table=strings, time_nanos=TIME_NS,
                                     duration_nanos=DURATION_NS, period=PERIOD_NS)
    profile.sample_type.add(type=1, unit=2)
    for i, name in ((1, 3), (2, 4)):
        profile.function.add(id=i, name=name)
        profile.location.add(id=i).line.add(function_id=i)
    profile.sample.add(location_id=[2, 1], value=[5])
    profile.sample.add(location_id=[1], value=[2])
    return profile


def add_payload(request, pprof):
    profile = first_profile(request)
    profile.original_payload_format = "pprof"
    profile.original_payload = gzip.compress(pprof.SerializeToString())
