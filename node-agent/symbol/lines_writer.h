/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a lines block (lines_block.h): the worker's side.
 *
 *	lines_writer_begin(&writer, i);			the address those lines are of; any order
 *	lines_writer_add(&writer, &line, language);	innermost first
 *
 * Adding never returns an error: the first failure is kept, and told by lines_writer_finish(). */
#ifndef SYMBOL_LINES_WRITER_H
#define SYMBOL_LINES_WRITER_H

#include "base/err.h"
#include "base/htable.h"
#include "base/strbuf.h"
#include "symbol/lines_block.h"

#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_STRING 4096 /* names and paths are cut to so many bytes */

struct lines_writer {
	struct lines_block_range *ranges; /* owned; one an address */
	size_t nr_addresses;
	struct lines_block_range *open; /* of the address begun last */
	struct lines_block_line *lines; /* owned */
	size_t nr_lines;
	size_t cap_lines;
	struct strbuf strings;
	struct htable index; /* of `strings`: rows are offsets */
	size_t max_bytes; /* of the block */
	int error; /* first failure, or 0 */
};

/* Errors: -ENOSPC when not even the addresses' ranges have room, -ENOMEM. */
int lines_writer_init(struct lines_writer *writer, size_t nr_addresses, size_t max_bytes)
	must_check;
void lines_writer_done(struct lines_writer *writer);

/* Nothing may have been added for that address before. */
void lines_writer_begin(struct lines_writer *writer, size_t address);

/* Adds a line to the address begun last: system_name (not ""), filename, line and start_line. More than
 * SYMBOL_MAX_LINES are -ENOSPC. */
void lines_writer_add(struct lines_writer *writer, const struct symbol_line *line,
		      enum symbol_language language);

/* Appends the block. Errors: the first one kept, -ENOSPC or -ENOMEM; `out` keeps it too. */
int lines_writer_finish(struct lines_writer *writer, struct strbuf *out) must_check;

#endif
