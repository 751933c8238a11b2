/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the record within a number of bytes a day: decides below how many samples in a block a
 * stack is folded (store/fold.h). */
#ifndef STORE_BUDGET_H
#define STORE_BUDGET_H

#include <stdint.h>

struct budget {
	uint64_t per_day; /* bytes; 0: no limit, nothing is folded */
	uint64_t day; /* the day that `spent` is of, since the epoch in UTC */
	uint64_t spent; /* bytes written on that day */
	unsigned int step; /* index of the threshold */
};

/* Notes that so many bytes were written at a time (Unix, in seconds). */
void budget_spend(struct budget *budget, uint64_t now_s, uint64_t bytes);

/* Returns the threshold for the block that is written now: 1 folds nothing. To be called once for
 * each block: it rises by a step while more was written than the time of the day allows, and falls
 * by one while much less was. */
uint64_t budget_next_min_count(struct budget *budget, uint64_t now_s);

/* Returns the threshold of the last block. */
uint64_t budget_min_count(const struct budget *budget);

#endif
