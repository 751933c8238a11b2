/* SPDX-License-Identifier: Apache-2.0 */
/* Makes row tables: takes the rules of functions in ascending order, numbers the few hundred
 * different ones, and packs the rows.
 *
 * Rows are merged on the way: neighbours with the same rule; pushes and pops a few bytes apart,
 * which become one row with a run (CFI_RUN_UP, CFI_RUN_DOWN); gaps of padding between functions.
 * Places of saved registers below the stack pointer say nothing (shared/cfi.h) and are dropped,
 * so that prologues and epilogues have the same rules. */
#ifndef UNWIND_ROWS_ROW_BUILDER_H
#define UNWIND_ROWS_ROW_BUILDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/rows/row_table.h"

#include <stddef.h>
#include <stdint.h>

/* Gaps of so many bytes between functions are padding, not code. */
#define ROW_BUILDER_PADDING 15

struct row_builder;

/* Makes a builder of a table of at most `max_bytes`. Errors: -ENOMEM. */
int row_builder_new(size_t max_bytes, struct row_builder **ret_builder) must_check;
void row_builder_free(struct row_builder *builder);
DEFINE_FREEP(struct row_builder, row_builder_free)

/* Begins a function: `len` bytes of code at virtual address `address`, which are at
 * `file_offset` of the file. Functions come in ascending order of file offset and do not
 * overlap: what a function shares with the one before it is cut off its beginning. Code between
 * functions has no CFI. Errors: -ENOSPC over max_bytes, -ENOMEM. */
int row_builder_begin(struct row_builder *builder, uint64_t address, uint64_t len,
		      uint64_t file_offset) must_check;

/* Adds a row: this rule holds from `address` on, up to the next row or the end of the function.
 * Rows come in ascending order; of several for one address the last one counts; rows outside the
 * function are clipped. `rule` has no run. Errors: -ENOSPC over max_bytes or
 * ROW_TABLE_MAX_RULES, -ENOMEM; then nothing more may be added. */
int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
	must_check;

/* Finishes the table. The builder is empty afterwards, also on failure. Errors: -ENODATA only
 * code without CFI was added; the first error of the functions above. */
int row_builder_seal(struct row_builder *builder, struct row_table_bytes *ret_table) must_check;

/* Returns the number of rows before merging, of all tables of the builder, for statistics. */
uint64_t row_builder_nr_added(const struct row_builder *builder);

#endif
