/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/stack_sums.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>

static int add(struct stack_sums *sums, uint32_t root, const struct profile_sample *sample)
{
	const uint32_t key[] = { root, sample->stack };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&sums->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (sums->items[i].root == root && sums->items[i].stack == sample->stack) {
			sums->items[i].count += sample->count;
			return 0;
		}
	}
	int r = array_grow(sums->items, sums->cap, sums->nr + 1, UINT32_MAX);
	if (r == 0)
		r = htable_add(&sums->index, hash, (uint32_t)sums->nr);
	if (r == 0)
		sums->items[sums->nr++] = (struct stack_sum){ root, sample->stack, sample->count };
	return r;
}

int stack_sums_init(struct stack_sums *sums, struct frame_rows *rows)
{
	const struct profile *p = rows->profile;
	int r = 0;

	*sums = (struct stack_sums){ 0 };
	for (size_t i = 0; r == 0 && i < p->nr_samples; i++) {
		uint32_t root = NO_ROOT;

		if (!p->is_grouped)
			r = frame_rows_add_process(rows, p->samples[i].process_comm, &root);
		if (r == 0)
			r = add(sums, root, &p->samples[i]);
	}
	if (r < 0)
		stack_sums_done(sums);
	return r;
}

void stack_sums_done(struct stack_sums *sums)
{
	free(sums->items);
	htable_done(&sums->index);
	*sums = (struct stack_sums){ 0 };
}

struct stack_walk stack_walk_of(const struct frame_rows *rows, const struct stack_sum *sum)
{
	return (struct stack_walk){
		.rows = rows,
		.sum = sum,
		.nr_locations = rows->profile->stacks[sum->stack].nr,
		.has_root = sum->root != NO_ROOT,
	};
}

static const struct profile_location *location_of(const struct stack_walk *walk, size_t index,
						  uint32_t *ret_id)
{
	const struct profile *p = walk->rows->profile;

	*ret_id = p->stack_locations[p->stacks[walk->sum->stack].first + index];
	return &p->locations[*ret_id];
}

bool stack_walk_next(struct stack_walk *walk)
{
	uint32_t id;

	walk->is_inlined = walk->nr_lines > 0;
	if (walk->has_root) {
		walk->has_root = false;
		walk->row = walk->sum->root;
		return true;
	}
	while (walk->nr_lines == 0) {
		if (walk->nr_locations == 0)
			return false;
		walk->nr_locations--;
		walk->nr_lines = location_of(walk, walk->nr_locations, &id)->nr_lines;
	}
	(void)location_of(walk, walk->nr_locations, &id);
	walk->row = frame_rows_of(walk->rows, id)[--walk->nr_lines];
	return true;
}
