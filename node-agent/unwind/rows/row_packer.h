/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a row table while it grows: its rules, each one once, its rows, and the page
 * directory. */
#ifndef UNWIND_ROWS_ROW_PACKER_H
#define UNWIND_ROWS_ROW_PACKER_H

#include "base/err.h"
#include "base/htable.h"
#include "unwind/rows/row_table.h"

#include <stddef.h>
#include <stdint.h>

struct row_packer {
	size_t max_bytes; /* of the table */
	uint32_t *rows; /* owned */
	size_t nr_rows, cap_rows;
	uint32_t *pages; /* owned; the first row of each page */
	size_t nr_pages, cap_pages;
	uint64_t first_page;
	struct cfi_rule *rules; /* owned; without rule 0, so that number n is at n - 1 */
	size_t nr_rules, cap_rules;
	struct htable rule_index;
};

void row_packer_init(struct row_packer *packer, size_t max_bytes);

/* Empties the packer, which may be used again. */
void row_packer_done(struct row_packer *packer);

/* Adds a row, above all others. Errors: -ENOSPC over max_bytes or ROW_TABLE_MAX_RULES, -ENOMEM;
 * then the table must not be used. */
int row_packer_add(struct row_packer *packer, uint64_t file_offset, const struct cfi_rule *rule)
	must_check;

/* Makes the table. Errors: -ENODATA there are no rows, -ENOMEM. */
int row_packer_seal(const struct row_packer *packer, struct row_table_bytes *ret_table) must_check;

#endif
