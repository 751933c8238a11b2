/* SPDX-License-Identifier: Apache-2.0 */
/* Makes row tables: takes the rules of functions in ascending order, finds the few hundred that are
 * different, and packs what is left.
 *
 * Rows are merged on the way: neighbours with the same rule; pushes and pops a few bytes apart,
 * which become one row with a run (CFI_RUN_UP, CFI_RUN_DOWN); gaps of padding between functions.
 * Places where a register is saved below the stack pointer say nothing (shared/cfi.h) and are
 * dropped, so that a prologue's and an epilogue's rules are the same ones. */
#ifndef UNWIND_ROWS_ROW_BUILDER_H
#define UNWIND_ROWS_ROW_BUILDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/rows/row_table.h"

#include <stddef.h>
#include <stdint.h>

/* Between functions that are no further apart there is padding, not code. */
#define ROW_BUILDER_PADDING 15

struct row_builder;

/* `max_bytes` bounds the table. Errors: -ENOMEM. */
int row_builder_new(size_t max_bytes, struct row_builder **ret_builder) must_check;
void row_builder_free(struct row_builder *builder);
DEFINE_FREEP(struct row_builder, row_builder_free)

/* Begins a function: `len` bytes of code at virtual address `address`, which are at
 * `file_offset` of the file. Functions come in ascending order of file offset and do not
 * overlap: what a function shares with the one before it is cut off its beginning. Code between
 * functions has no CFI. Errors: -ENOSPC over max_bytes, -ENOMEM. */
int row_builder_begin(struct row_builder *builder, uint64_t address, uint64_t len,
		      uint64_t file_offset) must_check;

/* From `address` on, up to the next row or the function's end, this rule holds. Rows come in
 * ascending order; of several for one address the last one counts; those outside the function
 * are clipped. `rule` has no run. Errors: -ENOSPC over max_bytes or ROW_TABLE_MAX_RULES,
 * -ENOMEM; then nothing more may be added. */
int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
	must_check;

/* The finished table; the builder is empty after it, also when that fails. Errors: -ENODATA
 * nothing but code without CFI was added; what a begin or add before it said. */
int row_builder_seal(struct row_builder *builder, struct row_table_bytes *ret_table) must_check;

/* Rows before merging, in all tables of the builder, for statistics. */
uint64_t row_builder_nr_added(const struct row_builder *builder);

#endif
