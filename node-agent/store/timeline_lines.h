/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a timeline under construction, found by their names. */
#ifndef STORE_TIMELINE_LINES_H
#define STORE_TIMELINE_LINES_H

#include "base/err.h"
#include "base/htable.h"
#include "store/store_timeline.h"

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_MAX_NUMBERS ((size_t)1 << 24) /* in all lines together */
#define TIMELINE_REST_NAME "other"

struct timeline_lines {
	struct timeline_line *items; /* owned */
	size_t nr, cap;
	size_t nr_steps;
	struct htable index; /* by name */
};

void timeline_lines_done(struct timeline_lines *lines);

/* Finds the line with a name, or adds it. Errors: -ENOSPC over TIMELINE_MAX_NUMBERS, -ENOMEM. */
int timeline_lines_get(struct timeline_lines *lines, const char *name, uint32_t *ret_index)
	must_check;

/* Adds to a value. `step` and `index` must exist. */
void timeline_lines_add(struct timeline_lines *lines, uint32_t index, size_t step, uint64_t value);

/* Multiplies all values. */
void timeline_lines_scale(struct timeline_lines *lines, uint64_t factor);

/* Sorts by totals, the largest first, then by name. */
void timeline_lines_sort_by_total(struct timeline_lines *lines);

/* Sorts names that begin with numbers. */
void timeline_lines_sort_by_number(struct timeline_lines *lines);

/* Joins all lines from `max` on in one. Errors: -ENOMEM; then nothing changes. */
int timeline_lines_limit(struct timeline_lines *lines, size_t max) must_check;

#endif
