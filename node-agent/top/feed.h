/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the profiles of finished seconds on the symbolizer's thread, until the thread that draws
 * takes them as one. A second without samples has no profile, but counts as time. Waits arrive in
 * profiles of their own. */
#ifndef TOP_FEED_H
#define TOP_FEED_H

#include "base/err.h"
#include "profile/builder.h"
#include "profile/profile.h"

#include <pthread.h>
#include <stdint.h>

struct feed {
	pthread_mutex_t lock; /* of all fields */
	uint64_t period_ns; /* of the samples */
	uint64_t covered_ns; /* Unix time up to which profiles were taken */
	struct builder *builder; /* owned; NULL: nothing arrived since then */
	struct builder *waits; /* the same, of waits */
	uint64_t nr_lost; /* samples that did not fit, since the last feed_take() */
};

#define FEED_EMPTY                                                                                 \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER                                                  \
	}

/* Tells when sampling begins, and how often samples are taken. */
void feed_begin(struct feed *feed, uint64_t unix_ns, uint64_t period_ns);
void feed_done(struct feed *feed);

/* Adds a sealed profile. What does not fit into memory is counted as lost. Thread-safe. */
void feed_add(struct feed *feed, const struct profile *profile);

/* Returns how much time there is to take: up to the end of the last second that arrived; 0 if none
 * did. Thread-safe. */
uint64_t feed_waiting_ns(struct feed *feed);

/* Returns the time from what was taken to `unix_ns`. Thread-safe. */
uint64_t feed_age_ns(struct feed *feed, uint64_t unix_ns);

/* Takes all that arrived since the last call as one profile, which the caller unreferences. It
 * covers the time since what was taken before, up to the last second that arrived or, if that is
 * later, to `until_ns` (Unix time). Adds the lost samples to *nr_lost. Returns NULL without memory,
 * and if nothing arrived and no time has passed. Thread-safe. */
struct profile *feed_take(struct feed *feed, uint64_t until_ns, uint64_t *nr_lost);

/* Takes all waits that arrived since the last call, as one profile of their own time, which the
 * caller unreferences. Returns NULL if none did. Thread-safe. */
struct profile *feed_take_waits(struct feed *feed);

#endif
