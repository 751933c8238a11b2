/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the samples of one file of a record by label set and stack, and adds them to a
 * profile. */
#ifndef STORE_SUMS_H
#define STORE_SUMS_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/builder.h"
#include "store/dict.h"

#include <stddef.h>
#include <stdint.h>

struct sum {
	uint32_t labels, node;
	uint64_t value;
};

#define SUMS_PENDING 32

struct sums {
	struct sum *items; /* owned */
	size_t nr, cap;
	struct htable index; /* of the items */
	struct sum pending[SUMS_PENDING]; /* not in the items yet */
	size_t nr_pending;
	uint64_t time_ns; /* of all samples: Unix time, or 0 */
};

void sums_done(struct sums *sums);

/* Adds a value to the sum of its label set and stack. Values of one stack that come one after the
 * other cost least. Errors: -ENOMEM. */
int sums_add(struct sums *sums, uint32_t labels, uint32_t node, uint64_t value) must_check;

/* Multiplies all values. */
void sums_scale(struct sums *sums, uint64_t factor);

/* Adds everything to a builder. *left_out counts the value of samples that it has no room for.
 * Errors: -ENOMEM. */
int sums_build(struct sums *sums, const struct dict *dict, struct builder *builder,
	       uint64_t *left_out) must_check;

#endif
