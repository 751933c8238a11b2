/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of test programs that know what they did: their clocks and sleeps, and the beginning in
 * which the profiler gets to know the program. */
#ifndef E2E_THREADS_H
#define E2E_THREADS_H

#include <time.h>

#define WARM_UP_SECONDS 1.5

/* Returns seconds. */
static inline double read_clock(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline void sleep_us(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static inline void sleep_ms(long ms)
{
	sleep_us(ms * 1000);
}

/* Returns when the profiler is to know the program, which starts now. */
static inline double end_of_warm_up(void)
{
	return read_clock(CLOCK_MONOTONIC) + WARM_UP_SECONDS;
}

#endif
