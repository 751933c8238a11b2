/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait after a failure before the next attempt: about 1 s, then about twice as long
 * each time, never more than a minute unless the destination wishes so. Pure: reads no clock,
 * sleeps not. */
#ifndef OTLP_DELIVERY_BACKOFF_H
#define OTLP_DELIVERY_BACKOFF_H

#include "otlp/delivery/jitter.h"

#include <stdint.h>

struct backoff {
	struct jitter jitter;
	uint64_t mean_ns; /* of the next wait */
};

void backoff_init(struct backoff *backoff, uint64_t seed);

/* After a failure: the time to wait, at random between half and one and a half of the mean, never
 * 0. A destination's wish (`retry_after_ns`, 0: none) is waited for at least, and up to a tenth
 * longer; one of more than an hour counts as an hour. */
uint64_t backoff_next_ns(struct backoff *backoff, uint64_t retry_after_ns);

/* After a success. */
void backoff_reset(struct backoff *backoff);

#endif
