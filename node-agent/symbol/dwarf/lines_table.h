/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a file's source lines: the units (lines_unit.h) that somebody needed so far, as
 * one run of bytes, which is also what is kept on disk, and which code they are about. */
#ifndef SYMBOL_DWARF_LINES_TABLE_H
#define SYMBOL_DWARF_LINES_TABLE_H

#include "base/err.h"
#include "symbol/frame/symbol_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_TABLE_MAX_BYTES ((size_t)256 << 20)

/* Code that a unit is about. */
struct lines_span {
	uint64_t low;
	uint64_t high; /* behind it */
	uint32_t unit; /* where it is in bytes, divided by LINES_ALIGNMENT */
};

/* Zeros are an empty one. */
struct lines_table {
	/* owned; this and the next as long as they are: units are added a few times,
	 * and there are many tables */
	char *bytes;
	size_t nr_bytes;
	struct lines_span *spans; /* owned; by low */
	size_t nr_spans;
};

/* What lines_table_add() has added. */
struct lines_added {
	size_t nr_units; /* with lines, or code that has none */
	size_t nr_left_out; /* over a limit: without lines */
};

/* Frees everything; the table is empty then and may be used again. */
void lines_table_done(struct lines_table *table);

/* Memory it holds. */
size_t lines_table_bytes(const struct lines_table *table);

/* Adds units, none or several one behind the other, after checking all of them. On failure the
 * table is as it was. Errors: -EBADMSG damaged, -ENOSPC over LINES_TABLE_MAX_BYTES, -ENOMEM. */
int lines_table_add(struct lines_table *table, const void *bytes, size_t len,
		    struct lines_added *ret_added) must_check;

/* Whether bytes, aligned to LINES_ALIGNMENT, are units that can be added, and at least one. */
bool lines_table_is_valid(const void *bytes, size_t len);

/* The functions at an address, as lines_unit_find(); strings are borrowed until the next change.
 * Returns how many there are, 0 where there is nothing to know. Errors: -ENOENT no unit is about
 * that address: somebody has to look. */
int lines_table_find(const struct lines_table *table, uint64_t address,
		     struct symbol_line ret_lines[static SYMBOL_MAX_LINES],
		     enum symbol_language *ret_language) must_check;

#endif
