/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_clock.h"

#include "base/clock.h"

#include <sys/prctl.h>

#define THREAD_NAME_BYTES 16
#define MAX_TRIES 3
#define NARROW_NS (20 * NSEC_PER_USEC) /* how long a comparison takes without an interruption */

int perf_clock_open(struct perf_clock *clock, const struct perf_event_attr *attr)
{
	struct perf_event_attr names = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.comm = 1,
		.sample_id_all = 1,
	};
	const struct perf_ring_target target = { .pid = 0, .cpu = -1 };
	size_t page_bytes = perf_ring_round_bytes(1);
	struct perf_ring_size size = { page_bytes, page_bytes };

	if (attr->use_clockid)
		return 0;
	int r = perf_ring_open(&names, &target, &size, &clock->ring);
	if (r < 0)
		return r;
	clock->is_open = true;
	perf_clock_update(clock);
	return 0;
}

void perf_clock_close(struct perf_clock *clock)
{
	if (clock->is_open)
		perf_ring_close(&clock->ring);
	clock->is_open = false;
}

/* Reads the time of the last record, which is at its end; false if there is no record. */
static bool read_time(struct perf_ring *ring, uint64_t *ret_time_ns)
{
	struct perf_event_header header;
	bool has_time = false;

	perf_ring_begin(ring);
	while (perf_ring_peek(ring, 0, &header, sizeof(header)) == 0) {
		has_time = perf_ring_peek(ring, header.size - sizeof(*ret_time_ns), ret_time_ns,
					  sizeof(*ret_time_ns)) == 0;
		ring->position += header.size;
	}
	perf_ring_release(ring);
	return has_time;
}

void perf_clock_update(struct perf_clock *clock)
{
	char name[THREAD_NAME_BYTES] = "";
	uint64_t least_ns = UINT64_MAX;

	if (!clock->is_open || prctl(PR_GET_NAME, name, 0, 0, 0) < 0)
		return;
	for (int i = 0; i < MAX_TRIES && least_ns > NARROW_NS; i++) {
		uint64_t time_ns, before_ns = clock_mono_ns();

		prctl(PR_SET_NAME, name, 0, 0, 0);
		uint64_t took_ns = clock_mono_ns() - before_ns;
		if (!read_time(&clock->ring, &time_ns) || took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		clock->offset_ns = (int64_t)(before_ns + took_ns / 2 - time_ns);
	}
}
