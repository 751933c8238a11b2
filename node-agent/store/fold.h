/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares what a block added to the dictionary for being written: numbers it in the order of the
 * tree, which takes the fewest bytes, and folds rare stacks.
 *
 * Most stacks of a busy node occur once: their frames, not the samples, fill the record. So a new
 * node of the tree that has fewer than `min_count` samples in its block ends in its parent, below
 * which a frame "[folded]" stands for it. Counts and labels stay exact. */
#ifndef STORE_FOLD_H
#define STORE_FOLD_H

#include "base/err.h"
#include "store/dict.h"
#include "store/ingest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_NAME "[folded]"

/* The rows of a block of one kind, and what a row weighs. */
struct fold_rows {
	struct block_rows *rows; /* borrowed */
	bool counts_values; /* a row weighs its value, not 1 */
	uint64_t folded; /* is increased by the values of rows whose stacks are not whole */
};

/* Numbers and folds (1: does not fold) the nodes that were added since the mark, and removes all
 * rows of the dictionary that no sample needs any more. The rows of blocks get the new numbers;
 * block_sort() must follow. *ret_folded is the weight of the samples whose stacks are not whole any
 * more. After a failure, the rows and what was added to the dictionary since the mark are useless.
 * Errors: -ENOSPC, -ENOMEM. */
int fold_rare(struct dict *dict, const struct dict_mark *since, struct fold_rows *blocks,
	      size_t nr_blocks, uint64_t min_count, uint64_t *ret_folded) must_check;

#endif
