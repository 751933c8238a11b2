/* SPDX-License-Identifier: Apache-2.0 */
/* Sums counts by label and finds the largest sums. */
#ifndef PROFILE_RANKING_H
#define PROFILE_RANKING_H

#include "base/err.h"
#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define RANKING_LABELS_MAX 200000

struct ranking {
	struct intern labels;
	uint64_t *counts; /* by the index of their label; owned */
	size_t nr_counts, cap_counts;
};

struct rank {
	const char *label; /* borrowed from the ranking */
	uint64_t count;
};

/* Errors: -ENOMEM. */
int ranking_init(struct ranking *ranking) must_check;
void ranking_done(struct ranking *ranking);

/* Adds `count` to the sum of `label`. Errors: -ENOMEM; -ENOSPC for too many labels. */
int ranking_add(struct ranking *ranking, const char *label, uint64_t count) must_check;

/* Returns the sum of `label`, or 0. */
uint64_t ranking_get(const struct ranking *ranking, const char *label);

/* Returns the number of labels whose sum is not 0. */
size_t ranking_size(const struct ranking *ranking);

/* Writes the `max_ranks` largest sums to `ret_ranks`, the largest first; equal sums in the order in
 * which their labels were added; sums of 0 are omitted. Returns the number written. */
size_t ranking_top(const struct ranking *ranking, size_t max_ranks, struct rank *ret_ranks);

#endif
