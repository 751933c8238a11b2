/* SPDX-License-Identifier: Apache-2.0 */
/* Frames whose size is known at run time only. */
#include <string.h>

#include "burn.h"

NOINLINE static unsigned long use(char *bytes, unsigned long len)
{
	memset(bytes, (int)len, len);
	return burn(10 + (unsigned char)bytes[len / 2] % 16);
}

NOINLINE static unsigned long allocating(unsigned long x, unsigned int depth)
{
	char *bytes = __builtin_alloca(16 + x % 300);
	unsigned long sum = use(bytes, 16 + x % 300);

	if (depth > 0)
		sum += allocating(x + 1, depth - 1);
	return sum + (unsigned char)bytes[0];
}

NOINLINE static unsigned long variable_array(unsigned long x, unsigned int depth)
{
	unsigned long numbers[1 + x % 40];
	unsigned long sum = 0;

	memset(numbers, 0, sizeof(numbers));
	for (unsigned int i = 0; i < 3; i++) {
		char more[8 + (x + i) % 100];
		sum += use(more, sizeof(more));
	}
	if (depth > 0)
		sum += variable_array(x + 3, depth - 1) + allocating(x, 2);
	return sum + numbers[0];
}

int main(void)
{
	begin_burning();
	for (unsigned long x = 0;; x++)
		sink += allocating(x, 10) + variable_array(x, 6);
}
