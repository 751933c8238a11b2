/* SPDX-License-Identifier: Apache-2.0 */
/* A load for benchmarks: `deep DEPTH SECONDS [LOOPS]` burns CPU time DEPTH frames below
 * main(). With LOOPS it does that much work instead and prints the CPU time it took in ns.
 * Built with frame pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void hot_leaf(uint64_t loops)
{
	for (uint64_t i = 0; i < loops; i++)
		sink += i;
}

__attribute__((noinline)) void descend(unsigned long depth, uint64_t until_ns, uint64_t loops)
{
	if (depth > 0) {
		descend(depth - 1, until_ns, loops);
	} else if (loops > 0) {
		hot_leaf(loops);
	} else {
		while (clock_ns(CLOCK_MONOTONIC) < until_ns)
			hot_leaf(1000000);
	}
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: deep DEPTH SECONDS [LOOPS]\n");
		return 2;
	}
	unsigned long depth = strtoul(argv[1], NULL, 10);
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + strtoull(argv[2], NULL, 10) * 1000000000;
	uint64_t loops = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	descend(depth, until_ns, loops);
	if (loops > 0)
		printf("%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
