/* SPDX-License-Identifier: Apache-2.0 */
/* Random times, so that agents that fail together do not retry together. Not for secrets. */
#ifndef OTLP_DELIVERY_JITTER_H
#define OTLP_DELIVERY_JITTER_H

#include <stdint.h>

struct jitter {
	uint64_t state; /* any seed; equal seeds give equal times */
};

/* Returns a number from `low` to `high`, both included; low <= high. */
uint64_t jitter_between(struct jitter *jitter, uint64_t low, uint64_t high);

/* Returns a number from half of `mean` to one and a half of it. */
static inline uint64_t jitter_around(struct jitter *jitter, uint64_t mean)
{
	return jitter_between(jitter, mean - mean / 2, mean + mean / 2);
}

#endif
