/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of each row in the last refreshes, by name. */
#ifndef TOP_TREND_H
#define TOP_TREND_H

#include "base/err.h"
#include "base/intern.h"
#include "top/tally.h"

#include <stddef.h>

#define TREND_POINTS 10

struct trend_line {
	float cpus[TREND_POINTS]; /* the newest last */
};

struct trend {
	struct intern names; /* number 0 is no line; the line of number n is n - 1 */
	struct trend_line *lines; /* owned */
	size_t nr_lines, cap_lines;
};

/* Adds a point to each line. Rows that had no CPU time in the last TREND_POINTS refreshes are
 * forgotten. On failure nothing changes. Errors: -ENOMEM, -ENOSPC. */
int trend_add(struct trend *trend, const struct tally *tally) must_check;

/* Returns the line of a row, or NULL; borrowed until the next point. */
const struct trend_line *trend_find(const struct trend *trend, const char *name);

void trend_done(struct trend *trend);

#endif
