/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that a flame graph draws: stacks with equal beginnings share nodes.
 *
 *	all ─▶ process ─▶ outermost frame ─▶ … ─▶ leaf
 *
 * A grouped profile has no process there (view.h).
 *
 * A function that was inlined is a frame of its own. Frames are equal when they have the same name
 * and kind below the same parent, and both are inlined or none. Samples without a process name
 * stand under "[unnamed]". */
#ifndef PROFILE_FLAME_TREE_H
#define PROFILE_FLAME_TREE_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flame_kind {
	FLAME_ALL,
	FLAME_PROCESS,
	FLAME_NATIVE,
	FLAME_KERNEL,
	FLAME_STOP,
	FLAME_GO,
	FLAME_RUST,
	FLAME_JVM,
	FLAME_V8JS,
	FLAME_CPYTHON,
	FLAME_JIT,
	FLAME_LABEL,
	FLAME_NR_KINDS,
};

struct flame_node {
	const char *name; /* borrowed from the profile */
	uint64_t count; /* of this node and all below it */
	uint64_t start; /* it covers [start, start + count) of [0, count of the root) */
	uint64_t before; /* in a comparison (diff.h): the count before; else 0 */
	uint32_t name_id; /* string of the profile */
	/* function of the profile; of those with this name, the first one whose source is known */
	uint32_t function;
	enum flame_kind kind;
	bool is_inlined;
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next_sibling; /* 0: none; siblings are sorted by name once the tree is built */
	uint32_t depth; /* of the root: 0 */
};

struct flame_tree {
	struct flame_node *nodes; /* owned; node 0 is the root */
	size_t nr_nodes, cap_nodes;
	size_t max_nodes;
	uint64_t nr_cut; /* counts of stacks whose last frames did not fit */
	double before_scale; /* makes `before` of the nodes comparable to their counts */
	struct htable index; /* of nodes, by parent, name, kind and whether it is inlined */
};

/* Returns the kind of the nodes of such a frame. */
enum flame_kind flame_kind_of(enum frame_kind kind);

/* The profile must outlive the tree, which has `max_nodes` nodes at most. Errors: -ENOMEM. */
int flame_tree_init(struct flame_tree *tree, const struct profile *profile, size_t max_nodes)
	must_check;
void flame_tree_done(struct flame_tree *tree);

/* Returns the number of nodes with at least that count, now or before; the root is always
 * counted. */
size_t flame_tree_count(const struct flame_tree *tree, uint64_t min_count);

/* Returns the next of these nodes in depth-first order; 0 after the last. */
uint32_t flame_tree_next(const struct flame_tree *tree, uint32_t node, uint64_t min_count);

#endif
