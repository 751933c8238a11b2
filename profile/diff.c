/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of the common tree are made in the order of their depth: when a node has its turn, the
 * children that it has in both trees are merged as sorted lists, and appended. */
#include "profile/diff.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/intern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NR_STANDARD_ERRORS 2
#define CONTINUITY_SAMPLES 0.5
#define CHANGE_MIN_SAMPLES 2
/* A smaller part of the larger side is a matter of floating point. */
#define ROUNDING 1e-12
#define NAMES_MAX_BYTES ((size_t)1 << 30)

/* A node of the common tree in both others; 0: it is not there. The root is 0 in all of them, and
 * no child. */
struct origin {
	uint32_t before, after;
};

struct alignment {
	const struct flame_tree *before, *after; /* borrowed */
	struct flame_tree *tree; /* borrowed */
	struct origin *origins; /* owned; of each node of the tree */
	struct intern names; /* their numbers become those of the nodes' names */
};

static void alignment_done(struct alignment *alignment)
{
	free(alignment->origins);
	intern_done(&alignment->names);
}

enum flame_kind diff_kind(enum flame_kind kind)
{
	switch (kind) {
	case FLAME_GO:
	case FLAME_RUST:
	case FLAME_JVM:
	case FLAME_V8JS:
	case FLAME_CPYTHON:
	case FLAME_JIT:
		return FLAME_NATIVE;
	default:
		return kind;
	}
}

/* Returns the order of two siblings. Siblings of the same name that are of two languages may be
 * sorted in another way; then they are not joined. */
static int compare(const struct flame_node *a, const struct flame_node *b)
{
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = (int)diff_kind(a->kind) - (int)diff_kind(b->kind);
	return order ? order : a->is_inlined - b->is_inlined;
}

/* Takes the first of what is left of two lists of siblings, or of both if they are alike. */
static struct origin take_first(const struct alignment *alignment, struct origin *rest)
{
	const struct flame_node *before = &alignment->before->nodes[rest->before];
	const struct flame_node *after = &alignment->after->nodes[rest->after];
	struct origin first = *rest;
	int order = 0;

	if (first.before && first.after)
		order = compare(before, after);
	if (order < 0)
		first.after = 0;
	if (order > 0)
		first.before = 0;
	if (first.before)
		rest->before = before->next_sibling;
	if (first.after)
		rest->after = after->next_sibling;
	return first;
}

/* Fills the next node of the tree, except its place among the others. */
static int add_node(struct alignment *alignment, struct origin origin, uint32_t parent)
{
	struct flame_tree *tree = alignment->tree;
	struct flame_node *node = &tree->nodes[tree->nr_nodes];
	const struct flame_node *before = &alignment->before->nodes[origin.before];
	const struct flame_node *after = &alignment->after->nodes[origin.after];
	bool is_root = tree->nr_nodes == 0;

	*node = is_root || origin.after ? *after : *before;
	node->before = is_root || origin.before ? before->count : 0;
	node->count = is_root || origin.after ? after->count : 0;
	node->parent = parent;
	node->first_child = 0;
	node->next_sibling = 0;
	int r = intern_add(&alignment->names, node->name, &node->name_id);
	if (r == 0)
		alignment->origins[tree->nr_nodes++] = origin;
	return r;
}

static int add_children(struct alignment *alignment, uint32_t parent)
{
	struct flame_node *nodes = alignment->tree->nodes;
	struct origin origin = alignment->origins[parent];
	struct origin rest = { 0 };
	uint32_t *link = &nodes[parent].first_child;
	uint64_t start = nodes[parent].start;

	if (parent == 0 || origin.before)
		rest.before = alignment->before->nodes[origin.before].first_child;
	if (parent == 0 || origin.after)
		rest.after = alignment->after->nodes[origin.after].first_child;
	while (rest.before || rest.after) {
		uint32_t child = (uint32_t)alignment->tree->nr_nodes;

		int r = add_node(alignment, take_first(alignment, &rest), parent);
		if (r < 0)
			return r;
		nodes[child].start = start;
		start += nodes[child].count;
		*link = child;
		link = &nodes[child].next_sibling;
	}
	return 0;
}

/* Joins two trees in an empty one. */
static int align(const struct flame_tree *before, const struct flame_tree *after,
		 struct flame_tree *tree)
{
	_cleanup_(alignment_done) struct alignment alignment = {
		.before = before,
		.after = after,
		.tree = tree,
	};
	size_t max_nodes = before->nr_nodes + after->nr_nodes;

	int r = intern_init(&alignment.names, UINT32_MAX, NAMES_MAX_BYTES);
	if (r == 0)
		r = array_grow(tree->nodes, tree->cap_nodes, max_nodes, SIZE_MAX);
	if (r < 0)
		return r;
	alignment.origins = calloc(max_nodes, sizeof(*alignment.origins));
	if (!alignment.origins)
		return -ENOMEM;
	r = add_node(&alignment, (struct origin){ 0 }, 0);
	for (uint32_t i = 0; r == 0 && i < tree->nr_nodes; i++)
		r = add_children(&alignment, i);
	tree->max_nodes = max_nodes;
	tree->nr_cut = before->nr_cut + after->nr_cut;
	return r;
}

