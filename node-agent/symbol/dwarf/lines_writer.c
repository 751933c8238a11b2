/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_writer.h"

#include "base/hash.h"

#include <string.h>

#define MAX_NUMBER_BYTES 5 /* of a number in a row */

struct lines_writer lines_writer_with_max(size_t max_bytes)
{
	struct lines_writer writer = { 0 };

	for (size_t i = 0; i < LINES_NR_PARTS; i++)
		writer.parts[i] = strbuf_with_max(max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX);
	return writer;
}

void lines_writer_done(struct lines_writer *writer)
{
	for (size_t i = 0; i < LINES_NR_PARTS; i++)
		strbuf_done(&writer->parts[i]);
	htable_done(&writer->index);
}

/* Clears everything except the base and the ranges. */
static void clear_content(struct lines_writer *writer)
{
	for (size_t i = LINES_FUNCTIONS; i < LINES_NR_PARTS; i++)
		strbuf_clear(&writer->parts[i]);
	htable_clear(&writer->index);
	writer->last = (struct lines_row){ 0 };
	writer->nr_rows = LINES_ROWS_PER_MARK;
	writer->error = 0;
	strbuf_append_char(&writer->parts[LINES_STRINGS], '\0');
}

void lines_writer_begin(struct lines_writer *writer, uint64_t base)
{
	writer->base = base;
	strbuf_clear(&writer->parts[LINES_RANGES]);
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
	strbuf_append(&writer->parts[LINES_RANGES], &range, sizeof(range));
}

/* Returns the offset of a string, which is added if it is new; 0 after a failure. */
static uint32_t add_string(struct lines_writer *writer, const char *text)
{
	struct strbuf *strings = &writer->parts[LINES_STRINGS];
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

	strbuf_append(&writer->parts[LINES_FILES], &string, sizeof(string));
	return (uint32_t)(writer->parts[LINES_FILES].len / sizeof(string));
}

void lines_writer_add_function(struct lines_writer *writer, const char *name,
			       const struct lines_function *function)
{
	struct lines_function added = *function;

	added.name = add_string(writer, name);
	strbuf_append(&writer->parts[LINES_FUNCTIONS], &added, sizeof(added));
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

/* Begins a mark. The next row is relative to the mark and not to the previous row. */
static void begin_mark(struct lines_writer *writer, uint32_t low)
{
	const struct lines_mark mark = { low, (uint32_t)writer->parts[LINES_ROWS].len };

	strbuf_append(&writer->parts[LINES_MARKS], &mark, sizeof(mark));
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
	strbuf_append(&writer->parts[LINES_ROWS], bytes, (size_t)(end - bytes));
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
	if (writer->nr_rows == LINES_ROWS_PER_MARK)
		begin_mark(writer, added.low);
	put_row(writer, &added);
	writer->last = added;
	writer->nr_rows++;
}

static int error_of(const struct lines_writer *writer)
{
	int r = writer->error;

	for (size_t i = 0; i < LINES_NR_PARTS && r == 0; i++)
		r = strbuf_error(&writer->parts[i]);
	return r;
}

static int append_unit(const struct lines_writer *writer, struct lines_unit_header *header,
		       struct strbuf *out)
{
	static const char zeros[LINES_ALIGNMENT];
	size_t len = sizeof(*header);

	for (size_t i = 0; i < LINES_NR_PARTS; i++)
		len += writer->parts[i].len;
	size_t padded = (len + LINES_ALIGNMENT - 1) / LINES_ALIGNMENT * LINES_ALIGNMENT;
	if (padded > UINT32_MAX || padded > out->max - out->len)
		return -ENOSPC;
	header->nr_bytes = (uint32_t)padded;
	strbuf_append(out, header, sizeof(*header));
	for (size_t i = 0; i < LINES_NR_PARTS; i++)
		strbuf_append(out, writer->parts[i].data, writer->parts[i].len);
	strbuf_append(out, zeros, padded - len);
	return strbuf_error(out);
}

static uint32_t count_items(const struct lines_writer *writer, enum lines_part part,
			    size_t item_bytes)
{
	return (uint32_t)(writer->parts[part].len / item_bytes);
}

static int finish(struct lines_writer *writer, struct lines_unit_header *header, struct strbuf *out)
{
	int r = error_of(writer);

	if (r < 0)
		return r;
	header->base = writer->base;
	header->nr_ranges = count_items(writer, LINES_RANGES, sizeof(struct lines_range));
	header->nr_functions = count_items(writer, LINES_FUNCTIONS, sizeof(struct lines_function));
	header->nr_files = count_items(writer, LINES_FILES, sizeof(uint32_t));
	header->nr_marks = count_items(writer, LINES_MARKS, sizeof(struct lines_mark));
	header->rows_len = (uint32_t)writer->parts[LINES_ROWS].len;
	header->strings_len = (uint32_t)writer->parts[LINES_STRINGS].len;
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
