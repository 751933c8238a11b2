/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker has read of a list of functions, on its way to be a block (jit_block.h). Shaped as
 * jit_functions.h, to which the block is added in the end. */
#ifndef SYMBOL_JIT_JIT_WRITER_H
#define SYMBOL_JIT_JIT_WRITER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "symbol/jit/jit_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_writer {
	size_t max_bytes; /* of the block */
	bool is_java; /* whose names these are */
	struct strbuf codes; /* struct jit_block_code */
	struct strbuf lines; /* struct jit_block_line */
	struct strbuf strings;
	size_t nr_lines_taken; /* those behind are for the next function */
	bool drops_lines; /* that were written into a block before */
	uint32_t last_filename; /* of the line before, if it waits */
	uint64_t nr_bad; /* lines or records that say nothing */
};

/* Allocates nothing. */
void jit_writer_init(struct jit_writer *writer, size_t max_bytes, bool is_java);
void jit_writer_done(struct jit_writer *writer);

/* Whether there may be no room for another function or line. */
bool jit_writer_is_full(const struct jit_writer *writer);

/* As jit_functions_add_line() and jit_functions_drop_lines(). */
void jit_writer_add_line(struct jit_writer *writer, uint32_t offset, uint32_t line,
			 const char *filename);
void jit_writer_drop_lines(struct jit_writer *writer);

/* As jit_functions_add() and jit_functions_move(); one that cannot be is counted in nr_bad. */
void jit_writer_add(struct jit_writer *writer, const struct jit_code *code);
void jit_writer_move(struct jit_writer *writer, uint64_t index, uint64_t address,
		     uint64_t nr_bytes);

/* Appends the block. Errors: -ENOMEM also of what went before, -ENOSPC more than `reply` takes. */
int jit_writer_finish(const struct jit_writer *writer, struct strbuf *reply) must_check;

#endif