/* Returns what a count of the profile stands for, in its type's unit. */
static double unit_of(const struct profile *profile)
{
	return profile->type == PROFILE_CPU && profile->period ? (double)profile->period : 1;
}

static bool has_duration(const struct profile *profile)
{
	return profile->duration_ns > 0 && (profile->type != PROFILE_CPU || profile->period);
}

/* The unit of a profile without a period is not known; then counts are compared as they are. */
static double unit_ratio(const struct profile *before, const struct profile *after)
{
	bool is_known = before->type != PROFILE_CPU || (before->period && after->period);

	return is_known ? unit_of(before) / unit_of(after) : 1;
}

static void choose_scale(struct diff *diff, bool is_absolute)
{
	const struct profile *before = diff->before, *after = diff->after;
	struct diff_pair totals = diff_totals(diff);

	diff->measure = DIFF_SHARES;
	if (is_absolute || totals.before == 0 || totals.after == 0)
		diff->measure = has_duration(before) && has_duration(after) ? DIFF_RATES
									    : DIFF_SUMS;
	if (totals.before == 0)
		diff->scale = 0;
	else if (diff->measure == DIFF_SHARES)
		diff->scale = (double)totals.after / (double)totals.before;
	else
		diff->scale = unit_ratio(before, after);
	if (diff->measure == DIFF_RATES)
		diff->scale *= (double)after->duration_ns / (double)before->duration_ns;
	diff->tree.before_scale = diff->scale;
}

static int build(struct diff *diff, size_t max_nodes)
{
	_cleanup_(flame_tree_done) struct flame_tree before = { 0 }, after = { 0 };

	int r = flame_tree_init(&before, diff->before, max_nodes);
	if (r == 0)
		r = flame_tree_init(&after, diff->after, max_nodes);
	return r < 0 ? r : align(&before, &after, &diff->tree);
}

int diff_init(struct diff *diff, const struct profile *before, const struct profile *after,
	      bool is_absolute, size_t max_nodes)
{
	*diff = (struct diff){
		.before = before,
		.after = after,
		.has_noise = after->type == PROFILE_CPU,
	};

	int r = build(diff, max_nodes);
	if (r == 0)
		choose_scale(diff, is_absolute);
	else
		diff_done(diff);
	return r;
}

void diff_done(struct diff *diff)
{
	flame_tree_done(&diff->tree);
}

struct diff_pair diff_node(const struct diff *diff, uint32_t node)
{
	return (struct diff_pair){ diff->tree.nodes[node].before, diff->tree.nodes[node].count };
}

struct diff_pair diff_totals(const struct diff *diff)
{
	return diff_node(diff, 0);
}

struct diff_pair diff_self(const struct diff *diff, uint32_t node)
{
	const struct flame_node *nodes = diff->tree.nodes;
	struct diff_pair self = diff_node(diff, node);

	for (uint32_t i = nodes[node].first_child; i; i = nodes[i].next_sibling) {
		self.before -= nodes[i].before;
		self.after -= nodes[i].count;
	}
	return self;
}

const struct profile *diff_profile_of(const struct diff *diff, uint32_t node)
{
	return diff->tree.nodes[node].count > 0 || node == 0 ? diff->after : diff->before;
}

double diff_change(const struct diff *diff, struct diff_pair pair)
{
	double before = (double)pair.before * diff->scale, after = (double)pair.after;
	double change = after - before;

	return fabs(change) > ROUNDING * fmax(before, after) ? change : 0;
}

double diff_noise(const struct diff *diff, struct diff_pair pair)
{
	struct diff_pair totals = diff_totals(diff);
	double count = (double)pair.before + (double)pair.after;
	double total = (double)totals.before + (double)totals.after;
	double share = diff->measure == DIFF_SHARES && total > 0 ? count / total : 0;

	if (!diff->has_noise)
		return 0;
	double error = sqrt(diff->scale * count * fmax(1 - share, 0));
	double limit = NR_STANDARD_ERRORS * error + CONTINUITY_SAMPLES * (1 + diff->scale);
	return fmax(limit, CHANGE_MIN_SAMPLES * fmax(1, diff->scale));
}

bool diff_is_noise(const struct diff *diff, struct diff_pair pair)
{
	return fabs(diff_change(diff, pair)) <= diff_noise(diff, pair);
}

double diff_relative(const struct diff *diff, struct diff_pair pair)
{
	double larger = fmax((double)pair.before * diff->scale, (double)pair.after);

	return larger > 0 ? diff_change(diff, pair) / larger : 0;
}

static double share_of(uint64_t count, uint64_t total)
{
	return total > 0 ? (double)count / (double)total : 0;
}

double diff_points(const struct diff *diff, struct diff_pair pair)
{
	struct diff_pair totals = diff_totals(diff);

	return 100 * (share_of(pair.after, totals.after) - share_of(pair.before, totals.before));
}

double diff_cpus_per_count(const struct profile *profile)
{
	if (profile->type != PROFILE_CPU || profile->duration_ns == 0)
		return 0;
	return (double)profile->period / (double)profile->duration_ns;
}
