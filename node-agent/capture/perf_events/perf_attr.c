/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_attr.h"

#include <time.h>

struct perf_event_attr perf_attr_cpu_clock(uint32_t frequency_hz)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency_hz,
	};
}

struct perf_event_attr perf_attr_tasks(uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = sample_type,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* at half the ring, as no number of bytes is given */
	};
}
