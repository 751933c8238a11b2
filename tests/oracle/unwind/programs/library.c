/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

static volatile unsigned long state;

unsigned long library_apply(unsigned long (*function)(unsigned long), unsigned long value)
{
	unsigned long result = function(value);

	state += result;
	return result + value;
}

unsigned long library_add(unsigned long a, unsigned long b)
{
	state += a;
	return a + b;
}

unsigned long library_twice(unsigned long a)
{
	return library_add(a, a);
}

unsigned long library_chain(unsigned long a)
{
	return library_twice(a) + library_add(a, 1);
}
