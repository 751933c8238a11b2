/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to look at a profile. The result is a profile again, so that every format can show it:
 *
 *	groups		labels become frames above the stack, outermost first, instead of the
 *			process: all ─▶ shop ─▶ web-1 ─▶ main ─▶ … ─▶ read
 *	bottom-up	stacks are turned round, from the function that ran to its callers. Without
 *			groups, the process comes last: all ─▶ read ─▶ … ─▶ main ─▶ nginx
 *	kernel only	samples that ran in the kernel, without the frames of user space
 *	kernel hide	all samples, without the frames of the kernel; one that has no others gets
 *			the frame "[kernel]"
 *
 * Except with "kernel only", the sum of all counts is that of the profile. */
#ifndef PROFILE_VIEW_H
#define PROFILE_VIEW_H

#include "base/err.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_GROUPS_MAX 16

enum view_kernel { VIEW_KERNEL_ALL, VIEW_KERNEL_ONLY, VIEW_KERNEL_HIDE };

struct view {
	/* Labels (profile/label_key.h), the outermost one first; borrowed. No more than
	 * VIEW_GROUPS_MAX. */
	const char *const *groups;
	size_t nr_groups;
	bool bottom_up;
	enum view_kernel kernel;
};

struct view_result {
	struct profile *profile; /* owned; sealed */
	uint64_t nr_user; /* counts left out by VIEW_KERNEL_ONLY: they ran in user space */
	uint64_t nr_lost; /* counts of the samples that did not fit into `max_bytes` */
};

/* Returns whether a view shows a profile as it is. */
bool view_is_plain(const struct view *view);

/* Makes the view of a profile that is none itself. The samples keep their labels. Errors: -ENOSPC
 * too many groups, -ENOMEM. */
int view_apply(const struct view *view, const struct profile *profile, size_t max_bytes,
	       struct view_result *ret_result) must_check;

#endif
