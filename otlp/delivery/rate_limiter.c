/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/rate_limiter.h"

#include "base/clock.h"

#define RATE_BYTES_PER_SEC ((uint64_t)2 << 20)
#define BURST_BYTES ((uint64_t)1 << 20)

#define RECOVERY_GAP_NS NSEC_PER_SEC

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How long the rate takes for so many bytes. */
static uint64_t time_of(uint64_t bytes)
{
	return bytes * NSEC_PER_SEC / RATE_BYTES_PER_SEC;
}

void pace_init(struct pace *pace, uint64_t seed)
{
	*pace = (struct pace){ .jitter = { .state = seed } };
}

/* With the request, no more than the burst may be unpaid. */
static uint64_t bytes_allow_ns(const struct pace *pace, uint64_t cost_bytes)
{
	uint64_t ahead = cost_bytes < BURST_BYTES ? time_of(BURST_BYTES - cost_bytes) : 0;

	return pace->paid_ns > ahead ? pace->paid_ns - ahead : 0;
}

uint64_t pace_wait_ns(const struct pace *pace, uint32_t cost_bytes, uint64_t now_ns)
{
	uint64_t start = bytes_allow_ns(pace, cost_bytes);

	if (pace->state == PACE_RECOVERING && pace->nr_fresh == 0)
		start = later(start, pace->next_ns);
	return start > now_ns ? start - now_ns : 0;
}

void pace_failed(struct pace *pace)
{
	pace->state = PACE_DOWN;
	pace->nr_fresh = 0;
}

void pace_sent(struct pace *pace, uint32_t cost_bytes, uint64_t now_ns)
{
	pace->paid_ns = later(pace->paid_ns, now_ns) + time_of(cost_bytes);
	if (pace->state == PACE_HEALTHY)
		return;
	pace->state = PACE_RECOVERING;
	if (pace->nr_fresh > 0)
		pace->nr_fresh--;
	else
		pace->next_ns = now_ns + jitter_around(&pace->jitter, RECOVERY_GAP_NS);
}

void pace_appended(struct pace *pace)
{
	if (pace->state == PACE_RECOVERING)
		pace->nr_fresh++;
}

void pace_emptied(struct pace *pace)
{
	if (pace->state != PACE_RECOVERING)
		return;
	pace->state = PACE_HEALTHY;
	pace->nr_fresh = 0;
}
