/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that the tables of a profile under construction may take together, with their
 * indexes. */
#ifndef PROFILE_ROW_BUDGET_H
#define PROFILE_ROW_BUDGET_H

#include "base/err.h"
#include "base/htable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum rows of a table: numbers have 32 bits, and an index stores number + 1. */
#define ROWS_MAX (UINT32_MAX - 1)

/* Bytes of the index per row: a slot has 8 bytes, and just after doubling the index is 3/8 full. */
#define ROW_INDEX_BYTES 22

struct row_budget {
	size_t max_bytes;
	size_t nr_bytes; /* charged so far; never above max_bytes */
};

/* Returns whether that many more bytes may be charged. */
bool row_budget_has_room(const struct row_budget *budget, size_t bytes);

/* Adds a new row to its index and charges for both; `bytes` is the size of the row. Errors:
 * -ENOSPC, -ENOMEM; then nothing has changed. */
int row_budget_book(struct row_budget *budget, struct htable *index, uint32_t hash, size_t row,
		    size_t bytes) must_check;

#endif
