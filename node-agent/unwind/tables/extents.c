/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/extents.h"

#include "base/array.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

void extents_init(struct extents *extents, uint32_t start)
{
	*extents = (struct extents){ .end = start };
}

void extents_done(struct extents *extents)
{
	free(extents->free);
	*extents = (struct extents){ 0 };
}

/* Makes room for all free extents that there can be between this many in use. */
static int make_room(struct extents *extents, size_t nr_taken)
{
	return array_grow(extents->free, extents->cap_free, nr_taken + 1, SIZE_MAX);
}

static uint32_t end_of(struct extent extent)
{
	return extent.start + extent.nr_units;
}

/* Returns the index of the first free extent behind a unit, or nr_free. */
static size_t find_behind(const struct extents *extents, uint32_t unit)
{
	return search_count(extents->nr_free, i, extents->free[i].start <= unit);
}

static void remove_free(struct extents *extents, size_t at)
{
	extents->nr_free--;
	memmove(&extents->free[at], &extents->free[at + 1],
		(extents->nr_free - at) * sizeof(*extents->free));
}

static void insert_free(struct extents *extents, size_t at, struct extent extent)
{
	memmove(&extents->free[at + 1], &extents->free[at],
		(extents->nr_free - at) * sizeof(*extents->free));
	extents->free[at] = extent;
	extents->nr_free++;
}

/* Adds an extent to the free ones and joins it with its neighbours. */
static void add_free(struct extents *extents, struct extent extent)
{
	size_t at = find_behind(extents, extent.start);

	if (at < extents->nr_free && extents->free[at].start == end_of(extent)) {
		extent.nr_units += extents->free[at].nr_units;
		remove_free(extents, at);
	}
	if (at > 0 && end_of(extents->free[at - 1]) == extent.start)
		extents->free[at - 1].nr_units += extent.nr_units;
	else
		insert_free(extents, at, extent);
}

int extents_grow(struct extents *extents, uint32_t nr_units)
{
	int r = make_room(extents, extents->nr_taken);
	if (r < 0)
		return r;
	add_free(extents, (struct extent){ .start = extents->end, .nr_units = nr_units });
	extents->end += nr_units;
	return 0;
}

/* Returns the smallest free extent that is large enough, the first of several; or nr_free. */
static size_t find_best(const struct extents *extents, uint32_t nr_units)
{
	uint32_t best_units = UINT32_MAX;
	size_t best = extents->nr_free;

	for (size_t i = 0; i < extents->nr_free; i++) {
		uint32_t units = extents->free[i].nr_units;

		if (units < nr_units || units >= best_units)
			continue;
		best = i;
		best_units = units;
		if (units == nr_units)
			break;
	}
	return best;
}

uint32_t extents_missing(const struct extents *extents, uint32_t nr_units)
{
	uint32_t at_end = 0;

	if (find_best(extents, nr_units) < extents->nr_free)
		return 0;
	if (extents->nr_free > 0 && end_of(extents->free[extents->nr_free - 1]) == extents->end)
		at_end = extents->free[extents->nr_free - 1].nr_units;
	return nr_units - at_end;
}

int extents_take(struct extents *extents, uint32_t nr_units, uint32_t *ret_start)
{
	size_t best = find_best(extents, nr_units);

	if (best == extents->nr_free)
		return -ENOSPC;
	int r = make_room(extents, extents->nr_taken + 1);
	if (r < 0)
		return r;
	struct extent *extent = &extents->free[best];
	*ret_start = extent->start;
	extent->start += nr_units;
	extent->nr_units -= nr_units;
	if (extent->nr_units == 0)
		remove_free(extents, best);
	extents->nr_taken++;
	extents->nr_units_taken += nr_units;
	return 0;
}

void extents_give_back(struct extents *extents, struct extent extent)
{
	add_free(extents, extent);
	extents->nr_taken--;
	extents->nr_units_taken -= extent.nr_units;
}
