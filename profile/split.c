/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/split.h"

#include "base/array.h"

#include <stdlib.h>

struct splitting {
	const struct frame_rows *rows; /* borrowed */
	bool by_process;
	uint64_t *counts; /* owned; of parts, by root */
};

/* Returns the part that a stack belongs to. */
static uint32_t root_of(const struct splitting *splitting, const struct stack_sum *sum)
{
	struct stack_walk walk = stack_walk_of(splitting->rows, sum);

	if (sum->root != NO_ROOT)
		return splitting->by_process ? sum->root : NO_ROOT;
	if (!stack_walk_next(&walk) || splitting->rows->rows[walk.row].kind != FRAME_LABEL)
		return NO_ROOT;
	return walk.row;
}

static uint64_t count_of(const struct splitting *splitting, uint32_t root)
{
	return root == NO_ROOT ? UINT64_MAX : splitting->counts[root];
}

/* By the size of the part, then by its root, then by the count of the stack. */
static int compare(const void *a, const void *b, void *context)
{
	const struct stack_sum *sum_a = a, *sum_b = b;
	const struct splitting *splitting = context;
	uint32_t root_a = root_of(splitting, sum_a), root_b = root_of(splitting, sum_b);

	if (root_a != root_b) {
		uint64_t count_a = count_of(splitting, root_a),
			 count_b = count_of(splitting, root_b);

		if (count_a != count_b)
			return count_a < count_b ? 1 : -1;
		return root_a < root_b ? -1 : 1;
	}
	if (sum_a->count != sum_b->count)
		return sum_a->count < sum_b->count ? 1 : -1;
	return sum_a->stack < sum_b->stack ? -1 : sum_a->stack > sum_b->stack;
}

static int find_parts(struct split *split, const struct splitting *splitting)
{
	for (size_t i = 0; i < split->sums.nr; i++) {
		uint32_t root = root_of(splitting, &split->sums.items[i]);

		if (split->nr_parts == 0 || split->parts[split->nr_parts - 1].root != root) {
			int r = array_grow(split->parts, split->cap_parts, split->nr_parts + 1,
					   SIZE_MAX);
			if (r < 0)
				return r;
			split->parts[split->nr_parts++] = (struct split_part){ .root = root,
									       .first = i };
		}
		struct split_part *last = &split->parts[split->nr_parts - 1];
		last->nr++;
		last->count += split->sums.items[i].count;
	}
	return 0;
}

static int sort(struct split *split, struct splitting *splitting)
{
	splitting->counts = calloc(splitting->rows->nr_rows + 1, sizeof(*splitting->counts));
	if (!splitting->counts)
		return -ENOMEM;
	for (size_t i = 0; i < split->sums.nr; i++) {
		uint32_t root = root_of(splitting, &split->sums.items[i]);

		if (root != NO_ROOT)
			splitting->counts[root] += split->sums.items[i].count;
	}
	if (split->sums.nr > 0)
		qsort_r(split->sums.items, split->sums.nr, sizeof(*split->sums.items), compare,
			splitting);
	return find_parts(split, splitting);
}

int split_init(struct split *split, struct frame_rows *rows, bool by_process)
{
	struct splitting splitting = { .rows = rows, .by_process = by_process };

	*split = (struct split){ 0 };
	int r = stack_sums_init(&split->sums, rows);
	if (r == 0)
		r = sort(split, &splitting);
	free(splitting.counts);
	if (r < 0)
		split_done(split);
	return r;
}

void split_done(struct split *split)
{
	stack_sums_done(&split->sums);
	free(split->parts);
	*split = (struct split){ 0 };
}
