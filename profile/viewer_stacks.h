/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of one or two profiles as the viewer gets them (viewer_data.h): a tree in which stacks
 * with equal beginnings share nodes, the functions of its nodes, and the strings of both. Equal
 * functions of two profiles are one.
 *
 * Frames that stand for labels are left out: the viewer makes its own. */
#ifndef PROFILE_VIEWER_STACKS_H
#define PROFILE_VIEWER_STACKS_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings are numbers in viewer_stacks.strings. */
struct viewer_frame {
	uint32_t name; /* "" of code without a name */
	uint32_t module; /* the file that the code is in; 0: unknown */
	uint32_t source; /* source file; 0: unknown */
	uint32_t start_line; /* in it; 0: unknown */
	enum frame_kind kind;
};

struct viewer_node {
	uint32_t parent; /* a smaller number than the node's own */
	uint32_t frame;
	bool is_inlined;
};

struct viewer_stacks {
	struct intern strings;
	struct viewer_frame *frames; /* owned */
	size_t nr_frames, cap_frames;
	struct viewer_node *nodes; /* owned; node 0 is the root and has no frame */
	size_t nr_nodes, cap_nodes, max_nodes;
	size_t nr_cut; /* stacks whose last frames did not fit */
	struct htable frame_index, node_index;
};

/* The tree has `max_nodes` nodes at most. viewer_stacks_done() is needed after a failure, too.
 * Errors: -ENOMEM. */
int viewer_stacks_init(struct viewer_stacks *stacks, size_t max_nodes) must_check;
void viewer_stacks_done(struct viewer_stacks *stacks);

/* Adds all stacks of a profile. Stores the node of each stack's last frame in `ret_nodes`, which
 * has room for profile->nr_stacks numbers. Errors: -ENOMEM, -ENOSPC too many names. */
int viewer_stacks_add(struct viewer_stacks *stacks, const struct profile *profile,
		      uint32_t *ret_nodes) must_check;

#endif
