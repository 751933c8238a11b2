# SPDX-License-Identifier: Apache-2.0
"""Bodies that cannot be decoded, and bodies with something wrong in their dictionary or their attributes."""
from broken_case import (FAR, PROFILE, RESOURCE, SCOPE, appends, case, clears, of_scope,
                         request_itself, resource_attribute, row, sample, sets)
from good_body import (add_attribute, add_function, add_location, add_stack, first_profile, good_body,
                       text)


def wire_cases():
    @case("decodes", "")
    def _cut_off(request):
        return request.SerializeToString()[:40]

    @case("decodes", "resource_profiles[1]")
    def _longer_than_what_is_around_it(request):
        return request.SerializeToString() + b"\x0a\x02\x0a\x05"

    @case("known-fields", "")
    def _unknown_at_the_top(request):
        return request.SerializeToString() + b"\x18\x01"

    @case("known-fields", "dictionary")
    def _unknown_within(request):
        return request.SerializeToString() + b"\x12\x04\x42\x02hi"

    @case("known-fields", "dictionary.location_table[3].lines[0]")
    def _wrong_wire_type(request):
        add_stack(request, [3])
        first_profile(request).samples.add(stack_index=3, values=[1])
        # Function 1 as a varint, and its line as four bytes instead of a varint.
        line = b"\x08\x01\x15\x00\x00\x00\x00"
        location = b"\x1a" + bytes([len(line)]) + line
        tables = b"\x12" + bytes([len(location)]) + location
        return request.SerializeToString() + b"\x12" + bytes([len(tables)]) + tables

    @case("utf-8", RESOURCE + "[1].value.string_value")
    def _latin_1(request):
        return request.SerializeToString().replace(b"web-0", b"web\xe9\x30")


def text_cases():
    for value in ("web\x1b[2J", "web\nlevel=error", "web\x9b2J", "web\u202etxt"):
        sets("printable", RESOURCE + "[1].value.string_value",
             lambda request: resource_attribute(request).value, "string_value", value)
    sets("printable", RESOURCE + "[1].key", resource_attribute, "key", "k8s\tpod")
    sets("printable", "dictionary.attribute_table[3].value.string_value",
         lambda request: row("attribute_table", 3)(request).value, "string_value", "web\x7f")

    @case("printable", SCOPE + ".attributes[0].key")
    def _of_a_scope(request):
        of_scope(request).scope.attributes.add(key="\u2028").value.string_value = "x"

    @case("printable", "dictionary.string_table[3]")
    def _name(request):
        request.dictionary.string_table[3] += "\u2067"


def table_cases():
    clears("dictionary", "dictionary", request_itself, "dictionary")
    clears("zero", "dictionary.link_table",
           lambda request: first_profile(request).samples[0].ClearField("link_index")
           or request.dictionary, "link_table")
    for table, field, value in (
            ("mapping_table", "file_offset", 1), ("location_table", "address", 1),
            ("function_table", "start_line", 1), ("link_table", "span_id", bytes(8)),
            ("attribute_table", "unit_strindex", 1)):
        sets("zero", f"dictionary.{table}[0]", row(table, 0), field, value)
    appends("zero", "dictionary.stack_table[0]", row("stack_table", 0), "location_indices", 2)

    @case("zero", "dictionary.string_table[0]")
    def _string(request):
        request.dictionary.string_table[0] = "zero"


def range_cases():
    tables = "dictionary."
    for path, message_of, field in (
            (tables + "location_table[2].mapping_index", row("location_table", 2),
             "mapping_index"),
            (tables + "function_table[2].system_name_strindex", row("function_table", 2),
             "system_name_strindex"),
            (tables + "function_table[2].filename_strindex", row("function_table", 2),
             "filename_strindex"),
            (tables + "mapping_table[1].filename_strindex", row("mapping_table", 1),
             "filename_strindex"),
            (tables + "attribute_table[1].unit_strindex", row("attribute_table", 1),
             "unit_strindex"),
            (PROFILE + ".samples[1].link_index", sample, "link_index")):
        for value in (FAR, -1):
            sets("range", path, message_of, field, value)
    for path, message_of in (
            (tables + "location_table[2].attribute_indices[0]", row("location_table", 2)),
            (tables + "mapping_table[1].attribute_indices[1]", row("mapping_table", 1)),
            (PROFILE + ".attribute_indices[0]", first_profile),
            (PROFILE + ".samples[1].attribute_indices[0]", sample)):
        appends("range", path, message_of, "attribute_indices", FAR)
    appends("range", tables + "stack_table[1].location_indices[2]", row("stack_table", 1),
            "location_indices", FAR)
    range_of_new_elements()


