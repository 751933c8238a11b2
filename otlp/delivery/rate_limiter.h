/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the rate of requests while they succeed. There are two limits:
 *
 * - Bytes, always: 2 MiB a second, of which 1 MiB may come at once. Destinations have such a limit
 *   for each tenant, and a request that they refuse for it costs work twice.
 * - Requests, after an outage: one request that has waited leaves about every second (half to one
 *   and a half), so that a thousand agents do not take a destination down again when it comes back.
 *   This lasts until the queue was empty once. Requests that are made meanwhile do not count: each
 *   of them lets one more leave at once, as without an outage. Otherwise an agent that makes more
 *   than one a second would never catch up.
 *
 * Pure: time is an argument (CLOCK_MONOTONIC or any other clock that does not go back). */
#ifndef OTLP_DELIVERY_RATE_LIMITER_H
#define OTLP_DELIVERY_RATE_LIMITER_H

#include "otlp/delivery/jitter.h"

#include <stdint.h>

enum rate_limiter_state {
	RATE_LIMITER_HEALTHY,
	RATE_LIMITER_DOWN, /* the last request failed */
	RATE_LIMITER_RECOVERING, /* one succeeded after that */
};

struct rate_limiter {
	struct jitter jitter;
	enum rate_limiter_state state;
	uint64_t paid_ns; /* when the rate has caught up with all bytes sent */
	uint64_t next_ns; /* recovering: not before that */
	uint64_t nr_fresh; /* recovering: made since, not sent yet */
};

void rate_limiter_init(struct rate_limiter *limiter, uint64_t seed);

/* Returns how long to wait before a request of that cost is sent; 0: it may be sent now. A request
 * larger than the burst is sent when nothing else was sent for long enough. */
uint64_t rate_limiter_wait_ns(const struct rate_limiter *limiter, uint32_t cost_bytes,
			      uint64_t now_ns);

/* A request failed and stays in the queue. Also to be called at the start if requests were found on
 * disk, because the agents of a cluster are restarted together, too. */
void rate_limiter_failed(struct rate_limiter *limiter);
/* The destination accepted a request, or refused it for good. */
void rate_limiter_sent(struct rate_limiter *limiter, uint32_t cost_bytes, uint64_t now_ns);
/* A request was added to the queue. */
void rate_limiter_appended(struct rate_limiter *limiter);
/* The queue is empty. */
void rate_limiter_emptied(struct rate_limiter *limiter);

#endif
