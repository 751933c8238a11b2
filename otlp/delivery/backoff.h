/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the wait after a failure: about 1 s, then about twice as long each time, at most a
 * minute unless the destination requests more. Pure: does not read a clock or sleep. */
#ifndef OTLP_DELIVERY_BACKOFF_H
#define OTLP_DELIVERY_BACKOFF_H

#include "otlp/delivery/jitter.h"

#include <stdint.h>

struct backoff {
	struct jitter jitter;
	uint64_t mean_ns; /* of the next wait */
};

void backoff_init(struct backoff *backoff, uint64_t seed);

/* Returns the wait after a failure: random, between half and one and a half times the mean, never
 * 0. If the destination requests a time (`retry_after_ns`; 0: none), the wait is at least that
 * time, of which at most an hour counts, and a random tenth of it at most is added. */
uint64_t backoff_next_ns(struct backoff *backoff, uint64_t retry_after_ns);

/* Resets the wait after a success. */
void backoff_reset(struct backoff *backoff);

#endif
