# SPDX-License-Identifier: Apache-2.0
"""The rules of the dictionary: tables that samples point into, and that point into each other."""
import attribute_rules

BUILD_IDS = {"process.executable.build_id.gnu", "process.executable.build_id.go",
             "process.executable.build_id.htlhash"}
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8


def join(path, name):
    return f"{path}.{name}" if path else name


class Dictionary:
    """The tables by name. Every use of an index goes through use(), so that at the end it is known what
    nothing leads to."""

    def __init__(self, message, report):
        self.report = report
        self.tables = {field.name: list(getattr(message, field.name))
                       for field in message.DESCRIPTOR.fields}
        self.used = {name: {0} for name in self.tables}
        self.good_lists = {}            # attribute indices: their keys
        self.checked = set()            # (attribute, where it was met)

    def use(self, table, index, path):
        """Returns whether the index is inside the table. An empty table is a violation of its
        own."""
        length = len(self.tables[table])
        if 0 <= index < length:
            self.used[table].add(index)
            return True
        if length or index:
            self.report.add("range", path, f"{index} is out of 0..{length - 1}" if length else
                            f"{index}, but {table} is empty")
        return False

    def get(self, table, index, path):
        return self.tables[table][index] if self.use(table, index, path) else None

    def check_attributes(self, indices, place, path):
        """Checks single attributes, as far as they can be resolved, each once."""
        rows, strings = self.tables["attribute_table"], self.tables["string_table"]
        for i, index in enumerate(indices):
            if (index, place) in self.checked or not 0 < index < len(rows):
                continue
            self.checked.add((index, place))
            key = rows[index].key_strindex
            if 0 <= key < len(strings):
                attribute_rules.check(strings[key], rows[index].value, place,
                                      f"{path}.attribute_indices[{i}]", self.report)

    def string(self, index, path):
        return self.get("string_table", index, path)

    def attribute_keys(self, indices, path):
        """Resolved keys of a list of attributes; None for those that cannot be resolved."""
        name = tuple(indices)
        if name not in self.good_lists:
            nr_before = sum(self.report.counts.values())
            keys = self.check_attribute_list(name, join(path, "attribute_indices"))
            if sum(self.report.counts.values()) != nr_before:
                return keys
            self.good_lists[name] = keys
        return self.good_lists[name]

    def check_attribute_list(self, indices, path):
        keys = []
        for i, index in enumerate(indices):
            row = self.get("attribute_table", index, f"{path}[{i}]")
            key = None
            if row is not None and self.report.expect(index, "attributes", f"{path}[{i}]",
                                                      "0 is no attribute"):
                strings = self.tables["string_table"]
                is_in_range = 0 <= row.key_strindex < len(strings)
                key = strings[row.key_strindex] if is_in_range else None
            self.report.expect(key is None or key not in keys, "attribute-keys", f"{path}[{i}]",
                               f"{key} again")
            keys.append(key)
        return keys

    def check_value(self, value, path):
        """References within a value of any kind, as deep as it is."""
        kind = value.WhichOneof("value")
        if kind == "string_value_strindex":
            self.string(value.string_value_strindex, f"{path}.{kind}")
        elif kind == "array_value":
            for i, element in enumerate(value.array_value.values):
                self.check_value(element, f"{path}.{kind}.values[{i}]")
        elif kind == "kvlist_value":
            for i, pair in enumerate(value.kvlist_value.values):
                self.check_key(pair, f"{path}.{kind}.values[{i}]")
                self.check_value(pair.value, f"{path}.{kind}.values[{i}].value")

    def check_key(self, pair, path):
        """The resolved key of a KeyValue."""
        self.report.expect(not (pair.key and pair.key_strindex), "key-xor", path,
                           f"key {pair.key} and key_strindex {pair.key_strindex}")
        by_index = self.string(pair.key_strindex, f"{path}.key_strindex")
        return pair.key or by_index


