/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fold.h"

#include "profile/profile.h"
#include "store/dict_part.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* Nodes that were added since the mark are counted from 0 on here. */
struct fold {
	struct dict *dict; /* borrowed */
	size_t first; /* number of the first new node */
	size_t nr; /* of new nodes */
	uint32_t *parents; /* owned; of the new nodes */
	uint64_t *weights; /* owned; of a node and all below it */
	bool *is_folded; /* owned */
	uint32_t *first_child, *next_sibling; /* owned; or NONE */
	uint64_t *tops; /* owned; nodes whose parent is no new one: parent, then node */
	size_t nr_tops;
	struct dict_part *part; /* owned */
};

static void fold_done(struct fold *fold)
{
	free(fold->parents);
	free(fold->weights);
	free(fold->is_folded);
	free(fold->first_child);
	free(fold->next_sibling);
	free(fold->tops);
	dict_part_free(fold->part);
}

static int fold_init(struct fold *fold, struct dict *dict, const struct dict_mark *since)
{
	size_t first = since->nr[DICT_NODES], nr = dict->tables[DICT_NODES].nr_rows - first;

	*fold = (struct fold){ .dict = dict, .first = first, .nr = nr };
	fold->parents = calloc(nr + 1, sizeof(*fold->parents));
	fold->weights = calloc(nr + 1, sizeof(*fold->weights));
	fold->is_folded = calloc(nr + 1, sizeof(*fold->is_folded));
	fold->first_child = calloc(nr + 1, sizeof(*fold->first_child));
	fold->next_sibling = calloc(nr + 1, sizeof(*fold->next_sibling));
	fold->tops = calloc(nr + 1, sizeof(*fold->tops));
	if (!fold->parents || !fold->weights || !fold->is_folded || !fold->first_child ||
	    !fold->next_sibling || !fold->tops)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		fold->parents[i] =
			dict_get(dict, DICT_NODES, (uint32_t)(first + i)).words[NODE_PARENT];
	return 0;
}

static uint64_t weight_of(const struct fold_rows *block, const struct block_row *row)
{
	return block->counts_values ? row->value : 1;
}

static void weigh(struct fold *fold, const struct fold_rows *blocks, size_t nr_blocks)
{
	for (size_t b = 0; b < nr_blocks; b++) {
		for (size_t i = 0; i < blocks[b].rows->nr; i++) {
			const struct block_row *row = &blocks[b].rows->items[i];

			if (row->node >= fold->first)
				fold->weights[row->node - fold->first] += weight_of(&blocks[b],
										    row);
		}
	}
	for (size_t i = fold->nr; i-- > 0;)
		if (fold->parents[i] >= fold->first)
			fold->weights[fold->parents[i] - fold->first] += fold->weights[i];
}

/* Below a folded node, all are folded. */
static void decide(struct fold *fold, uint64_t min_count)
{
	for (size_t i = 0; i < fold->nr; i++) {
		uint32_t parent = fold->parents[i];

		fold->is_folded[i] = fold->weights[i] < min_count ||
				     (parent >= fold->first &&
				      fold->is_folded[parent - fold->first]);
	}
}

static int add_folded_frame(struct dict *dict, uint32_t *ret_frame)
{
	uint32_t function[FUNCTION_WORDS] = { 0 };
	uint32_t frame[FRAME_FIRST_FUNCTION + 1] = { [FRAME_KIND] = FRAME_STOP };
	int r;

	if ((r = dict_add_string(dict, FOLD_NAME, &function[FUNCTION_NAME])) < 0)
		return r;
	function[FUNCTION_SYSTEM_NAME] = function[FUNCTION_NAME];
	if ((r = dict_add(dict, DICT_FUNCTIONS, function, FUNCTION_WORDS,
			  &frame[FRAME_FIRST_FUNCTION])) < 0)
		return r;
	return dict_add(dict, DICT_FRAMES, frame, array_len(frame), ret_frame);
}

