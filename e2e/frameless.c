/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses some seconds of CPU time in a function that is called through others. To be compiled without
 * frame pointers.
 *
 *	frameless SECONDS
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long hot_leaf(unsigned long x)
{
	for (unsigned long i = 0; i < 2000000; i++)
		__asm__ volatile("" : "+r"(x));
	sink += x;
	return x + 1;
}

__attribute__((noinline)) static unsigned long inner_call(unsigned long x, unsigned long y)
{
	return hot_leaf(x * y) + x;
}

__attribute__((noinline)) static unsigned long middle_call(unsigned long x)
{
	volatile char text[100];

	text[x % sizeof(text)] = 1;
	return inner_call(x, x + 1) + (unsigned long)text[x % sizeof(text)];
}

__attribute__((noinline)) static unsigned long outer_call(unsigned long x)
{
	return middle_call(x) + middle_call(x + 1);
}

static unsigned long long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	unsigned long long end = cpu_ms() + 1000 * (argc > 1 ? strtoull(argv[1], NULL, 10) : 1);

	while (cpu_ms() < end)
		sink += outer_call(sink);
	return 0;
}
