/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_writer.h"

#include "base/hash.h"

#include <string.h>

#define MAX_NUMBER_BYTES 5 /* of a number in a row */

struct lines_writer lines_writer_with_max(size_t max_bytes)
{
	size_t max = max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX;

	return (struct lines_writer){
		.ranges = strbuf_with_max(max),
		.functions = strbuf_with_max(max),
		.files = strbuf_with_max(max),
		.marks = strbuf_with_max(max),
		.rows = strbuf_with_max(max),
		.strings = strbuf_with_max(max),
	};
}

void lines_writer_done(struct lines_writer *writer)
{
	strbuf_done(&writer->ranges);
	strbuf_done(&writer->functions);
	strbuf_done(&writer->files);
	strbuf_done(&writer->marks);
	strbuf_done(&writer->rows);
	strbuf_done(&writer->strings);
	htable_done(&writer->index);
}

/* All but ranges and base. */
static void clear_content(struct lines_writer *writer)
{
	strbuf_clear(&writer->functions);
	strbuf_clear(&writer->files);
	strbuf_clear(&writer->marks);
	strbuf_clear(&writer->rows);
	strbuf_clear(&writer->strings);
	htable_clear(&writer->index);
	writer->last = (struct lines_row){ 0 };
	writer->nr_rows = LINES_ROWS_A_MARK;
	writer->error = 0;
	strbuf_append_char(&writer->strings, '\0');
}

void lines_writer_begin(struct lines_writer *writer, uint64_t base)
{
	writer->base = base;
	strbuf_clear(&writer->ranges);
	clear_content(writer);
}

static void keep_error(struct lines_writer *writer, int error)
{
	if (writer->error == 0)
		writer->error = error;
}

void lines_writer_add_range(struct lines_writer *writer, uint64_t low, uint64_t high)
{
	if (low < writer->base || high <= low || high - writer->base > UINT32_MAX)
		return;
	const struct lines_range range = {
		.low = (uint32_t)(low - writer->base),
		.length = (uint32_t)(high - low),
	};
	strbuf_append(&writer->ranges, &range, sizeof(range));
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

uint32_t lines_writer_add_file(struct lines_writer *writer, const char *path)
{
	uint32_t string = add_string(writer, path);

	strbuf_append(&writer->files, &string, sizeof(string));
	return (uint32_t)(writer->files.len / sizeof(string));
}

void lines_writer_add_function(struct lines_writer *writer, const char *name,
			       const struct lines_function *function)
{
	struct lines_function added = *function;

	added.name = add_string(writer, name);
	strbuf_append(&writer->functions, &added, sizeof(added));
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

/* The first row of a mark is written in full, the others as differences. */
static void begin_mark(struct lines_writer *writer, uint32_t low)
{
	const struct lines_mark mark = { low, (uint32_t)writer->rows.len };

	strbuf_append(&writer->marks, &mark, sizeof(mark));
	writer->last = (struct lines_row){ .low = low };
	writer->nr_rows = 0;
}

static void put_row(struct lines_writer *writer, const struct lines_row *row)
{
	const struct lines_row *last = &writer->last;
	uint32_t distance = row->line - last->line;
	uint32_t zigzag = distance << 1 ^ (0U - (distance >> 31));
	uint64_t kind = (uint64_t)zigzag << LINES_ROW_LINE_SHIFT;
	uint8_t bytes[4 * MAX_NUMBER_BYTES];

	kind |= row->file != last->file ? LINES_ROW_HAS_FILE : 0;
	kind |= row->function != last->function ? LINES_ROW_HAS_FUNCTION : 0;
	uint8_t *end = put_number(bytes, row->low - last->low);
	end = put_number(end, kind);
	if (kind & LINES_ROW_HAS_FILE)
		end = put_number(end, row->file);
	if (kind & LINES_ROW_HAS_FUNCTION)
		end = put_number(end, row->function);
	strbuf_append(&writer->rows, bytes, (size_t)(end - bytes));
}

void lines_writer_add_row(struct lines_writer *writer, uint64_t address,
			  const struct lines_row *row)
{
	const struct lines_row *last = &writer->last;
	uint64_t low = address > writer->base ? address - writer->base : 0;

	if (low > UINT32_MAX ||
	    (row->line == last->line && row->file == last->file && row->function == last->function))
		return;

	struct lines_row added = *row;
	added.low = low > last->low ? (uint32_t)low : last->low;
	if (writer->nr_rows == LINES_ROWS_A_MARK)
		begin_mark(writer, added.low);
	put_row(writer, &added);
	writer->last = added;
	writer->nr_rows++;
}

static int error_of(const struct lines_writer *writer)
{
	const struct strbuf *parts[] = {
		&writer->ranges, &writer->functions, &writer->files,
		&writer->marks,	 &writer->rows,	     &writer->strings,
	};
	int r = writer->error;

	for (size_t i = 0; i < array_len(parts) && r == 0; i++)
		r = strbuf_error(parts[i]);
	return r;
}

static void append_part(struct strbuf *out, const struct strbuf *part)
{
	if (part->len > 0)
		strbuf_append(out, part->data, part->len);
}

static int append_unit(const struct lines_writer *writer, struct lines_unit_header *header,
		       struct strbuf *out)
{
	static const char zeros[LINES_ALIGNMENT];
	size_t len = sizeof(*header) + writer->ranges.len + writer->functions.len +
		     writer->files.len + writer->marks.len + writer->rows.len + writer->strings.len;
	size_t padded = (len + LINES_ALIGNMENT - 1) / LINES_ALIGNMENT * LINES_ALIGNMENT;

	if (padded > UINT32_MAX || padded > out->max - out->len)
		return -ENOSPC;
	header->nr_bytes = (uint32_t)padded;
	strbuf_append(out, header, sizeof(*header));
	append_part(out, &writer->ranges);
	append_part(out, &writer->functions);
	append_part(out, &writer->files);
	append_part(out, &writer->marks);
	append_part(out, &writer->rows);
	append_part(out, &writer->strings);
	strbuf_append(out, zeros, padded - len);
	return strbuf_error(out);
}

static int finish(struct lines_writer *writer, struct lines_unit_header *header, struct strbuf *out)
{
	int r = error_of(writer);

	if (r < 0)
		return r;
	header->base = writer->base;
	header->nr_ranges = (uint32_t)(writer->ranges.len / sizeof(struct lines_range));
	header->nr_functions = (uint32_t)(writer->functions.len / sizeof(struct lines_function));
	header->nr_files = (uint32_t)(writer->files.len / sizeof(uint32_t));
	header->nr_marks = (uint32_t)(writer->marks.len / sizeof(struct lines_mark));
	header->rows_len = (uint32_t)writer->rows.len;
	header->strings_len = (uint32_t)writer->strings.len;
	return append_unit(writer, header, out);
}

int lines_writer_finish(struct lines_writer *writer, uint32_t number, enum symbol_language language,
			struct strbuf *out)
{
	struct lines_unit_header header = { .number = number, .language = language };

	return finish(writer, &header, out);
}

int lines_writer_finish_empty(struct lines_writer *writer, uint32_t number, bool is_left_out,
			      struct strbuf *out)
{
	struct lines_unit_header header = { .number = number, .is_left_out = is_left_out };

	clear_content(writer);
	return finish(writer, &header, out);
}
