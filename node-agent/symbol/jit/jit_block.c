/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_block.h"

#include <string.h>

/* A position in the strings; each walk visits them in their order. */
struct walk {
	const char *strings;
	size_t len;
	size_t next; /* lowest offset at which the next string may begin */
};

/* Returns the length of the string at `place`, or a negative number if there is none, or if it does
 * not come after the previous string. */
static ssize_t walk_to(struct walk *walk, uint32_t place)
{
	if (place < walk->next || place >= walk->len)
		return -1;
	size_t max = walk->len - place;
	size_t len = strnlen(walk->strings + place, max);

	if (len == max || len > JIT_NAME_MAX_BYTES)
		return -1;
	walk->next = place + len + 1;
	return (ssize_t)len;
}

static bool is_code_good(const struct jit_block_code *code, struct walk *names)
{
	if (!jit_functions_can_have(code->address, code->nr_bytes) || code->drops_lines > 1 ||
	    code->line_shift > JIT_BLOCK_MAX_SHIFT || code->kind >= JIT_BLOCK_KINDS)
		return false;
	if (code->kind == JIT_BLOCK_MOVE)
		return code->nr_lines == 0 && code->name == 0 && code->line_shift == 0;
	ssize_t len = walk_to(names, code->name);
	return len >= 0 && jit_names_can_have(&code->parts, (size_t)len);
}

static bool are_codes_good(const struct jit_block_view *view)
{
	struct walk names = { .strings = view->strings, .len = view->block->nr_string_bytes };
	uint64_t nr_lines = 0;

	for (size_t i = 0; i < view->block->nr_codes; i++) {
		if (!is_code_good(&view->codes[i], &names))
			return false;
		nr_lines += view->codes[i].nr_lines;
	}
	return nr_lines <= view->block->nr_lines;
}

static bool are_lines_good(const struct jit_block_view *view)
{
	struct walk filenames = { .strings = view->strings, .len = view->block->nr_string_bytes };

	for (size_t i = 0; i < view->block->nr_lines; i++) {
		const struct jit_block_line *line = &view->lines[i];

		if (line->offset > JIT_FUNCTION_MAX_BYTES || line->line == 0 ||
		    line->line > INT32_MAX)
			return false;
		if (line->filename != JIT_BLOCK_SAME_FILE &&
		    walk_to(&filenames, line->filename) < 0)
			return false;
	}
	return true;
}

static bool has_length(const struct jit_block *block, size_t len)
{
	uint64_t expected = sizeof(*block) +
			    (uint64_t)block->nr_codes * sizeof(struct jit_block_code) +
			    (uint64_t)block->nr_lines * sizeof(struct jit_block_line) +
			    block->nr_string_bytes;

	return expected == len;
}

int jit_block_open(const void *bytes, size_t len, struct jit_block_view *ret_view)
{
	const struct jit_block *block = bytes;

	if (len < sizeof(*block) || !has_length(block, len) || block->drops_lines > 1)
		return -EBADMSG;
	const struct jit_block_code *codes = (const void *)(block + 1);
	const struct jit_block_line *lines = (const void *)(codes + block->nr_codes);
	const struct jit_block_view view = {
		.block = block,
		.codes = codes,
		.lines = lines,
		.strings = (const void *)(lines + block->nr_lines),
	};
	if (!are_codes_good(&view) || !are_lines_good(&view))
		return -EBADMSG;
	*ret_view = view;
	return 0;
}

/* Functions without lines are better than no functions, so a limit on lines is not an error. */
static int add_lines(const struct jit_block_view *view, size_t first, size_t nr,
		     struct jit_functions *functions, struct jit_block_counts *counts)
{
	for (size_t i = first; i < first + nr; i++) {
		const struct jit_block_line *line = &view->lines[i];
		const char *filename = line->filename == JIT_BLOCK_SAME_FILE
					       ? NULL
					       : view->strings + line->filename;

		int r = jit_functions_add_line(functions, line->offset, line->line, filename);
		if (r < 0 && r != -ENOSPC)
			return r;
		counts->nr_lines_dropped += r == -ENOSPC;
	}
	return 0;
}

static int add_code(const struct jit_block_view *view, const struct jit_block_code *code,
		    struct jit_functions *functions)
{
	const struct jit_code added = {
		.address = code->address,
		.nr_bytes = code->nr_bytes,
		.name = view->strings + code->name,
		.parts = code->parts,
		.has_index = code->kind == JIT_BLOCK_ADD_WITH_INDEX,
		.index = code->index,
		.line_shift = code->line_shift,
	};

	if (code->kind == JIT_BLOCK_MOVE)
		return jit_functions_move(functions, code->index, code->address, code->nr_bytes);
	return jit_functions_add(functions, &added);
}

int jit_block_add_to(const struct jit_block_view *view, struct jit_functions *functions,
		     struct jit_block_counts *counts)
{
	size_t nr_lines = 0;

	for (size_t i = 0; i < view->block->nr_codes; i++) {
		const struct jit_block_code *code = &view->codes[i];

		if (code->drops_lines)
			jit_functions_drop_lines(functions);
		int r = add_lines(view, nr_lines, code->nr_lines, functions, counts);
		if (r == 0)
			r = add_code(view, code, functions);
		if (r < 0 && r != -ENOENT)
			return r;
		nr_lines += code->nr_lines;
		counts->nr_bad += r == -ENOENT;
	}
	if (view->block->drops_lines)
		jit_functions_drop_lines(functions);
	return add_lines(view, nr_lines, view->block->nr_lines - nr_lines, functions, counts);
}
