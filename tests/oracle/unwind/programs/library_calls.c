/* SPDX-License-Identifier: Apache-2.0 */
/* Hardly anything but calls of tiny library functions: many samples are on the way, in the
 * procedure linkage table and in the dynamic linker. A copy of the program that begins again and
 * again binds its functions anew. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "burn.h"
#include "library.h"

NOINLINE static unsigned long calls(unsigned long x)
{
	unsigned long sum = library_add(x, 1);

	sum = library_twice(sum) + library_add(sum, x);
	sum += library_chain(sum);
	return sum + library_apply(library_twice, sum);
}

NOINLINE static unsigned long clocks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_nsec + (unsigned long)labs(now.tv_nsec) + strlen("text");
}

int main(void)
{
	begin_burning();
	for (unsigned long x = 0;; x++) {
		sink += calls(x);
		if (x % 4 == 0)
			sink += clocks();
	}
}
