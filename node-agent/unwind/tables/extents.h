/* SPDX-License-Identifier: Apache-2.0 */
/* The free units of a growing range. Knows numbers only; its user knows what the units are.
 *
 * Free extents are in one array, sorted, and never touch each other. The smallest one that is
 * large enough is used. Between n extents in use there are at most n + 1 free ones. Room for
 * those is made when an extent is taken, so that giving back allocates nothing and cannot fail. */
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

/* Makes an empty range that begins at `start`. */
void extents_init(struct extents *extents, uint32_t start);
void extents_done(struct extents *extents);

/* Adds free units at the end of the range. Errors: -ENOMEM. */
int extents_grow(struct extents *extents, uint32_t nr_units) must_check;

/* Returns by how many units the range must grow before so many can be taken; 0: it need not. */
uint32_t extents_missing(const struct extents *extents, uint32_t nr_units);

/* Takes units. Errors: -ENOSPC no free extent is large enough, -ENOMEM. */
int extents_take(struct extents *extents, uint32_t nr_units, uint32_t *ret_start) must_check;

/* Gives back all of an extent that was taken. */
void extents_give_back(struct extents *extents, struct extent extent);

#endif
