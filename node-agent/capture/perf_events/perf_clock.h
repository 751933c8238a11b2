/* SPDX-License-Identifier: Apache-2.0 */
/* Times of perf's records on kernels without attr.use_clockid (before Linux 4.1), where they are
 * the scheduler's and not CLOCK_MONOTONIC. To compare the two clocks, this thread sets its own
 * name to the name it has, of which perf writes a record. The clocks drift apart by up to half a
 * millisecond per second, so this is repeated. */
#ifndef CAPTURE_PERF_EVENTS_PERF_CLOCK_H
#define CAPTURE_PERF_EVENTS_PERF_CLOCK_H

#include "base/err.h"
#include "capture/perf_events/perf_ring.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_clock {
	bool is_open; /* else perf's times are CLOCK_MONOTONIC */
	struct perf_ring ring;
	int64_t offset_ns; /* CLOCK_MONOTONIC - perf's clock */
};

/* Opens a clock for an event that was opened with `attr`. It belongs to the calling thread. Errors:
 * those of perf_ring_open(). */
int perf_clock_open(struct perf_clock *clock, const struct perf_event_attr *attr) must_check;
void perf_clock_close(struct perf_clock *clock);

/* Compares the clocks now. */
void perf_clock_update(struct perf_clock *clock);

static inline uint64_t perf_clock_to_mono_ns(const struct perf_clock *clock, uint64_t time_ns)
{
	return time_ns + (uint64_t)clock->offset_ns;
}

#endif
