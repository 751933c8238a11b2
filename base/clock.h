/* SPDX-License-Identifier: Apache-2.0 */
/* Nanosecond clocks. Samples have times of CLOCK_MONOTONIC, as bpf_ktime_get_ns() returns them;
 * exported data have Unix times. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* Returns the time since boot without suspend: the clock of samples and kernel events. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Returns the Unix time. */
static inline uint64_t clock_real_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* Converts a time of the monotonic clock to Unix time, with the current offset between the clocks.
 * A thread that loses its CPU between two readings reads them again. */
static inline uint64_t clock_mono_to_real_ns(uint64_t mono_ns)
{
	uint64_t before_ns, real_ns, after_ns;
	unsigned int nr_tries = 4;

	do {
		before_ns = clock_mono_ns();
		real_ns = clock_real_ns();
		after_ns = clock_mono_ns();
	} while (after_ns - before_ns > 20 * NSEC_PER_USEC && --nr_tries > 0);
	return real_ns - after_ns + mono_ns;
}

/* Returns when the present second of Unix time is over, as CLOCK_MONOTONIC. */
static inline uint64_t clock_second_end_ns(void)
{
	return clock_mono_ns() + NSEC_PER_SEC - clock_real_ns() % NSEC_PER_SEC;
}

/* Converts a time or duration for pthread_cond_timedwait(), clock_nanosleep() and ppoll(). */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

#endif
