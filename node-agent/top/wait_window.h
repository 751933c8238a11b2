/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of the last ten seconds or so. A wait counts when it ends, and in each fifth second
 * while it goes on. In a shorter time than these, a thread that waits all the time would seem to
 * wait now and then. */
#ifndef TOP_WAIT_WINDOW_H
#define TOP_WAIT_WINDOW_H

#include "base/err.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

#define WAIT_WINDOW_PARTS 10

struct wait_part {
	struct profile *waits; /* a reference; NULL: there were none */
	uint64_t duration_ns;
};

struct wait_window {
	struct wait_part parts[WAIT_WINDOW_PARTS]; /* the oldest first */
	size_t nr;
};

void wait_window_done(struct wait_window *window);

/* Adds the waits of the newest time, of which it takes a reference; NULL stands for none. Parts
 * that are older than ten seconds are forgotten. */
void wait_window_add(struct wait_window *window, struct profile *waits, uint64_t duration_ns);

/* Merges all parts into a profile whose duration is the sum of theirs, and which the caller
 * unreferences. Errors: -ENOMEM, -ENOSPC. */
int wait_window_merge(const struct wait_window *window, struct profile **ret_waits) must_check;

#endif
