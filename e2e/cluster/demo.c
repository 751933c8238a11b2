/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with work to do: SERVE calls FIRST, which takes two thirds of its time, and SECOND. The
 * three names are the compiler's options, so that each container has functions of its own
 * (demo.py). It takes PERCENT of one CPU, for ever.
 */
#include <time.h>

#define PERIOD_NS 50000000L
#define WORK_NS (PERIOD_NS / 100 * PERCENT)
#define STEPS 50000

static volatile unsigned long sink;

void FIRST(void);
void SECOND(void);
void SERVE(void);

static inline __attribute__((always_inline)) void count(unsigned long nr_steps)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < nr_steps; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x + 1;
}

void FIRST(void)
{
	count(2UL * STEPS);
}

void SECOND(void)
{
	count(STEPS);
}

/* The code after the calls keeps the last one from becoming a jump. */
void SERVE(void)
{
	FIRST();
	SECOND();
	sink++;
}

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void)
{
	const struct timespec rest = { 0, PERIOD_NS - WORK_NS };

	for (;;) {
		long long stop = cpu_ns() + WORK_NS;

		while (cpu_ns() < stop)
			SERVE();
		nanosleep(&rest, 0);
	}
}
