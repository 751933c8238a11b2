/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/viewer_stacks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/frame_rows.h"

#include <stdlib.h>

#define STRINGS_MAX_BYTES ((size_t)1 << 30)

/* A profile whose stacks are being added. */
struct adding {
	struct viewer_stacks *stacks; /* borrowed */
	struct frame_rows rows;
	uint32_t *frames; /* owned; of each row */
};

static void adding_done(struct adding *adding)
{
	frame_rows_done(&adding->rows);
	free(adding->frames);
}

int viewer_stacks_init(struct viewer_stacks *stacks, size_t max_nodes)
{
	*stacks = (struct viewer_stacks){ .max_nodes = max_nodes };

	int r = intern_init(&stacks->strings, UINT32_MAX, STRINGS_MAX_BYTES);
	if (r == 0)
		r = array_grow(stacks->nodes, stacks->cap_nodes, 1, SIZE_MAX);
	if (r == 0)
		stacks->nodes[stacks->nr_nodes++] = (struct viewer_node){ 0 };
	return r;
}

void viewer_stacks_done(struct viewer_stacks *stacks)
{
	intern_done(&stacks->strings);
	free(stacks->frames);
	free(stacks->nodes);
	htable_done(&stacks->frame_index);
	htable_done(&stacks->node_index);
}

static bool is_same(const struct viewer_frame *a, const struct viewer_frame *b)
{
	return a->name == b->name && a->module == b->module && a->kind == b->kind;
}

static int get_frame(struct viewer_stacks *stacks, const struct viewer_frame *wanted,
		     uint32_t *ret_frame)
{
	const uint32_t key[] = { wanted->name, wanted->module, wanted->kind };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&stacks->frame_index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (is_same(&stacks->frames[i], wanted)) {
			*ret_frame = i;
			return 0;
		}
	}
	int r = array_grow(stacks->frames, stacks->cap_frames, stacks->nr_frames + 1, UINT32_MAX);
	if (r == 0)
		r = htable_add(&stacks->frame_index, hash, (uint32_t)stacks->nr_frames);
	if (r < 0)
		return r;
	stacks->frames[stacks->nr_frames] = *wanted;
	*ret_frame = (uint32_t)stacks->nr_frames++;
	return 0;
}

static int add_row(struct adding *adding, uint32_t row)
{
	const struct frame_row *from = &adding->rows.rows[row];
	const struct profile *p = adding->rows.profile;
	struct viewer_stacks *stacks = adding->stacks;
	struct viewer_frame frame = { .start_line = from->start_line, .kind = from->kind };

	int r = intern_add(&stacks->strings, profile_string(p, from->name), &frame.name);
	if (r == 0)
		r = intern_add(&stacks->strings, profile_string(p, from->module), &frame.module);
	if (r == 0)
		r = intern_add(&stacks->strings, profile_string(p, from->source), &frame.source);
	if (r == 0)
		r = get_frame(stacks, &frame, &adding->frames[row]);
	if (r < 0)
		return r;
	if (!stacks->frames[adding->frames[row]].source)
		stacks->frames[adding->frames[row]] = frame;
	return 0;
}

static int add_rows(struct adding *adding, const struct profile *profile)
{
	int r = frame_rows_init(&adding->rows, profile);
	if (r < 0)
		return r;
	adding->frames = calloc(adding->rows.nr_rows + 1, sizeof(*adding->frames));
	if (!adding->frames)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < adding->rows.nr_rows; i++)
		r = add_row(adding, i);
	return r;
}

/* Goes down from `node` to its child that is like `wanted`, which is added if it is new. */
static int descend(struct viewer_stacks *stacks, struct viewer_node wanted, uint32_t *node)
{
	const uint32_t key[] = { *node, wanted.frame, wanted.is_inlined };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&stacks->node_index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		const struct viewer_node *known = &stacks->nodes[i];

		if (known->parent == *node && known->frame == wanted.frame &&
		    known->is_inlined == wanted.is_inlined) {
			*node = i;
			return 0;
		}
	}
	int r = array_grow(stacks->nodes, stacks->cap_nodes, stacks->nr_nodes + 1,
			   stacks->max_nodes);
	if (r == 0)
		r = htable_add(&stacks->node_index, hash, (uint32_t)stacks->nr_nodes);
	if (r < 0)
		return r;
	wanted.parent = *node;
	stacks->nodes[stacks->nr_nodes] = wanted;
	*node = (uint32_t)stacks->nr_nodes++;
	return 0;
}

/* Goes down through the functions of a location, the outermost first. */
static int descend_location(struct adding *adding, uint32_t location, uint32_t *node)
{
	const struct profile_location *from = &adding->rows.profile->locations[location];
	const uint32_t *rows = frame_rows_of(&adding->rows, location);
	int r = 0;

	if (from->kind == FRAME_LABEL)
		return 0;
	for (uint32_t i = from->nr_lines; r == 0 && i-- > 0;) {
		const struct viewer_node wanted = {
			.frame = adding->frames[rows[i]],
			.is_inlined = i + 1 < from->nr_lines,
		};

		r = descend(adding->stacks, wanted, node);
	}
	return r;
}

static int add_stack(struct adding *adding, const struct profile_stack *stack, uint32_t *ret_node)
{
	const struct profile *p = adding->rows.profile;
	uint32_t node = 0;
	int r = 0;

	for (size_t i = stack->nr; r == 0 && i-- > 0;)
		r = descend_location(adding, p->stack_locations[stack->first + i], &node);
	*ret_node = node;
	if (r == -ENOSPC) {
		adding->stacks->nr_cut++;
		return 0;
	}
	return r;
}

int viewer_stacks_add(struct viewer_stacks *stacks, const struct profile *profile,
		      uint32_t *ret_nodes)
{
	_cleanup_(adding_done) struct adding adding = { .stacks = stacks };

	int r = add_rows(&adding, profile);
	for (size_t i = 0; r == 0 && i < profile->nr_stacks; i++)
		r = add_stack(&adding, &profile->stacks[i], &ret_nodes[i]);
	return r;
}
