/* SPDX-License-Identifier: Apache-2.0 */
/* Overlaps are resolved in two passes over the sorted list, which keep one number for each source:
 *
 *	forward    the end of the source's functions so far: a function begins behind the ends of its own source
 *	           and of all better ones
 *	backward   the start of the source's next function: a function ends before those of better sources
 *
 * So no function becomes two, and an entry that claims all code costs no more than any other. */
#include "unwind/rows/functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>

int unwind_functions_add(struct unwind_functions *functions, const struct unwind_function *function)
{
	int r = array_grow(functions->items, functions->cap_items, functions->nr_items + 1,
			   functions->max_items);

	if (r < 0)
		return r;
	functions->items[functions->nr_items++] = *function;
	return 0;
}

void unwind_functions_done(struct unwind_functions *functions)
{
	free(functions->items);
	functions->items = NULL;
	functions->nr_items = functions->cap_items = 0;
}

void unwind_functions_limit(struct unwind_functions *functions, const struct elf_budget *budget,
			    size_t max_items)
{
	size_t room = elf_budget_room(budget, 2 * sizeof(*functions->items));

	functions->max_items = room < max_items ? room : max_items;
}

int unwind_functions_charge(struct unwind_functions *functions, struct elf_budget *budget,
			    size_t *ret_nr_bytes)
{
	if (functions->nr_items > 0) {
		void *items = reallocarray(functions->items, functions->nr_items,
					   sizeof(*functions->items));

		if (!items)
			return -ENOMEM;
		functions->items = items;
		functions->cap_items = functions->nr_items;
	}

	size_t nr_bytes = functions->cap_items * sizeof(*functions->items);
	int r = elf_budget_take(budget, nr_bytes);
	if (r == 0)
		*ret_nr_bytes = nr_bytes;
	return r;
}

static bool is_code(const struct code_segments *segments, uint64_t address)
{
	for (size_t i = 0; i < segments->nr_items; i++)
		if (address - segments->items[i].address < segments->items[i].len)
			return true;
	return false;
}

/* Says that the functions from the index `first` on are those of a source, and removes those that
 * do not begin in a segment. */
static void claim(struct unwind_functions *functions, size_t first, uint32_t source,
		  const struct code_segments *segments)
{
	size_t nr = first;

	for (size_t i = first; i < functions->nr_items; i++) {
		struct unwind_function function = functions->items[i];

		function.source = source;
		if (function.start < function.end && is_code(segments, function.start))
			functions->items[nr++] = function;
	}
	functions->nr_items = nr;
}

static int compare(const void *left, const void *right)
{
	const struct unwind_function *a = left;
	const struct unwind_function *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->ref > b->ref) - (a->ref < b->ref);
}

/* Most lists are sorted as they come. */
static void sort(struct unwind_functions *functions)
{
	for (size_t i = 1; i < functions->nr_items; i++) {
		if (compare(&functions->items[i - 1], &functions->items[i]) > 0) {
			qsort(functions->items, functions->nr_items, sizeof(*functions->items),
			      compare);
			return;
		}
	}
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static size_t cut_beginnings(struct unwind_functions *functions)
{
	uint64_t ends[UNWIND_MAX_SOURCES] = { 0 };
	size_t nr_overlaps = 0;

	for (size_t i = 0; i < functions->nr_items; i++) {
		struct unwind_function *function = &functions->items[i];
		uint32_t source = function->source % UNWIND_MAX_SOURCES;

		nr_overlaps += function->start < ends[source];
		for (uint32_t better = 0; better <= source; better++)
			function->start = max(function->start, ends[better]);
		ends[source] = max(ends[source], function->end);
	}
	return nr_overlaps;
}

static void cut_ends(struct unwind_functions *functions)
{
	uint64_t next_starts[UNWIND_MAX_SOURCES];

	for (size_t i = 0; i < UNWIND_MAX_SOURCES; i++)
		next_starts[i] = UINT64_MAX;
	for (size_t i = functions->nr_items; i-- > 0;) {
		struct unwind_function *function = &functions->items[i];
		uint32_t source = function->source % UNWIND_MAX_SOURCES;

		if (function->start >= function->end)
			continue;
		for (uint32_t better = 0; better < source; better++)
			function->end = min(function->end, next_starts[better]);
		next_starts[source] = min(next_starts[source], function->start);
	}
}

static void remove_empty(struct unwind_functions *functions)
{
	size_t nr = 0;

	for (size_t i = 0; i < functions->nr_items; i++)
		if (functions->items[i].start < functions->items[i].end)
			functions->items[nr++] = functions->items[i];
	functions->nr_items = nr;
}

int unwind_functions_collect(struct unwind_functions *functions,
			     struct unwind_source *const *sources, size_t nr_sources,
			     const struct code_segments *segments, struct unwind_losses *losses)
{
	for (size_t i = 0; i < nr_sources; i++) {
		size_t first = functions->nr_items;
		int r = sources[i] ? sources[i]->ops->list(sources[i], functions, losses) : 0;

		if (r < 0)
			return r;
		claim(functions, first, (uint32_t)i, segments);
	}
	sort(functions);
	losses->nr_bad_entries += cut_beginnings(functions);
	cut_ends(functions);
	remove_empty(functions);
	sort(functions);
	return 0;
}

size_t unwind_functions_find(const struct unwind_functions *functions, uint64_t address)
{
	return search_count(functions->nr_items, i, functions->items[i].end <= address);
}
