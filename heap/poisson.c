/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libm are not used: the library must not bring others into a process. */
#include "heap/poisson.h"

#define LN_2 0.69314718055994530942
#define UNIT (1.0 / 9007199254740992.0) /* 2^-53 */

static uint64_t read_clock(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/* splitmix64. The clock tells threads and processes apart that have the same state. */
static uint64_t draw(struct poisson *poisson)
{
	uint64_t z;

	poisson->random += UINT64_C(0x9e3779b97f4a7c15);
	z = poisson->random ^ (read_clock() << 20);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Returns -ln(x), 0 < x <= 1. With x = m * 2^e: ln m = 2 artanh((m - 1) / (m + 1)). */
static double minus_ln(double x)
{
	double s, square, term, sum = 0;
	union {
		double value;
		uint64_t bits;
	} number = { x };
	int exponent = (int)(number.bits >> 52) - 1023;

	number.bits = (number.bits & (UINT64_MAX >> 12)) | (UINT64_C(1023) << 52);
	s = (number.value - 1) / (number.value + 1);
	square = s * s;
	term = s;
	for (int i = 1; i < 20; i += 2) {
		sum += term / i;
		term *= square;
	}
	return -(2 * sum + exponent * LN_2);
}

/* Returns 1 - exp(-x), x > 0: by its series near 0, and squared from there. */
static double rise(double x)
{
	double near, rest;
	int nr_squares = 0;

	if (x > 50)
		return 1;
	while (x > 1.0 / 64) {
		x /= 2;
		nr_squares++;
	}
	near = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
	rest = near;
	while (nr_squares-- > 0)
		rest = rest * (2 - rest); /* 1 - (1 - rest)^2 */
	return rest;
}

static void begin_distance(struct poisson *poisson, uint64_t mean)
{
	double share = (double)((draw(poisson) >> 11) + 1) * UNIT;

	poisson->mean = mean;
	poisson->left = (uint64_t)(minus_ln(share) * (double)mean) + 1;
}

uint64_t poisson_pass(struct poisson *poisson, size_t size, uint64_t mean)
{
	uint64_t passed = poisson->mean;

	if (poisson->left == 0) {
		poisson->random ^= (uintptr_t)poisson;
		begin_distance(poisson, mean);
		passed = mean;
		if (size < poisson->left) {
			poisson->left -= size;
			return 0;
		}
	}
	begin_distance(poisson, mean);
	return (uint64_t)((double)size / rise((double)size / (double)passed) + 0.5);
}
