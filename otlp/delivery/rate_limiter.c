/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/rate_limiter.h"

#include "base/clock.h"
#include "base/minmax.h"

#define RATE_BYTES_PER_SEC ((uint64_t)2 << 20)
#define BURST_BYTES ((uint64_t)1 << 20)

#define RECOVERY_GAP_NS NSEC_PER_SEC

/* Returns the time that the rate takes for that many bytes. */
static uint64_t time_of(uint64_t bytes)
{
	return bytes * NSEC_PER_SEC / RATE_BYTES_PER_SEC;
}

void rate_limiter_init(struct rate_limiter *limiter, uint64_t seed)
{
	*limiter = (struct rate_limiter){ .jitter = { .state = seed } };
}

/* Returns when the burst has room for the request. */
static uint64_t bytes_allow_ns(const struct rate_limiter *limiter, uint64_t cost_bytes)
{
	uint64_t ahead = cost_bytes < BURST_BYTES ? time_of(BURST_BYTES - cost_bytes) : 0;

	return limiter->paid_ns > ahead ? limiter->paid_ns - ahead : 0;
}

uint64_t rate_limiter_wait_ns(const struct rate_limiter *limiter, uint32_t cost_bytes,
			      uint64_t now_ns)
{
	uint64_t start = bytes_allow_ns(limiter, cost_bytes);

	if (limiter->state == RATE_LIMITER_RECOVERING && limiter->nr_fresh == 0)
		start = max_u64(start, limiter->next_ns);
	return start > now_ns ? start - now_ns : 0;
}

void rate_limiter_failed(struct rate_limiter *limiter)
{
	limiter->state = RATE_LIMITER_DOWN;
	limiter->nr_fresh = 0;
}

void rate_limiter_sent(struct rate_limiter *limiter, uint32_t cost_bytes, uint64_t now_ns)
{
	limiter->paid_ns = max_u64(limiter->paid_ns, now_ns) + time_of(cost_bytes);
	if (limiter->state == RATE_LIMITER_HEALTHY)
		return;
	limiter->state = RATE_LIMITER_RECOVERING;
	if (limiter->nr_fresh > 0)
		limiter->nr_fresh--;
	else
		limiter->next_ns = now_ns + jitter_around(&limiter->jitter, RECOVERY_GAP_NS);
}

void rate_limiter_appended(struct rate_limiter *limiter)
{
	if (limiter->state == RATE_LIMITER_RECOVERING)
		limiter->nr_fresh++;
}

void rate_limiter_emptied(struct rate_limiter *limiter)
{
	if (limiter->state != RATE_LIMITER_RECOVERING)
		return;
	limiter->state = RATE_LIMITER_HEALTHY;
	limiter->nr_fresh = 0;
}
