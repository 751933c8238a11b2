/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_writer.h"

#include "symbol/jit/jit_block.h"

#include <string.h>

#define ONE_MORE_BYTES                                                                             \
	(sizeof(struct jit_block_code) + sizeof(struct jit_block_line) + JIT_NAME_MAX_BYTES + 1)

void jit_writer_init(struct jit_writer *writer, size_t max_bytes, bool is_java)
{
	*writer = (struct jit_writer){
		.max_bytes = max_bytes,
		.is_java = is_java,
		.codes = strbuf_with_max(max_bytes),
		.lines = strbuf_with_max(max_bytes),
		.strings = strbuf_with_max(max_bytes),
		.last_filename = JIT_BLOCK_SAME_FILE,
	};
}

void jit_writer_done(struct jit_writer *writer)
{
	strbuf_done(&writer->codes);
	strbuf_done(&writer->lines);
	strbuf_done(&writer->strings);
}

bool jit_writer_is_full(const struct jit_writer *writer)
{
	return sizeof(struct jit_block) + writer->codes.len + writer->lines.len +
		       writer->strings.len + ONE_MORE_BYTES >
	       writer->max_bytes;
}

static uint32_t add_string(struct jit_writer *writer, const char *text)
{
	uint32_t place = (uint32_t)writer->strings.len;

	strbuf_append(&writer->strings, text, strlen(text) + 1);
	return place;
}

static size_t count_lines(const struct jit_writer *writer)
{
	return writer->lines.len / sizeof(struct jit_block_line);
}

/* Returns whether the previous line has that filename. */
static bool is_last_filename(const struct jit_writer *writer, const char *filename)
{
	return writer->last_filename < writer->strings.len &&
	       strcmp(writer->strings.data + writer->last_filename, filename) == 0;
}

void jit_writer_add_line(struct jit_writer *writer, uint32_t offset, uint32_t line,
			 const char *filename)
{
	struct jit_block_line written = {
		.offset = offset,
		.line = line,
		.filename = JIT_BLOCK_SAME_FILE,
	};

	if (filename && !is_last_filename(writer, filename)) {
		written.filename = add_string(writer, filename);
		writer->last_filename = written.filename;
	}
	strbuf_append(&writer->lines, &written, sizeof(written));
}

void jit_writer_drop_lines(struct jit_writer *writer)
{
	strbuf_truncate(&writer->lines, writer->nr_lines_taken * sizeof(struct jit_block_line));
	writer->last_filename = JIT_BLOCK_SAME_FILE;
	writer->drops_lines = true;
}

static void append_code(struct jit_writer *writer, struct jit_block_code *code)
{
	code->drops_lines = writer->drops_lines;
	writer->drops_lines = false;
	strbuf_append(&writer->codes, code, sizeof(*code));
}

void jit_writer_add(struct jit_writer *writer, const struct jit_code *code)
{
	size_t nr_lines = count_lines(writer);
	struct jit_block_code written = {
		.address = code->address,
		.index = code->index,
		.nr_bytes = (uint32_t)code->nr_bytes,
		.nr_lines = (uint32_t)(nr_lines - writer->nr_lines_taken),
		.line_shift = (uint16_t)code->line_shift,
		.kind = code->has_index ? JIT_BLOCK_ADD_WITH_INDEX : JIT_BLOCK_ADD,
		.parts = code->parts,
	};

	if (!jit_functions_can_have(code->address, code->nr_bytes)) {
		writer->nr_bad++;
		return;
	}
	written.name = add_string(writer, code->name);
	append_code(writer, &written);
	writer->nr_lines_taken = nr_lines;
	writer->last_filename = JIT_BLOCK_SAME_FILE;
}

void jit_writer_move(struct jit_writer *writer, uint64_t index, uint64_t address, uint64_t nr_bytes)
{
	struct jit_block_code written = {
		.address = address,
		.index = index,
		.nr_bytes = (uint32_t)nr_bytes,
		.kind = JIT_BLOCK_MOVE,
	};

	if (jit_functions_can_have(address, nr_bytes))
		append_code(writer, &written);
	else
		writer->nr_bad++;
}

static int first_error(const struct jit_writer *writer)
{
	int r = strbuf_error(&writer->codes);

	if (r == 0)
		r = strbuf_error(&writer->lines);
	return r == 0 ? strbuf_error(&writer->strings) : r;
}

int jit_writer_finish(const struct jit_writer *writer, struct strbuf *reply)
{
	const struct jit_block block = {
		.nr_codes = (uint32_t)(writer->codes.len / sizeof(struct jit_block_code)),
		.nr_lines = (uint32_t)count_lines(writer),
		.nr_string_bytes = (uint32_t)writer->strings.len,
		.drops_lines = writer->drops_lines,
	};

	int r = first_error(writer);
	if (r < 0)
		return r;
	strbuf_append(reply, &block, sizeof(block));
	strbuf_append(reply, writer->codes.data, writer->codes.len);
	strbuf_append(reply, writer->lines.data, writer->lines.len);
	strbuf_append(reply, writer->strings.data, writer->strings.len);
	return strbuf_error(reply);
}
