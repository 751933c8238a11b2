/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_unit.h"

#include "base/search.h"

#include <stdbool.h>
#include <string.h>

#define MAX_NUMBER_BITS 35 /* of a number in a row */

/* A position in the rows of a unit. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static bool take_number(struct cursor *cursor, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < MAX_NUMBER_BITS && cursor->at < cursor->end;
	     shift += 7) {
		uint8_t byte = *cursor->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

static bool take_u32(struct cursor *cursor, uint32_t *ret_number)
{
	uint64_t number;

	if (!take_number(cursor, &number) || number > UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

/* Moves to the next row; returns false if it is truncated. Lines may wrap around. */
static bool take_row(struct cursor *cursor, struct lines_row *row)
{
	uint32_t distance;
	uint64_t kind;

	if (!take_u32(cursor, &distance) || distance > UINT32_MAX - row->low ||
	    !take_number(cursor, &kind))
		return false;
	uint32_t zigzag = (uint32_t)(kind >> LINES_ROW_LINE_SHIFT);
	row->low += distance;
	row->line += (zigzag >> 1) ^ (0U - (zigzag & 1));
	if (kind & LINES_ROW_HAS_FILE && !take_u32(cursor, &row->file))
		return false;
	return !(kind & LINES_ROW_HAS_FUNCTION) || take_u32(cursor, &row->function);
}

static struct cursor rows_of_mark(const struct lines_unit *unit, uint32_t mark)
{
	const struct lines_unit_header *header = unit->header;
	uint32_t end = mark + 1 < header->nr_marks ? unit->marks[mark + 1].offset
						   : header->rows_len;

	return (struct cursor){ unit->rows + unit->marks[mark].offset, unit->rows + end };
}

static bool are_rows_ok(const struct lines_unit *unit, uint32_t mark)
{
	struct cursor cursor = rows_of_mark(unit, mark);
	struct lines_row row = { .low = unit->marks[mark].low };

	for (size_t nr = 0; cursor.at < cursor.end; nr++)
		if (nr == LINES_ROWS_PER_MARK || !take_row(&cursor, &row) ||
		    row.file > unit->header->nr_files || row.function > unit->header->nr_functions)
			return false;
	return true;
}

static bool are_marks_ok(const struct lines_unit *unit)
{
	uint32_t offset = 0;

	for (uint32_t i = 0; i < unit->header->nr_marks; i++) {
		if (unit->marks[i].offset < offset)
			return false;
		offset = unit->marks[i].offset;
	}
	if (offset > unit->header->rows_len)
		return false;
	for (uint32_t i = 0; i < unit->header->nr_marks; i++)
		if (!are_rows_ok(unit, i))
			return false;
	return true;
}

/* Checks each string once, even if several rows refer to it. */
static bool are_strings_ok(const struct lines_unit *unit)
{
	uint32_t len = unit->header->strings_len;
	uint32_t start = 0;

	if (len == 0 || unit->strings[0] != '\0' || unit->strings[len - 1] != '\0')
		return false;
	while (start < len) {
		size_t one = strlen(unit->strings + start);

		if (one > LINES_MAX_STRING)
			return false;
		start += (uint32_t)one + 1;
	}
	return true;
}

static bool are_functions_ok(const struct lines_unit *unit)
{
	const struct lines_unit_header *header = unit->header;

	for (uint32_t i = 0; i < header->nr_functions; i++) {
		const struct lines_function *function = &unit->functions[i];

		if (function->name >= header->strings_len || function->call_file > header->nr_files)
			return false;
		if (function->caller != LINES_NO_FUNCTION && function->caller >= i)
			return false;
	}
	for (uint32_t i = 0; i < header->nr_files; i++)
		if (unit->files[i] >= header->strings_len)
			return false;
	return true;
}

/* Each number has at most 32 bits, so the sum does not overflow. */
static uint64_t length_of(const struct lines_unit_header *header)
{
	uint64_t len = sizeof(*header) + (uint64_t)header->nr_ranges * sizeof(struct lines_range) +
		       (uint64_t)header->nr_functions * sizeof(struct lines_function) +
		       (uint64_t)header->nr_files * sizeof(uint32_t) +
		       (uint64_t)header->nr_marks * sizeof(struct lines_mark) + header->rows_len +
		       header->strings_len;

	return (len + LINES_ALIGNMENT - 1) / LINES_ALIGNMENT * LINES_ALIGNMENT;
}

void lines_unit_find_parts(const void *bytes, struct lines_unit *ret_unit)
{
	const struct lines_unit_header *header = bytes;
	const struct lines_range *ranges = (const void *)(header + 1);
	const struct lines_function *functions = (const void *)(ranges + header->nr_ranges);
	const uint32_t *files = (const void *)(functions + header->nr_functions);
	const struct lines_mark *marks = (const void *)(files + header->nr_files);
	const uint8_t *rows = (const void *)(marks + header->nr_marks);

	*ret_unit = (struct lines_unit){
		.header = header,
		.ranges = ranges,
		.functions = functions,
		.files = files,
		.marks = marks,
		.rows = rows,
		.strings = (const char *)rows + header->rows_len,
	};
}

int lines_unit_parse(const void *bytes, size_t len, struct lines_unit *ret_unit)
{
	const struct lines_unit_header *header = bytes;
	struct lines_unit unit;

	if ((uintptr_t)bytes % LINES_ALIGNMENT != 0 || len < sizeof(*header) ||
	    header->nr_bytes > len || header->nr_bytes != length_of(header) ||
	    header->language > LANGUAGE_JIT)
		return -EBADMSG;
	lines_unit_find_parts(bytes, &unit);
	if (!are_strings_ok(&unit) || !are_functions_ok(&unit) || !are_marks_ok(&unit))
		return -EBADMSG;
	*ret_unit = unit;
	return 0;
}

static struct lines_row find_row(const struct lines_unit *unit, uint32_t low)
{
	struct lines_row found = { 0 };
	size_t nr_marks = search_count(unit->header->nr_marks, i, unit->marks[i].low <= low);

	if (nr_marks == 0)
		return found;
	struct cursor cursor = rows_of_mark(unit, (uint32_t)nr_marks - 1);
	struct lines_row row = { .low = unit->marks[nr_marks - 1].low };
	while (cursor.at < cursor.end && take_row(&cursor, &row) && row.low <= low)
		found = row;
	return found;
}

static const char *path_of(const struct lines_unit *unit, uint32_t file)
{
	return unit->strings + (file > 0 ? unit->files[file - 1] : 0);
}

size_t lines_unit_find(const struct lines_unit *unit, uint64_t address,
		       struct symbol_line ret_lines[static SYMBOL_MAX_LINES])
{
	size_t nr = 0;

	if (address < unit->header->base || address - unit->header->base > UINT32_MAX)
		return 0;
	struct lines_row row = find_row(unit, (uint32_t)(address - unit->header->base));
	uint32_t number = row.function > 0 ? row.function - 1 : LINES_NO_FUNCTION;
	while (number != LINES_NO_FUNCTION) {
		const struct lines_function *function = &unit->functions[number];
		const char *name = unit->strings + function->name;
		bool is_outermost = function->caller == LINES_NO_FUNCTION;

		if (name[0] != '\0' && (nr < SYMBOL_MAX_LINES - 1 || is_outermost))
			ret_lines[nr++] = (struct symbol_line){
				.system_name = name,
				.filename = path_of(unit, row.file),
				.line = row.line,
				.start_line = function->start_line,
			};
		row.file = function->call_file;
		row.line = function->call_line;
		number = function->caller;
	}
	return nr;
}
