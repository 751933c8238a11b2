/* SPDX-License-Identifier: Apache-2.0 */
/* When the samples were taken that became the points of a profile: timestamps_unix_nano. */
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
	size_t next; /* the first one that was not taken */
};
void point_times_done(struct point_times *times);

/* A point that counts `count` more, all at one time. Errors: -ENOMEM. */
int point_times_add(struct point_times *times, uint32_t point, uint64_t unix_ns, uint64_t count)
	must_check;

/* Ends adding: all are taken from the start, point by point. */
void point_times_sort(struct point_times *times);

/* Returns the times of a point, the earliest first; borrowed. To be called for each point in rising
 * order. */
const struct point_time *point_times_take(struct point_times *times, uint32_t point,
					  size_t *ret_nr);

/* Forgets all, for the next profile. */
void point_times_clear(struct point_times *times);

#endif
