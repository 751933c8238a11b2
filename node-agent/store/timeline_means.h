/* SPDX-License-Identifier: Apache-2.0 */
/* Means of what GPUs did, for the lines of a timeline. A value of a step is the mean of its seconds
 * in which something was read: of a line with numbers of its own, of those of this line, and
 * otherwise of all seconds in which a GPU was read, as a pod that does not use any has no number.
 * The means of several hosts are summed up. */
#ifndef STORE_TIMELINE_MEANS_H
#define STORE_TIMELINE_MEANS_H

#include "base/err.h"
#include "store/timeline_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mean_line {
	uint64_t *sums; /* owned; by step; this and the next: of the current host */
	uint32_t *counts; /* owned; by step */
	bool *is_known; /* owned; by step: of any host */
};

struct timeline_means {
	struct mean_line *items; /* owned; by line; arrays are NULL before the first number */
	size_t nr, cap;
	size_t nr_steps;
	bool *is_read; /* owned; by second of the range: a GPU was read, of the current host */
	uint64_t nr_range_s;
	uint32_t *nr_read; /* owned; by step: in how many seconds */
	bool *was_read; /* owned; by step: of any host */
};

/* timeline_means_done() is needed after a failure, too. Errors: -ENOMEM. */
int timeline_means_init(struct timeline_means *means, size_t nr_steps, uint64_t nr_range_s)
	must_check;
void timeline_means_done(struct timeline_means *means);

/* Notes that a GPU was read in a second of the range, which belongs to that step. */
void timeline_means_note(struct timeline_means *means, uint64_t second, size_t step);

/* Adds a second's number to a line. Errors: -ENOMEM. */
int timeline_means_add(struct timeline_means *means, uint32_t line, size_t step, uint64_t value)
	must_check;

/* Ends a host: adds its means to the lines. */
void timeline_means_settle(struct timeline_means *means, struct timeline_lines *lines,
			   bool has_own_numbers);

/* Tells the lines in which steps they are known. Errors: -ENOMEM. */
int timeline_means_finish(struct timeline_means *means, struct timeline_lines *lines,
			  bool has_own_numbers) must_check;

#endif
