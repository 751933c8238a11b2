/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/perf_map.h"

#include "base/parse.h"

#include <string.h>

/* A hex number, with or without 0x, and the blank behind it. */
static bool parse_number(const char **cursor, const char *end, uint64_t *ret_value)
{
	if (end - *cursor > 2 && (*cursor)[0] == '0' && ((*cursor)[1] | 0x20) == 'x')
		*cursor += 2;
	if (parse_digits(cursor, end, 16, ret_value) < 0 || *cursor == end || **cursor != ' ')
		return false;
	++*cursor;
	return true;
}

bool perf_map_parse_line(const char *line, size_t len, struct perf_map_line *ret_line)
{
	struct perf_map_line parsed;
	const char *cursor = line;
	const char *end = line + len;

	if (!parse_number(&cursor, end, &parsed.address) ||
	    !parse_number(&cursor, end, &parsed.nr_bytes))
		return false;
	parsed.name = cursor;
	parsed.name_len = (size_t)(end - cursor);
	if (parsed.name_len == 0 || memchr(cursor, '\0', parsed.name_len))
		return false;
	*ret_line = parsed;
	return true;
}

static void add_line(const char *text, size_t len, struct jit_writer *writer)
{
	char name[PERF_MAP_MAX_LINE_BYTES + 1];
	struct perf_map_line line;

	if (len > PERF_MAP_MAX_LINE_BYTES)
		len = PERF_MAP_MAX_LINE_BYTES;
	if (!perf_map_parse_line(text, len, &line)) {
		writer->nr_bad++;
		return;
	}
	memcpy(name, line.name, line.name_len);
	name[line.name_len] = '\0';

	const struct jit_code code = {
		.address = line.address,
		.nr_bytes = line.nr_bytes,
		.name = name,
		.parts = jit_names_split(name, writer->is_java),
	};
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
