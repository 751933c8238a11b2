/* SPDX-License-Identifier: Apache-2.0 */
/* Writes units (lines_unit.h) in the symbol worker.
 *
 *	lines_writer_begin(&writer, base);
 *	lines_writer_add_range(&writer, low, high);
 *	file = lines_writer_add_file(&writer, "/src/scan.c");
 *	function = lines_writer_add_function(&writer, "parse", &facts);
 *	lines_writer_add_row(&writer, address, &row);		in the order of addresses
 *	lines_writer_finish(&writer, number, language, &out);
 *
 * Functions that add something never return an error. The writer keeps the first failure, which
 * lines_writer_finish() returns. */
#ifndef SYMBOL_DWARF_LINES_WRITER_H
#define SYMBOL_DWARF_LINES_WRITER_H

#include "base/err.h"
#include "base/htable.h"
#include "base/strbuf.h"
#include "symbol/dwarf/lines_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of a unit, in their order. */
enum lines_part {
	LINES_RANGES,
	LINES_FUNCTIONS,
	LINES_FILES,
	LINES_MARKS,
	LINES_ROWS,
	LINES_STRINGS,
	LINES_NR_PARTS,
};

/* Everything is owned. The memory is reused for the next unit. */
struct lines_writer {
	uint64_t base;
	struct strbuf parts[LINES_NR_PARTS];
	struct htable index; /* offsets of strings by their hash */
	struct lines_row last;
	size_t nr_rows; /* since the last mark */
	int error; /* first failure, or 0 */
};

/* Returns a writer for units whose parts have at most `max_bytes` each. Allocates nothing. */
struct lines_writer lines_writer_with_max(size_t max_bytes);
void lines_writer_done(struct lines_writer *writer);

/* Begins a unit. `base` is its lowest address. */
void lines_writer_begin(struct lines_writer *writer, uint64_t base);

/* Adds a range of code. A range that ends more than 4 GB after the base is ignored. */
void lines_writer_add_range(struct lines_writer *writer, uint64_t low, uint64_t high);

/* Adds a file and returns its number in rows and calls, which is never 0. */
uint32_t lines_writer_add_file(struct lines_writer *writer, const char *path);

/* Adds a function. Functions are numbered from 0 in the order of these calls. function->name is
 * ignored. */
void lines_writer_add_function(struct lines_writer *writer, const char *name,
			       const struct lines_function *function);

/* Adds a row that holds from an address on; row->low is ignored. A row that equals the previous one
 * is left out. An address below the base becomes the base. */
void lines_writer_add_row(struct lines_writer *writer, uint64_t address,
			  const struct lines_row *row);

/* Appends the unit. Errors: the first failure since lines_writer_begin(), -ENOSPC the unit is too
 * long for `out`, which is unchanged then, -ENOMEM. */
int lines_writer_finish(struct lines_writer *writer, uint32_t number, enum symbol_language language,
			struct strbuf *out) must_check;

/* Appends a unit that has only ranges. Errors: as above. */
int lines_writer_finish_empty(struct lines_writer *writer, uint32_t number, bool is_left_out,
			      struct strbuf *out) must_check;

#endif
