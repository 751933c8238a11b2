/* SPDX-License-Identifier: Apache-2.0 */
/* The same functions at the same addresses under other names in each version, and one other number
 * in the code, by which the build ids differ. Compiled with -DVERSION=n.
 *
 *	version MILLISECONDS	of CPU time; 0: for ever */
#include <stdlib.h>
#include <time.h>

#define JOIN(a, b) a##b
#define NAME(base, version) JOIN(base, version)
#define HOT NAME(hot_v, VERSION)
#define OUTER NAME(outer_v, VERSION)

static volatile unsigned long sink;

__attribute__((noipa)) void HOT(void)
{
	for (int i = 0; i < 100000; i++)
		sink = (sink ^ sink >> (6 + VERSION)) * 0x9e3779b97f4a7c15;
}

__attribute__((noipa)) void OUTER(void)
{
	for (int i = 0; i < 10; i++)
		HOT();
}

int main(int argc, char **argv)
{
	long milliseconds = argc > 1 ? (long)strtoul(argv[1], NULL, 10) : 0;

	while (milliseconds == 0 || clock() * 1000 / CLOCKS_PER_SEC < milliseconds)
		OUTER();
}