def range_of_new_elements():
    @case("range", PROFILE + ".samples[2].stack_index")
    def _stack(request):
        first_profile(request).samples.add(stack_index=FAR, values=[1])

    @case("range", "dictionary.location_table[2].lines[1].function_index")
    def _function(request):
        request.dictionary.location_table[2].lines.add(function_index=FAR)

    @case("range", "dictionary.function_table[3].name_strindex")
    def _name(request):
        function = add_function(request, "main")
        request.dictionary.function_table[function].name_strindex = FAR
        request.dictionary.location_table[2].lines.add(function_index=function)

    @case("range", "dictionary.attribute_table[4].key_strindex")
    def _key(request):
        attribute = add_attribute(request, "thread.name", "web")
        request.dictionary.attribute_table[attribute].key_strindex = FAR
        sample(request).attribute_indices.append(attribute)

    @case("range", "dictionary.attribute_table[4].value.array_value.values[0].string_value_strindex")
    def _value(request):
        attribute = add_attribute(request, "thread.name", 1)
        value = request.dictionary.attribute_table[attribute].value
        value.array_value.values.add(string_value_strindex=FAR)
        sample(request).attribute_indices.append(attribute)

    @case("range", PROFILE + ".sample_type.unit_strindex")
    def _unit(request):
        first_profile(request).sample_type.unit_strindex = FAR
        request.dictionary.attribute_table[1].unit_strindex = text(request, "count")

    @case("range", PROFILE + ".period_type.type_strindex")
    def _period_type(request):
        first_profile(request).period_type.type_strindex = FAR
        request.dictionary.attribute_table[1].unit_strindex = text(request, "cpu")


def duplicate_cases():
    """A second one of each, which is used."""
    def use_string(request, index):
        request.dictionary.attribute_table[1].unit_strindex = index

    def use_mapping(request, index):
        request.dictionary.location_table[2].mapping_index = index

    def use_location(request, index):
        request.dictionary.stack_table[2].location_indices.append(index)

    def use_function(request, index):
        request.dictionary.location_table[2].lines.add(function_index=index)

    def use_link(request, index):
        sample(request).link_index = index

    def use_attribute(request, index):
        sample(request).attribute_indices.append(index)

    def use_stack(request, index):
        sample(request).link_index = 1
        first_profile(request).samples.add(stack_index=index, values=[1])

    for table, use in (("string_table", use_string), ("mapping_table", use_mapping),
                       ("location_table", use_location), ("function_table", use_function),
                       ("link_table", use_link), ("attribute_table", use_attribute),
                       ("stack_table", use_stack)):
        rows = getattr(good_body().dictionary, table)

        @case("duplicates", f"dictionary.{table}[{len(rows)}]")
        def _duplicate(request, table=table, use=use):
            rows = getattr(request.dictionary, table)
            rows.append(rows[-1])
            use(request, len(rows) - 1)


def orphan_cases():
    strings = good_body().dictionary.string_table
    appends("orphans", f"dictionary.string_table[{len(strings)}]",
            lambda request: request.dictionary, "string_table", "unused")
    for table, fields in (
            ("mapping_table", {"memory_limit": 1, "attribute_indices": [1]}),
            ("function_table", {"name_strindex": 1}),
            ("link_table", {"trace_id": bytes(16), "span_id": bytes(8)}),
            ("stack_table", {"location_indices": [1, 2]})):
        rows = getattr(good_body().dictionary, table)

        @case("orphans", f"dictionary.{table}[{len(rows)}]")
        def _orphan(request, table=table, fields=fields):
            getattr(request.dictionary, table).add(**fields)

    @case("orphans", "dictionary.attribute_table[4]")
    def _attribute(request):
        add_attribute(request, "thread.name", "unused")

    @case("orphans", "dictionary.location_table[3]")
    def _location(request):
        add_location(request, [1])