/* Adds the node "[folded]" below one that stays. */
static int add_folded_node(struct fold *fold, uint32_t old_parent, uint32_t *ret_id)
{
	uint32_t node[NODE_WORDS];
	int r = add_folded_frame(fold->dict, &node[NODE_FRAME]);

	if (r == 0)
		r = dict_part_restore(fold->part, DICT_NODES, old_parent, &node[NODE_PARENT]);
	return r < 0 ? r : dict_add(fold->dict, DICT_NODES, node, NODE_WORDS, ret_id);
}

/* Links the children of each node, in their order. */
static void link_children(struct fold *fold)
{
	for (size_t i = 0; i < fold->nr; i++)
		fold->first_child[i] = NONE;
	for (size_t i = fold->nr; i-- > 0;) {
		uint32_t parent = fold->parents[i];

		if (parent < fold->first) {
			fold->tops[fold->nr_tops++] = (uint64_t)parent << 32 | i;
			continue;
		}
		fold->next_sibling[i] = fold->first_child[parent - fold->first];
		fold->first_child[parent - fold->first] = (uint32_t)i;
	}
}

static int compare_tops(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Restores a node that stays. A folded one becomes the "[folded]" one below its nearest ancestor
 * that stays. */
static int restore_node(struct fold *fold, uint32_t index)
{
	uint32_t parent = fold->parents[index], old = (uint32_t)fold->first + index, id;
	int r;

	if (fold->weights[index] == 0)
		return 0; /* nothing leads to it */
	if (!fold->is_folded[index])
		r = dict_part_restore(fold->part, DICT_NODES, old, &id);
	else if (parent >= fold->first && fold->is_folded[parent - fold->first])
		r = dict_part_restore(fold->part, DICT_NODES, parent, &id);
	else
		r = add_folded_node(fold, parent, &id);
	if (r == 0)
		dict_part_replace(fold->part, DICT_NODES, old, id);
	return r;
}

/* Returns the node behind one in a walk from parents to children, or NONE behind the last one below
 * `top`. */
static uint32_t next_node(const struct fold *fold, uint32_t top, uint32_t index)
{
	if (fold->first_child[index] != NONE)
		return fold->first_child[index];
	while (index != top && fold->next_sibling[index] == NONE)
		index = fold->parents[index] - (uint32_t)fold->first;
	return index == top ? NONE : fold->next_sibling[index];
}

/* In the order of a walk through the tree, which dict_code.h makes use of. */
static int restore_nodes(struct fold *fold)
{
	int r = 0;

	link_children(fold);
	if (fold->nr_tops > 1)
		qsort(fold->tops, fold->nr_tops, sizeof(*fold->tops), compare_tops);
	for (size_t i = 0; r == 0 && i < fold->nr_tops; i++) {
		uint32_t top = (uint32_t)fold->tops[i];

		for (uint32_t index = top; r == 0 && index != NONE;
		     index = next_node(fold, top, index))
			r = restore_node(fold, index);
	}
	return r;
}

static int renumber(struct fold *fold, struct fold_rows *block, uint64_t *folded)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < block->rows->nr; i++) {
		struct block_row *row = &block->rows->items[i];

		if (row->node >= fold->first && fold->is_folded[row->node - fold->first]) {
			*folded += weight_of(block, row);
			block->folded += row->value;
		}
		r = dict_part_restore(fold->part, DICT_NODES, row->node, &row->node);
		if (r == 0)
			r = dict_part_restore(fold->part, DICT_LABELS, row->labels, &row->labels);
	}
	return r;
}

int fold_rare(struct dict *dict, const struct dict_mark *since, struct fold_rows *blocks,
	      size_t nr_blocks, uint64_t min_count, uint64_t *ret_folded)
{
	_cleanup_(fold_done) struct fold fold;
	uint64_t folded = 0;

	int r = fold_init(&fold, dict, since);
	if (r < 0)
		return r;
	weigh(&fold, blocks, nr_blocks);
	decide(&fold, min_count);
	r = dict_part_cut(dict, since, &fold.part);
	if (r == 0)
		r = restore_nodes(&fold);
	for (size_t b = 0; r == 0 && b < nr_blocks; b++)
		r = renumber(&fold, &blocks[b], &folded);
	if (r == 0)
		*ret_folded = folded;
	return r;
}
