/* SPDX-License-Identifier: Apache-2.0 */
/* Makes units (lines_unit.h): the worker's side.
 *
 *	lines_writer_begin(&writer, base);
 *	lines_writer_add_range(&writer, low, high);
 *	file = lines_writer_add_file(&writer, "/src/scan.c");
 *	function = lines_writer_add_function(&writer, "parse", &facts);
 *	lines_writer_add_row(&writer, address, &row);		by address
 *	lines_writer_finish(&writer, number, language, &out);
 *
 * Adding never returns an error: the first failure is kept, and told at the end. */
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

/* All owned; memory is kept from one unit to the next. */
struct lines_writer {
	uint64_t base;
	struct strbuf parts[LINES_NR_PARTS];
	struct htable index; /* of the strings: rows are offsets */
	struct lines_row last;
	size_t nr_rows; /* since the last mark */
	int error; /* first failure, or 0 */
};

/* No part of a unit may be longer than `max_bytes`. Nothing is allocated. */
struct lines_writer lines_writer_with_max(size_t max_bytes);
void lines_writer_done(struct lines_writer *writer);

/* Forgets what was added. `base` is the lowest address that counts. */
void lines_writer_begin(struct lines_writer *writer, uint64_t base);

/* Code of the unit; what lies 4 GB behind the base or farther is left out. */
void lines_writer_add_range(struct lines_writer *writer, uint64_t low, uint64_t high);

/* What rows and calls name the file by: never 0. */
uint32_t lines_writer_add_file(struct lines_writer *writer, const char *path);

/* Functions are numbered as they are added, from 0 on; function->name is set here. */
void lines_writer_add_function(struct lines_writer *writer, const char *name,
			       const struct lines_function *function);

/* What holds from an address on; row->low does not count. What is as before is left out; addresses
 * below the base are the base. */
void lines_writer_add_row(struct lines_writer *writer, uint64_t address,
			  const struct lines_row *row);

/* Appends the unit. Errors: the first one kept, -ENOSPC it is too long for `out`, which is
 * as it was then; -ENOMEM. */
int lines_writer_finish(struct lines_writer *writer, uint32_t number, enum symbol_language language,
			struct strbuf *out) must_check;

/* Appends a unit that has nothing but the ranges added. Errors: as above. */
int lines_writer_finish_empty(struct lines_writer *writer, uint32_t number, bool is_left_out,
			      struct strbuf *out) must_check;

#endif
