/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree of everything that a C compiler makes different frames for. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"
#include "library.h"

#define NR_VALUES 64

static unsigned long values[NR_VALUES];

NOINLINE static unsigned long leaf(unsigned long x)
{
	return burn(20 + x % 16);
}

/* More values are alive across the calls than there are registers. */
NOINLINE static unsigned long pressure(unsigned long a, unsigned long b)
{
	unsigned long c = leaf(a), d = leaf(b), e = leaf(a + b), f = leaf(a ^ b);
	unsigned long g = leaf(c), h = leaf(d), i = leaf(e), j = leaf(f);

	return a + b + c * d + e * f + g * h + i * j + leaf(g) + leaf(h + i);
}

NOINLINE static unsigned long many_arguments(unsigned long a, unsigned long b, unsigned long c,
					     unsigned long d, unsigned long e, unsigned long f,
					     unsigned long g, unsigned long h, unsigned long i)
{
	return leaf(a + b + c) + leaf(d + e + f) + leaf(g + h + i);
}

NOINLINE static unsigned long pushes(unsigned long x)
{
	return many_arguments(x, 1, 2, 3, 4, 5, x, 7, 8) +
	       many_arguments(0, 1, x, 3, 4, 5, 6, x, 8);
}

NOINLINE static unsigned long large_frame(unsigned long x)
{
	char bytes[12000];

	memset(bytes, (int)x, sizeof(bytes));
	return leaf((unsigned char)bytes[x % sizeof(bytes)]) + (unsigned char)bytes[0];
}

/* A frame aligned to more than the caller's: it must remember where it began. */
NOINLINE static unsigned long aligned_frame(unsigned long x, unsigned long b, unsigned long c,
					    unsigned long d, unsigned long e, unsigned long f,
					    unsigned long on_stack)
{
	__attribute__((aligned(64))) volatile double numbers[8] = { 1.0, 2.0 };

	numbers[x % 8] = (double)leaf(b + c + d);
	return leaf((unsigned long)numbers[1] + e) + f + on_stack;
}

NOINLINE static unsigned long variadic(unsigned long nr, ...)
{
	unsigned long sum = 0;
	va_list arguments;

	va_start(arguments, nr);
	for (unsigned long i = 0; i < nr; i++)
		sum += leaf(va_arg(arguments, unsigned long));
	va_end(arguments);
	return sum;
}

NOINLINE static unsigned long dispatch(unsigned long x)
{
	switch (x % 8) {
	case 0:
		return leaf(x) + 1;
	case 1:
		return large_frame(x);
	case 2:
		return pressure(x, x + 1);
	case 3:
		return pushes(x);
	case 4:
		return variadic(3, x, x + 1, x + 2) + variadic(1, x);
	case 5:
		return aligned_frame(x, 1, 2, 3, 4, 5, x);
	case 6:
		return library_chain(x);
	default:
		return library_apply(leaf, x);
	}
}

static unsigned long (*const functions[])(unsigned long) = { leaf, large_frame, pushes, dispatch };

NOINLINE static unsigned long by_pointer(unsigned long x)
{
	return functions[x % 4](x) + library_apply(functions[(x + 1) % 4], x);
}

static int compare(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return (leaf(*x) & 0xff) < (leaf(*y) & 0xff) ? -1 : 1;
}

NOINLINE static unsigned long sorted(unsigned long x)
{
	for (unsigned long i = 0; i < NR_VALUES; i++)
		values[i] = (i * 7919 + x) % 1009;
	qsort(values, NR_VALUES, sizeof(values[0]), compare);
	return values[0];
}

/* Leaves the function early where there is little to do: parts of it have no frame. */
NOINLINE static unsigned long early_return(unsigned long x)
{
	if (x % 3 == 0)
		return x;
	return by_pointer(x) + pressure(x, 3) + leaf(x);
}

NOINLINE static unsigned long nested(unsigned long x, unsigned int depth)
{
	if (depth == 0)
		return early_return(x) + by_pointer(x);
	return nested(x + 1, depth - 1) + leaf(depth);
}

int main(void)
{
	begin_burning();
	for (unsigned long x = 0;; x++) {
		sink += nested(x, (unsigned int)(x % 12));
		sink += dispatch(x);
		if (x % 64 == 0)
			sink += sorted(x);
	}
}
