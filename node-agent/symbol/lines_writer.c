/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lines_writer.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

int lines_writer_init(struct lines_writer *writer, size_t nr_addresses, size_t max_bytes)
{
	if (max_bytes < sizeof(struct lines_block_header) ||
	    nr_addresses > (max_bytes - sizeof(struct lines_block_header)) /
				   sizeof(struct lines_block_range))
		return -ENOSPC;

	struct lines_block_range *ranges = calloc(nr_addresses + 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	*writer = (struct lines_writer){
		.ranges = ranges,
		.nr_addresses = nr_addresses,
		.strings = strbuf_with_max(max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX),
		.max_bytes = max_bytes,
	};
	strbuf_append_char(&writer->strings, '\0');
	return 0;
}

void lines_writer_done(struct lines_writer *writer)
{
	free(writer->ranges);
	free(writer->lines);
	strbuf_done(&writer->strings);
	htable_done(&writer->index);
	*writer = (struct lines_writer){ 0 };
}

static void keep_error(struct lines_writer *writer, int error)
{
	if (writer->error == 0)
		writer->error = error;
}

void lines_writer_begin(struct lines_writer *writer, size_t address)
{
	writer->open = &writer->ranges[address];
	writer->open->first = (uint32_t)writer->nr_lines;
}

/* The offset of a string, which is added when it is new; 0 after a failure. */
static uint32_t add_string(struct lines_writer *writer, const char *text)
{
	struct strbuf *strings = &writer->strings;
	size_t len = strnlen(text, LINES_MAX_STRING);
	uint32_t hash = hash_bytes(text, len);
	uint32_t offset = (uint32_t)strings->len;

	if (len == 0 || strbuf_error(strings) < 0)
		return 0;

	struct htable_iter it = htable_lookup(&writer->index, hash);
	for (uint32_t known; htable_next(&it, &known);)
		if (strncmp(strings->data + known, text, len) == 0 &&
		    strings->data[known + len] == '\0')
			return known;

	strbuf_append(strings, text, len);
	strbuf_append_char(strings, '\0');
	if (strbuf_error(strings) < 0)
		return 0;

	int r = htable_add(&writer->index, hash, offset);
	if (r < 0)
		keep_error(writer, r);
	return offset;
}

void lines_writer_add(struct lines_writer *writer, const struct symbol_line *line,
		      enum symbol_language language)
{
	size_t max_lines = writer->max_bytes / sizeof(struct lines_block_line);

	if (writer->open->nr == SYMBOL_MAX_LINES)
		return keep_error(writer, -ENOSPC);

	int r = array_grow(writer->lines, writer->cap_lines, writer->nr_lines + 1, max_lines);
	if (r < 0)
		return keep_error(writer, r);
	writer->lines[writer->nr_lines++] = (struct lines_block_line){
		.name = add_string(writer, line->system_name),
		.filename = add_string(writer, line->filename),
		.line = line->line,
		.start_line = line->start_line,
		.language = language,
	};
	writer->open->nr++;
}

int lines_writer_finish(struct lines_writer *writer, struct strbuf *out)
{
	const struct lines_block_header header = {
		.nr_addresses = (uint32_t)writer->nr_addresses,
		.nr_lines = (uint32_t)writer->nr_lines,
		.strings_len = (uint32_t)writer->strings.len,
	};

	keep_error(writer, strbuf_error(&writer->strings));
	if (writer->error < 0) {
		if (out->error == 0)
			out->error = writer->error;
		return writer->error;
	}
	strbuf_append(out, &header, sizeof(header));
	strbuf_append(out, writer->ranges, writer->nr_addresses * sizeof(*writer->ranges));
	if (writer->nr_lines > 0)
		strbuf_append(out, writer->lines, writer->nr_lines * sizeof(*writer->lines));
	strbuf_append(out, writer->strings.data, writer->strings.len);
	return strbuf_error(out);
}
