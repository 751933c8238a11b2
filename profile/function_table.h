/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a profile each function has: itself, and with what it called. In a grouped profile
 * (view.h), each group has its own functions. */
#ifndef PROFILE_FUNCTION_TABLE_H
#define PROFILE_FUNCTION_TABLE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "profile/frame_rows.h"

#include <stddef.h>
#include <stdint.h>

struct function_sum {
	uint32_t group; /* string of `groups` */
	uint32_t row; /* of the frame rows */
	uint64_t self; /* samples in which it ran itself */
	uint64_t total; /* samples with it in their stack; it counts once if it calls itself */
	uint32_t last_stack; /* the last one that was added, + 1 */
};

struct function_table {
	/* Owned; the ones with the largest `self` first, then with the largest `total`, then by
	 * group and name. No labels and processes. */
	struct function_sum *sums;
	size_t nr_sums, cap_sums;
	struct intern groups; /* labels above the stacks, outermost first: "shop;web-1", or "" */
	struct htable index; /* of sums by group and row; not valid once they are sorted */
};

/* The sums of `self` and the samples without frames are all samples. Errors: -ENOMEM, -ENOSPC too
 * many groups. */
int function_table_init(struct function_table *table, const struct frame_rows *rows) must_check;
void function_table_done(struct function_table *table);

#endif
