/* SPDX-License-Identifier: Apache-2.0 */
#include "top/function_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "top/frame_walk.h"

#include <stdlib.h>

#define MAX_ROWS 1000000

struct lister {
	struct function_list *list;
	/* Owned; the row of each name + 1, for functions of user space and of the kernel. */
	uint32_t *row_of;
};

static const char *file_of(const struct profile *profile, const struct profile_location *location)
{
	const struct profile_mapping *mapping = &profile->mappings[location->mapping];

	return profile_string(profile, mapping->filename);
}

static int find_row(const struct lister *lister, const struct frame_walk *walk,
		    struct function_row **ret_row)
{
	const struct profile_location *location = frame_walk_location(walk);
	struct function_list *list = lister->list;
	uint32_t name = frame_walk_function(walk)->name;
	uint32_t *slot = &lister->row_of[(size_t)name * 2 + (location->kind == FRAME_KERNEL)];

	if (*slot == 0) {
		int r = array_grow(list->rows, list->cap_rows, list->nr_rows + 1, MAX_ROWS);

		if (r < 0)
			return r;
		list->rows[list->nr_rows] = (struct function_row){
			.name = profile_string(walk->profile, name),
			.file = file_of(walk->profile, location),
			.kind = location->kind,
		};
		*slot = (uint32_t)++list->nr_rows;
	}
	*ret_row = &list->rows[*slot - 1];
	return 0;
}

/* `number` is one that no other sample has; it is not 0. */
static int add_sample(const struct lister *lister, struct frame_walk walk, uint64_t count,
		      uint32_t number)
{
	for (bool is_leaf = true; frame_walk_location(&walk); is_leaf = false) {
		struct function_row *row;

		int r = find_row(lister, &walk, &row);
		if (r < 0)
			return r;
		row->self += is_leaf ? count : 0;
		row->total += row->last_stack == number ? 0 : count;
		row->last_stack = number;
		frame_walk_next(&walk);
	}
	return 0;
}

static int build(struct function_list *list, const struct tally_part *part, bool hides_kernel)
{
	const struct profile *profile = part->profile;
	_cleanup_free_ uint32_t *row_of = calloc(profile->strings.nr_strings + 1,
						 2 * sizeof(*row_of));
	const struct lister lister = { .list = list, .row_of = row_of };
	int r = row_of ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < part->nr; i++) {
		const struct profile_sample *sample = &profile->samples[part->samples[i]];
		struct frame_walk walk = frame_walk_of(profile, sample->stack);

		if (hides_kernel)
			frame_walk_skip_kernel(&walk);
		r = add_sample(&lister, walk, sample->count, (uint32_t)i + 1);
	}
	return r;
}

int function_list_init(struct function_list *list, const struct tally_part *part, bool hides_kernel)
{
	_cleanup_(function_list_done) struct function_list built = { 0 };

	int r = part->nr > 0 ? build(&built, part, hides_kernel) : 0;
	if (r < 0)
		return r;
	*list = built;
	built = (struct function_list){ 0 };
	return 0;
}

void function_list_done(struct function_list *list)
{
	free(list->rows);
	*list = (struct function_list){ 0 };
}
