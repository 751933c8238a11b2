/* SPDX-License-Identifier: Apache-2.0 */
/* A library in two versions (VERSION is 1 or 2) that differ in the names of their functions, in
 * where these are, and in how large their frames are, so that whoever takes one's names or unwind
 * tables for the other's is seen to. Built without frame pointers. */
#include "swap_lib.h"

#include "base/clock.h"

#define JOIN(name, version) name##_v##version
#define VERSIONED(name, version) JOIN(name, version)
#define NAME(name) VERSIONED(name, VERSION)
#define NOINLINE __attribute__((noinline))

#define LEAF_LOOPS 300000
#if VERSION == 1
#define LEAF_WORDS 3
#define MIDDLE_WORDS 40
#define OUTER_WORDS 7
#else
#define LEAF_WORDS 21
#define MIDDLE_WORDS 6
#define OUTER_WORDS 90
#endif

uint64_t NAME(leaf)(uint64_t seed);
uint64_t NAME(middle)(uint64_t seed);
uint64_t NAME(outer)(uint64_t until_ns);

int swap_version(void)
{
	return VERSION;
}

#if VERSION == 2
/* Moves what follows by a few pages. */
__asm__(".fill 12345, 1, 0x90\n\t.balign 4");
#endif

NOINLINE uint64_t NAME(leaf)(uint64_t seed)
{
	volatile uint64_t words[LEAF_WORDS] = { seed };

	for (uint64_t i = 0; i < LEAF_LOOPS; i++)
		words[i % LEAF_WORDS] += i;
	return words[0];
}

NOINLINE uint64_t NAME(middle)(uint64_t seed)
{
	volatile uint64_t words[MIDDLE_WORDS] = { seed };

	for (uint64_t i = 0; i < MIDDLE_WORDS; i++)
		words[i] = NAME(leaf)(words[0] + i);
	return words[MIDDLE_WORDS - 1];
}

NOINLINE uint64_t NAME(outer)(uint64_t until_ns)
{
	volatile uint64_t words[OUTER_WORDS] = { until_ns };

	while (clock_mono_ns() < until_ns)
		words[words[0] % OUTER_WORDS] = NAME(middle)(words[OUTER_WORDS - 1]);
	return words[0];
}

uint64_t swap_work(uint64_t until_ns)
{
	return NAME(outer)(until_ns) + 1;
}
