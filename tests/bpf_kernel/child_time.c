/* SPDX-License-Identifier: Apache-2.0 */
#include "child_time.h"

#include "base/clock.h"

#include <time.h>

#include "unit.h"

#define STEP_NS (20 * NSEC_PER_MSEC)
#define PATIENCE_NS (60 * NSEC_PER_SEC)

static uint64_t cpu_time_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

void child_time_wait(pid_t pid, uint64_t cpu_ns)
{
	const struct timespec step = clock_timespec(STEP_NS);
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	uint64_t until_ns = cpu_time_ns(pid) + cpu_ns;

	while (cpu_time_ns(pid) < until_ns && clock_mono_ns() < deadline_ns)
		nanosleep(&step, NULL);
}
