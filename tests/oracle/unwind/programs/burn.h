/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all programs of the unwinding test. They run until they are killed, at most two
 * minutes, and do nothing of use: what counts is what their stacks look like. */
#ifndef TESTS_UNWIND_PROGRAMS_BURN_H
#define TESTS_UNWIND_PROGRAMS_BURN_H

#include <unistd.h>

#define NOINLINE __attribute__((noinline, unused))
#define MAX_SECONDS 120

static volatile unsigned long sink;

static inline void begin_burning(void)
{
	alarm(MAX_SECONDS);
}

/* A leaf that takes a while. */
NOINLINE static unsigned long burn(unsigned long nr_rounds)
{
	unsigned long sum = 1;

	for (unsigned long i = 0; i < nr_rounds; i++)
		sum = sum * 31 + i;
	sink += sum;
	return sum;
}

#endif
