/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the functions that a worker has read and writes them as a block (jit_block.h). The agent
 * adds the block with the calls of jit_functions.h that have the same names. */
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
	bool is_java; /* the names are those of a Java VM */
	struct strbuf codes; /* struct jit_block_code */
	struct strbuf lines; /* struct jit_block_line */
	struct strbuf strings;
	size_t nr_lines_taken; /* lines after these wait for the next function */
	bool drops_lines; /* of an earlier block */
	uint32_t last_filename; /* of the previous line, if that waits */
	uint64_t nr_bad; /* malformed lines or records */
};

/* Makes an empty writer. Allocates nothing. */
void jit_writer_init(struct jit_writer *writer, size_t max_bytes, bool is_java);
void jit_writer_done(struct jit_writer *writer);

/* Returns whether there may be no room for another function or line. */
bool jit_writer_is_full(const struct jit_writer *writer);

/* See jit_functions_add_line() and jit_functions_drop_lines(). */
void jit_writer_add_line(struct jit_writer *writer, uint32_t offset, uint32_t line,
			 const char *filename);
void jit_writer_drop_lines(struct jit_writer *writer);

/* See jit_functions_add() and jit_functions_move(). Impossible addresses and lengths are counted in
 * nr_bad. */
void jit_writer_add(struct jit_writer *writer, const struct jit_code *code);
void jit_writer_move(struct jit_writer *writer, uint64_t index, uint64_t address,
		     uint64_t nr_bytes);

/* Appends the block. Errors: -ENOMEM here or in an earlier call, -ENOSPC it does not fit into
 * `reply`. */
int jit_writer_finish(const struct jit_writer *writer, struct strbuf *reply) must_check;

#endif
