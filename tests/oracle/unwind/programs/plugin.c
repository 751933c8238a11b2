/* SPDX-License-Identifier: Apache-2.0 */
/* PADDING, in bytes that are never executed, makes the same functions lie elsewhere in each
 * plugin. */
#include "burn.h"

unsigned long run(unsigned long (*function)(unsigned long), unsigned long x);

__attribute__((used)) static void padding(void)
{
	__asm__ volatile(".fill " PADDING ", 1, 0x90\n\t.balign 4");
}

NOINLINE static unsigned long middle(unsigned long (*function)(unsigned long), unsigned long x)
{
	unsigned long buffer[4] = { x, x + 1 };

	return function(buffer[x % 2]) + burn(40);
}

unsigned long run(unsigned long (*function)(unsigned long), unsigned long x)
{
	return middle(function, x) + middle(function, x + 1);
}