class DictionaryRules:
    def __init__(self, dictionary):
        self.dictionary = dictionary
        self.report = dictionary.report

    def rows(self, table):
        for i, row in enumerate(self.dictionary.tables[table][1:], 1):
            yield f"dictionary.{table}[{i}]", row

    def check(self):
        self.check_zero()
        for path, row in self.rows("attribute_table"):
            self.check_attribute(row, path)
        for path, row in self.rows("mapping_table"):
            self.check_mapping(row, path)
        for path, row in self.rows("function_table"):
            self.check_function(row, path)
        for path, row in self.rows("location_table"):
            self.check_location(row, path)
        for path, row in self.rows("link_table"):
            lengths = len(row.trace_id), len(row.span_id)
            self.report.expect(lengths == (TRACE_ID_BYTES, SPAN_ID_BYTES), "link-ids", path,
                               f"ids of {lengths[0]} and {lengths[1]} bytes")
        for path, row in self.rows("stack_table"):
            self.check_stack(row, path)

    def check_zero(self):
        for table, rows in self.dictionary.tables.items():
            path = f"dictionary.{table}"
            if self.report.expect(rows, "zero", path, "is empty"):
                zero = "" if table == "string_table" else type(rows[0])()
                self.report.expect(rows[0] == zero, "zero", f"{path}[0]",
                                   f"is {str(rows[0]).strip()}")

    def check_attribute(self, row, path):
        key = self.dictionary.string(row.key_strindex, f"{path}.key_strindex")
        self.dictionary.string(row.unit_strindex, f"{path}.unit_strindex")
        self.dictionary.check_value(row.value, f"{path}.value")
        self.report.expect(key != "", "attributes", path, "has no key")
        self.report.expect(row.value.WhichOneof("value"), "attributes", path, "has no value")

    def check_mapping(self, row, path):
        self.dictionary.string(row.filename_strindex, f"{path}.filename_strindex")
        keys = self.dictionary.attribute_keys(row.attribute_indices, path)
        self.dictionary.check_attributes(row.attribute_indices, attribute_rules.MAPPING, path)
        self.report.expect(None in keys or BUILD_IDS.intersection(keys), "build-id", path,
                           f"has none of {', '.join(sorted(BUILD_IDS))}")
        start, limit = row.memory_start, row.memory_limit
        self.report.expect(start < limit or (start, limit) == (0, 0), "mapping-limits", path,
                           f"{start:#x}..{limit:#x}")

    def check_function(self, row, path):
        fields = ("name_strindex", "system_name_strindex", "filename_strindex")
        for field in fields:
            self.dictionary.string(getattr(row, field), f"{path}.{field}")
        self.report.expect(any(getattr(row, field) for field in fields), "function-names", path,
                           "has no name, system name or file")
        self.report.expect(row.start_line >= 0, "lines", f"{path}.start_line", row.start_line)

    def check_location(self, row, path):
        mapping = self.dictionary.get("mapping_table", row.mapping_index, f"{path}.mapping_index")
        if mapping is not None:
            self.check_address(row, mapping, path)
        self.dictionary.attribute_keys(row.attribute_indices, path)
        self.dictionary.check_attributes(row.attribute_indices, attribute_rules.LOCATION, path)
        self.report.expect(row.lines, "named", path, "has no lines")
        for i, line in enumerate(row.lines):
            self.check_line(line, f"{path}.lines[{i}]")

    def check_address(self, row, mapping, path):
        if row.mapping_index == 0:
            self.report.expect(row.address == 0, "address", f"{path}.address",
                               f"{row.address:#x}, but there is no mapping")
        elif mapping.memory_limit:
            self.report.expect(mapping.memory_start <= row.address <= mapping.memory_limit,
                               "address", f"{path}.address",
                               f"{row.address:#x} is out of "
                               f"{mapping.memory_start:#x}..{mapping.memory_limit:#x}")

    def check_line(self, line, path):
        self.report.expect(line.line >= 0 and line.column >= 0, "lines", path,
                           f"line {line.line}, column {line.column}")
        function = self.dictionary.get("function_table", line.function_index,
                                       f"{path}.function_index")
        if function is not None:
            is_other_rule = line.function_index and not (function.system_name_strindex or
                                                         function.filename_strindex)
            self.report.expect(function.name_strindex or is_other_rule, "named", path,
                               "its function has no name")

    def check_stack(self, row, path):
        for i, location in enumerate(row.location_indices):
            element = f"{path}.location_indices[{i}]"
            self.dictionary.use("location_table", location, element)
            self.report.expect(location, "named", element, "0 is no location")

    def check_duplicates(self):
        """Of rows that are the same in bytes. What they lead to is found for itself."""
        for table, rows in self.dictionary.tables.items():
            first = {}
            for i, row in enumerate(rows):
                value = row if table == "string_table" else row.SerializeToString(deterministic=True)
                self.report.expect(value not in first, "duplicates", f"dictionary.{table}[{i}]",
                                   f"is the same as [{first.get(value)}]")
                first.setdefault(value, i)

    def check_orphans(self):
        """To be called last. What only an orphan leads to counts as used: the orphan itself is found."""
        for table, rows in self.dictionary.tables.items():
            for i in sorted(set(range(len(rows))) - self.dictionary.used[table]):
                self.report.add("orphans", f"dictionary.{table}[{i}]", "is not used")
