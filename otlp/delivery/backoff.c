/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/backoff.h"

#include "base/clock.h"
#include "base/minmax.h"

#define FIRST_NS NSEC_PER_SEC
#define MEAN_MAX_NS (40 * NSEC_PER_SEC) /* with jitter, the wait is at most a minute */
#define RETRY_AFTER_MAX_NS (3600 * NSEC_PER_SEC)

void backoff_init(struct backoff *backoff, uint64_t seed)
{
	*backoff = (struct backoff){ .jitter = { .state = seed } };
	backoff_reset(backoff);
}

uint64_t backoff_next_ns(struct backoff *backoff, uint64_t retry_after_ns)
{
	uint64_t requested_ns = min_u64(retry_after_ns, RETRY_AFTER_MAX_NS);
	uint64_t backoff_ns = jitter_around(&backoff->jitter, backoff->mean_ns);

	requested_ns = jitter_between(&backoff->jitter, requested_ns,
				      requested_ns + requested_ns / 10);
	backoff->mean_ns = min_u64(2 * backoff->mean_ns, MEAN_MAX_NS);
	return max_u64(backoff_ns, requested_ns);
}

void backoff_reset(struct backoff *backoff)
{
	backoff->mean_ns = FIRST_NS;
}
