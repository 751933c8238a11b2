/* SPDX-License-Identifier: Apache-2.0 */
/* A block: the samples of a minute or less, as columns. Samples are grouped by label set, then by
 * stack, then by second. What of a block is not asked for is skipped. docs/record.md describes the
 * bytes. */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The samples of a label set and a stack in one second. */
struct block_row {
	uint32_t labels; /* row of the dictionary */
	uint32_t node; /* the same */
	uint32_t second; /* from the block's first one on */
	uint64_t value; /* sum of the samples' counts */
};

/* Sorts the rows and joins those that differ in the value only. Returns their new number. */
size_t block_sort(struct block_row *rows, size_t nr);

/* Appends rows that block_sort() left. Failures are kept in `out`. */
void block_encode(const struct block_row *rows, size_t nr, struct strbuf *out);

/* The functions that block_decode() calls. */
struct block_visitor {
	/* Called before the rows of each label set. Returns whether they are wanted. */
	bool (*wants)(uint32_t labels, void *data);
	/* Errors: any, which ends the reading. */
	int (*visit)(const struct block_row *row, void *data);
	void *data;
	/* Whether visit() gets one row for a label set and a stack, with the sum of all its values
	 * and second 0. The seconds are not read then. */
	bool joins_seconds;
};

/* Reads an encoded block. The numbers of label sets and nodes must be below the limits. Errors:
 * -EBADMSG damaged, those of visit(). */
int block_decode(const void *bytes, size_t len, uint32_t nr_labels, uint32_t nr_nodes,
		 const struct block_visitor *visitor) must_check;

#endif