def attribute_cases():
    @case("attributes", "dictionary.attribute_table[4]")
    def _no_value(request):
        attribute = add_attribute(request, "thread.name", "")
        request.dictionary.attribute_table[attribute].ClearField("value")
        sample(request).attribute_indices.append(attribute)

    @case("attributes", "dictionary.attribute_table[4]")
    def _no_key(request):
        sample(request).attribute_indices.append(add_attribute(request, "", "web"))

    appends("attributes", PROFILE + ".samples[1].attribute_indices[0]", sample,
            "attribute_indices", 0)
    sets("attributes", RESOURCE + "[1]", resource_attribute, "key", "")
    clears("attributes", RESOURCE + "[1]", resource_attribute, "value")

    @case("attribute-keys", PROFILE + ".samples[0].attribute_indices[1]")
    def _two_values(request):
        again = add_attribute(request, "thread.name", "db")
        first_profile(request).samples[0].attribute_indices.append(again)

    @case("attribute-keys", "dictionary.mapping_table[1].attribute_indices[1]")
    def _other_string(request):
        again = add_attribute(request, "process.executable.build_id.gnu", "feed")
        request.dictionary.mapping_table[1].attribute_indices.append(again)

    sets("resource-keys", RESOURCE + "[1]", resource_attribute, "key", "service.name")

    @case("resource-keys", SCOPE + ".attributes[1]")
    def _scope(request):
        for value in ("1", "2"):
            of_scope(request).scope.attributes.add(key="a").value.string_value = value

    sets("key-xor", RESOURCE + "[1]", resource_attribute, "key_strindex", 1)


def inline_cases():
    @case("inline", RESOURCE + "[1]")
    def _key(request):
        resource_attribute(request).ClearField("key")
        resource_attribute(request).key_strindex = text(request, "k8s.pod.name")

    @case("inline", RESOURCE + "[1]")
    def _value(request):
        resource_attribute(request).value.string_value_strindex = text(request, "web-0")

    @case("inline", RESOURCE + "[1]")
    def _within_an_array(request):
        values = resource_attribute(request).value.array_value.values
        values.add(string_value_strindex=text(request, "web-0"))

    @case("inline", RESOURCE + "[1]")
    def _within_pairs(request):
        pair = resource_attribute(request).value.kvlist_value.values.add(
            key_strindex=text(request, "name"))
        pair.value.string_value = "web-0"

    @case("inline", SCOPE + ".attributes[0]")
    def _scope(request):
        value = of_scope(request).scope.attributes.add(key="a").value
        value.string_value_strindex = text(request, "web-0")


def code_cases():
    @case("mapping-limits", "dictionary.mapping_table[1]")
    def _empty(request):
        request.dictionary.mapping_table[1].memory_limit = 291
        request.dictionary.mapping_table[1].memory_start = 291

    @case("mapping-limits", "dictionary.mapping_table[1]")
    def _no_limit(request):
        request.dictionary.mapping_table[1].memory_limit = 0
        request.dictionary.mapping_table[1].memory_start = 291

    @case("build-id", "dictionary.mapping_table[2]")
    def _no_build_id(request):
        request.dictionary.mapping_table.add(memory_limit=1)
        request.dictionary.location_table[2].mapping_index = 2

    sets("address", "dictionary.location_table[1].address", row("location_table", 1),
         "address", 4097)
    sets("address", "dictionary.location_table[2].address", row("location_table", 2), "address", 1)
    sets("link-ids", "dictionary.link_table[1]", row("link_table", 1), "trace_id", b"short")
    sets("link-ids", "dictionary.link_table[1]", row("link_table", 1), "span_id", bytes(16))
    sets("lines", "dictionary.function_table[2].start_line", row("function_table", 2),
         "start_line", -1)
    sets("lines", "dictionary.location_table[2].lines[0]",
         lambda request: request.dictionary.location_table[2].lines[0], "line", -1)
    sets("lines", "dictionary.location_table[2].lines[0]",
         lambda request: request.dictionary.location_table[2].lines[0], "column", -1)
    name_cases()


def name_cases():
    @case("function-names", "dictionary.function_table[3]")
    def _no_name_at_all(request):
        function = add_function(request, "", start_line=1)
        request.dictionary.location_table[2].lines.add(function_index=function)

    @case("named", "dictionary.location_table[2].lines[1]")
    def _file_only(request):
        function = add_function(request, "", filename_strindex=text(request, "/bin/app"))
        request.dictionary.location_table[2].lines.add(function_index=function)

    @case("named", "dictionary.location_table[2].lines[1]")
    def _no_function(request):
        request.dictionary.location_table[2].lines.add()

    @case("named", "dictionary.location_table[3]")
    def _no_lines(request):
        location = add_location(request, [], mapping_index=1, address=1)
        request.dictionary.stack_table[1].location_indices.append(location)

    appends("named", "dictionary.stack_table[1].location_indices[2]", row("stack_table", 1),
            "location_indices", 0)


def add_cases():
    for add in (wire_cases, text_cases, table_cases, range_cases, duplicate_cases, orphan_cases,
                attribute_cases, inline_cases, code_cases):
        add()
