/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a profile summed up by stack and process, for formats that show no other labels.
 * In a grouped profile (view.h), the process is part of the stack if it is wanted at all. */
#ifndef PROFILE_STACK_SUMS_H
#define PROFILE_STACK_SUMS_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/frame_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_sum {
	uint32_t root; /* row of the process, or NO_ROOT */
	uint32_t stack;
	uint64_t count;
};

#define NO_ROOT UINT32_MAX

struct stack_sums {
	struct stack_sum *items; /* owned; in the order of their first samples */
	size_t nr, cap;
	struct htable index;
};

/* Adds the rows of processes to `rows`, which are those of the profile. Errors: -ENOMEM. */
int stack_sums_init(struct stack_sums *sums, struct frame_rows *rows) must_check;
void stack_sums_done(struct stack_sums *sums);

/* A walk over the frames of a sum, from the root to the leaf. */
struct stack_walk {
	const struct frame_rows *rows; /* borrowed */
	const struct stack_sum *sum; /* borrowed */
	size_t nr_locations; /* not begun yet */
	uint32_t nr_lines; /* of the location at hand that are left */
	bool has_root; /* the process is still to come */
	uint32_t row;
	bool is_inlined;
};

struct stack_walk stack_walk_of(const struct frame_rows *rows, const struct stack_sum *sum);

/* Moves on to the next frame: sets `row` and `is_inlined`. Returns false after the last one. */
bool stack_walk_next(struct stack_walk *walk);

#endif
