/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_tree.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum flame_kind flame_kind_of(enum frame_kind kind)
{
	static const enum flame_kind kinds[] = {
		[FRAME_NATIVE] = FLAME_NATIVE, [FRAME_KERNEL] = FLAME_KERNEL,
		[FRAME_STOP] = FLAME_STOP,     [FRAME_GO] = FLAME_GO,
		[FRAME_RUST] = FLAME_RUST,     [FRAME_JVM] = FLAME_JVM,
		[FRAME_V8JS] = FLAME_V8JS,     [FRAME_CPYTHON] = FLAME_CPYTHON,
		[FRAME_JIT] = FLAME_JIT,       [FRAME_LABEL] = FLAME_LABEL,
	};

	return kinds[kind];
}

static int add_node(struct flame_tree *tree, struct flame_node node, uint32_t hash,
		    uint32_t *ret_node)
{
	int r = array_grow(tree->nodes, tree->cap_nodes, tree->nr_nodes + 1, tree->max_nodes);
	if (r < 0)
		return r;
	r = htable_add(&tree->index, hash, (uint32_t)tree->nr_nodes);
	if (r < 0)
		return r;
	tree->nodes[tree->nr_nodes] = node;
	*ret_node = (uint32_t)tree->nr_nodes++;
	return 0;
}

static bool is_like(const struct flame_node *node, const struct flame_node *wanted)
{
	return node->name_id == wanted->name_id && node->kind == wanted->kind &&
	       node->is_inlined == wanted->is_inlined;
}

/* Finds or adds a child. */
static int get_child(struct flame_tree *tree, uint32_t parent, const struct flame_node *wanted,
		     uint32_t *ret_node)
{
	const uint32_t key[] = { parent, wanted->name_id, wanted->kind, wanted->is_inlined };
	uint32_t hash = hash_bytes(key, sizeof(key));
	struct flame_node child = *wanted;

	struct htable_iter it = htable_lookup(&tree->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (tree->nodes[i].parent == parent && is_like(&tree->nodes[i], wanted)) {
			*ret_node = i;
			return 0;
		}
	}

	child.parent = parent;
	child.depth = tree->nodes[parent].depth + 1;
	child.next_sibling = tree->nodes[parent].first_child;
	int r = add_node(tree, child, hash, ret_node);
	if (r == 0)
		tree->nodes[parent].first_child = *ret_node;
	return r;
}

/* Goes down one level and adds to its count. */
static int descend(struct flame_tree *tree, const struct flame_node *child, uint64_t count,
		   uint32_t *node)
{
	int r = get_child(tree, *node, child, node);

	if (r == 0)
		tree->nodes[*node].count += count;
	return r;
}

/* Goes down through the functions of a location, the outermost first. */
static int descend_location(struct flame_tree *tree, const struct profile *p,
			    const struct profile_location *location, uint64_t count, uint32_t *node)
{
	const struct profile_line *lines = profile_location_lines(p, location);
	int r = 0;

	for (uint32_t i = location->nr_lines; r == 0 && i-- > 0;) {
		const struct flame_node frame = {
			.name_id = p->functions[lines[i].function].name,
			.function = lines[i].function,
			.kind = flame_kind_of(location->kind),
			.is_inlined = i + 1 < location->nr_lines,
		};

		r = descend(tree, &frame, count, node);
		if (r == 0 && !p->functions[tree->nodes[*node].function].filename)
			tree->nodes[*node].function = frame.function;
	}
	return r;
}

static int add_sample(struct flame_tree *tree, const struct profile *p,
		      const struct profile_sample *sample)
{
	const struct profile_stack *stack = &p->stacks[sample->stack];
	const struct flame_node process = { .name_id = sample->process_comm,
					    .kind = FLAME_PROCESS };
	uint32_t node = 0;

	tree->nodes[0].count += sample->count;
	int r = p->is_grouped ? 0 : descend(tree, &process, sample->count, &node);
	for (size_t i = stack->nr; r == 0 && i-- > 0;)
		r = descend_location(tree, p, &p->locations[p->stack_locations[stack->first + i]],
				     sample->count, &node);
	if (r != -ENOSPC)
		return r;
	tree->nr_cut += sample->count;
	return 0;
}

