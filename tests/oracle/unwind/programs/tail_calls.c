/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that replace their caller, between functions with different frames. */
#include "burn.h"

NOINLINE static unsigned long last(unsigned long x)
{
	return burn(30 + x % 16);
}

NOINLINE static unsigned long with_frame(unsigned long x, unsigned long y)
{
	unsigned long a = last(x), b = last(y), c = last(x + y);

	return last(a + b + c);
}

NOINLINE static unsigned long odd(unsigned long x, unsigned long rest);

NOINLINE static unsigned long even(unsigned long x, unsigned long rest)
{
	if (rest == 0)
		return with_frame(x, x + 1);
	return odd(x + 1, rest - 1);
}

NOINLINE static unsigned long odd(unsigned long x, unsigned long rest)
{
	unsigned long y = last(x);

	if (rest == 0)
		return last(y);
	return even(y, rest - 1);
}

int main(void)
{
	begin_burning();
	for (unsigned long x = 0;; x++)
		sink += even(x, x % 16) + with_frame(x, 2);
}
