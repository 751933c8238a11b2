/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of a file: the units (lines_unit.h) that were needed so far, and an index by
 * address. The units are stored one after another in the same format as on disk. */
#ifndef SYMBOL_DWARF_LINES_TABLE_H
#define SYMBOL_DWARF_LINES_TABLE_H

#include "base/err.h"
#include "symbol/frame/symbol_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_TABLE_MAX_BYTES ((size_t)256 << 20)

/* A range of addresses that a unit describes. */
struct lines_span {
	uint64_t low;
	uint64_t high; /* exclusive */
	uint32_t unit; /* its offset in `bytes`, divided by LINES_ALIGNMENT */
};

/* An empty table is all zeros. */
struct lines_table {
	/* owned; not larger than needed, because there are many tables and units are seldom
	 * added */
	char *bytes;
	size_t nr_bytes;
	struct lines_span *spans; /* owned; sorted by low; not larger than needed either */
	size_t nr_spans;
};

/* Number of units that lines_table_add() has added. */
struct lines_added {
	size_t nr_units; /* complete ones, including those of code between units */
	size_t nr_left_out; /* units above a limit, which have no lines */
};

/* Frees everything. The table is empty afterwards and can be used again. */
void lines_table_done(struct lines_table *table);

/* Returns the memory that the table uses. */
size_t lines_table_bytes(const struct lines_table *table);

/* Checks units and adds them. `bytes` contains any number of units, one after another. On failure,
 * the table is unchanged. Errors: -EBADMSG a unit is damaged, -ENOSPC above LINES_TABLE_MAX_BYTES,
 * -ENOMEM. */
int lines_table_add(struct lines_table *table, const void *bytes, size_t len,
		    struct lines_added *ret_added) must_check;

/* Returns whether bytes, aligned to LINES_ALIGNMENT, are one or more valid units. */
bool lines_table_is_valid(const void *bytes, size_t len);

/* Finds the functions at an address, as lines_unit_find() does. Strings are borrowed until the
 * table changes. Returns the number of functions, or 0 if the file has none at this address.
 * Errors: -ENOENT no unit of the table contains the address; it must be requested first. */
int lines_table_find(const struct lines_table *table, uint64_t address,
		     struct symbol_line ret_lines[static SYMBOL_MAX_LINES],
		     enum symbol_language *ret_language) must_check;

#endif
