/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/perf_map.h"

#include "base/parse.h"

#include <string.h>

/* Reads a hex number, with or without 0x, and the blank after it. */
static bool parse_number(const char **cursor, const char *end, uint64_t *ret_value)
{
	if (end - *cursor > 2 && (*cursor)[0] == '0' && ((*cursor)[1] | 0x20) == 'x')
		*cursor += 2;
	if (parse_digits(cursor, end, 16, ret_value) < 0 || *cursor == end || **cursor != ' ')
		return false;
	++*cursor;
	return true;
}

/* Reads a line without its newline. Returns false if it is malformed; the writer checks whether the
 * numbers are possible. */
static bool parse_line(const char *line, size_t len, struct jit_code *ret_code,
		       char ret_name[PERF_MAP_MAX_LINE_BYTES + 1])
{
	const char *cursor = line;
	const char *end = line + len;

	if (!parse_number(&cursor, end, &ret_code->address) ||
	    !parse_number(&cursor, end, &ret_code->nr_bytes))
		return false;
	size_t name_len = (size_t)(end - cursor);
	if (name_len == 0 || memchr(cursor, '\0', name_len))
		return false;
	memcpy(ret_name, cursor, name_len);
	ret_name[name_len] = '\0';
	return true;
}

static void add_line(const char *text, size_t len, struct jit_writer *writer)
{
	char name[PERF_MAP_MAX_LINE_BYTES + 1];
	struct jit_code code = { .name = name };

	if (len > PERF_MAP_MAX_LINE_BYTES)
		len = PERF_MAP_MAX_LINE_BYTES;
	if (!parse_line(text, len, &code, name)) {
		writer->nr_bad++;
		return;
	}
	code.parts = jit_names_split(name, writer->is_java);
	jit_writer_add(writer, &code);
}

size_t perf_map_feed(struct perf_map_reader *reader, const char *data, size_t len,
		     struct jit_writer *writer)
{
	const char *line = data;
	const char *end = data + len;

	while (line < end && !jit_writer_is_full(writer)) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t line_len = (size_t)((newline ? newline : end) - line);

		if (!newline && line_len < PERF_MAP_MAX_LINE_BYTES && !reader->is_in_long_line)
			break;
		if (!reader->is_in_long_line)
			add_line(line, line_len, writer);
		reader->is_in_long_line = !newline;
		line = newline ? newline + 1 : end;
	}
	return (size_t)(line - data);
}
