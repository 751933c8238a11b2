/* SPDX-License-Identifier: Apache-2.0 */
/* Which units of a growing range are free. Knows numbers only: what the units are is its user's
 * business.
 *
 * Free extents lie in one array, sorted, never touching each other; the smallest one that is
 * large enough is used. Between n extents in use there are at most n + 1 free ones, and room for
 * those is made when an extent is taken: so giving back allocates nothing and cannot fail. */
#ifndef UNWIND_TABLES_EXTENTS_H
#define UNWIND_TABLES_EXTENTS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t start;
	uint32_t nr_units;
};

struct extents {
	struct extent *free; /* owned */
	size_t nr_free;
	size_t cap_free; /* at least nr_taken + 1 once anything was taken */
	size_t nr_taken; /* extents in use */
	uint64_t nr_units_taken;
	uint32_t end; /* one behind the last unit */
};

/* The range is empty and begins at `start`. */
void extents_init(struct extents *extents, uint32_t start);
void extents_done(struct extents *extents);

/* Adds free units at the end of the range. Errors: -ENOMEM. */
int extents_grow(struct extents *extents, uint32_t nr_units) must_check;

/* By how many units the range must grow so that so many can be taken; 0: it need not. */
uint32_t extents_missing(const struct extents *extents, uint32_t nr_units);

/* Errors: -ENOSPC no free extent is large enough, -ENOMEM. */
int extents_take(struct extents *extents, uint32_t nr_units, uint32_t *ret_start) must_check;

/* `extent` is one that was taken, all of it. */
void extents_give_back(struct extents *extents, struct extent extent);

#endif
