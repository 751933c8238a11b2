/* SPDX-License-Identifier: Apache-2.0 */
/* The times of the samples that became the points of a profile: timestamps_unix_nano. */
#ifndef OTLP_ENCODE_POINT_TIMES_H
#define OTLP_ENCODE_POINT_TIMES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct point_time {
	uint64_t unix_ns;
	uint32_t point;
};

struct point_times {
	struct point_time *items; /* owned */
	size_t nr, cap;
	size_t next; /* first one that was not taken yet */
};
void point_times_done(struct point_times *times);

/* Adds `count` equal times to a point. Errors: -ENOMEM. */
int point_times_add(struct point_times *times, uint32_t point, uint64_t unix_ns, uint64_t count)
	must_check;

/* Ends adding, so that the times can be taken point by point. */
void point_times_sort(struct point_times *times);

/* Returns the times of a point, the earliest first; borrowed. Must be called for all points in
 * ascending order. */
const struct point_time *point_times_take(struct point_times *times, uint32_t point,
					  size_t *ret_nr);

/* Removes all times, for the next profile. */
void point_times_clear(struct point_times *times);

#endif
