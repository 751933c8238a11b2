/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the stacks of a profile by what is at their root: the label of a grouped profile (view.h),
 * or the process. A viewer shows each part as a profile or thread of its own. */
#ifndef PROFILE_SPLIT_H
#define PROFILE_SPLIT_H

#include "base/err.h"
#include "profile/stack_sums.h"

#include <stddef.h>
#include <stdint.h>

struct split_part {
	uint32_t root; /* row of the label or process; NO_ROOT: the part has all stacks */
	size_t first, nr; /* stacks, in split.sums */
	uint64_t count; /* sum of them */
};

struct split {
	struct stack_sums sums; /* ordered by part */
	struct split_part *parts; /* owned; the largest first */
	size_t nr_parts, cap_parts;
};

/* Splits by labels, and by process if `by_process`; else a profile without labels is one part. Adds
 * the rows of processes to `rows`, which are those of the profile. Errors: -ENOMEM. */
int split_init(struct split *split, struct frame_rows *rows, bool by_process) must_check;
void split_done(struct split *split);

#endif