static void name_nodes(struct flame_tree *tree, const struct profile *p)
{
	tree->nodes[0].name = "all";
	for (size_t i = 1; i < tree->nr_nodes; i++) {
		const char *name = profile_string(p, tree->nodes[i].name_id);

		tree->nodes[i].name = *name ? name : "[unnamed]";
	}
}

static int compare_names(const void *a, const void *b, void *nodes)
{
	const struct flame_node *node_a = (struct flame_node *)nodes + *(const uint32_t *)a;
	const struct flame_node *node_b = (struct flame_node *)nodes + *(const uint32_t *)b;
	int order = strcmp(node_a->name, node_b->name);

	if (order == 0)
		order = (int)node_a->kind - (int)node_b->kind;
	return order ? order : node_a->is_inlined - node_b->is_inlined;
}

static void sort_children(struct flame_tree *tree, uint32_t parent, uint32_t *scratch)
{
	uint32_t *link = &tree->nodes[parent].first_child;
	size_t nr = 0;

	for (uint32_t child = *link; child; child = tree->nodes[child].next_sibling)
		scratch[nr++] = child;
	if (nr < 2)
		return;
	qsort_r(scratch, nr, sizeof(*scratch), compare_names, tree->nodes);
	for (size_t i = 0; i < nr; i++) {
		*link = scratch[i];
		link = &tree->nodes[scratch[i]].next_sibling;
	}
	*link = 0;
}

/* Lines the children up from where their parent starts. A parent always stands before its
 * children, so its own place is known. */
static void place_children(struct flame_tree *tree, uint32_t parent)
{
	uint64_t start = tree->nodes[parent].start;

	for (uint32_t i = tree->nodes[parent].first_child; i; i = tree->nodes[i].next_sibling) {
		tree->nodes[i].start = start;
		start += tree->nodes[i].count;
	}
}

static int build(struct flame_tree *tree, const struct profile *p)
{
	uint32_t root;

	int r = add_node(tree, (struct flame_node){ .kind = FLAME_ALL }, 0, &root);
	for (size_t i = 0; r == 0 && i < p->nr_samples; i++)
		r = add_sample(tree, p, &p->samples[i]);
	if (r < 0)
		return r;

	_cleanup_free_ uint32_t *scratch = calloc(tree->nr_nodes, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	name_nodes(tree, p);
	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		sort_children(tree, i, scratch);
		place_children(tree, i);
	}
	return 0;
}

int flame_tree_init(struct flame_tree *tree, const struct profile *profile, size_t max_nodes)
{
	*tree = (struct flame_tree){ .max_nodes = max_nodes > 0 ? max_nodes : 1 };

	int r = build(tree, profile);
	if (r < 0)
		flame_tree_done(tree);
	return r;
}

void flame_tree_done(struct flame_tree *tree)
{
	free(tree->nodes);
	htable_done(&tree->index);
	*tree = (struct flame_tree){ 0 };
}

static bool has_count(const struct flame_tree *tree, uint32_t node, uint64_t min_count)
{
	const struct flame_node *n = &tree->nodes[node];

	return n->count >= min_count || (double)n->before * tree->before_scale >= (double)min_count;
}

size_t flame_tree_count(const struct flame_tree *tree, uint64_t min_count)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < tree->nr_nodes; i++)
		nr += i == 0 || has_count(tree, i, min_count);
	return nr;
}

/* Returns the first of these siblings with the count; 0 if there is none. */
static uint32_t large_sibling(const struct flame_tree *tree, uint32_t node, uint64_t min_count)
{
	while (node && !has_count(tree, node, min_count))
		node = tree->nodes[node].next_sibling;
	return node;
}

uint32_t flame_tree_next(const struct flame_tree *tree, uint32_t node, uint64_t min_count)
{
	const struct flame_node *nodes = tree->nodes;
	uint32_t next = large_sibling(tree, nodes[node].first_child, min_count);

	for (; !next && node; node = nodes[node].parent)
		next = large_sibling(tree, nodes[node].next_sibling, min_count);
	return next;
}
