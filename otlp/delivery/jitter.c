/* SPDX-License-Identifier: Apache-2.0 */
/* The generator is splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014): good with any seed, 0 included. */
#include "otlp/delivery/jitter.h"

static uint64_t next_random(struct jitter *jitter)
{
	uint64_t z;

	jitter->state += UINT64_C(0x9e3779b97f4a7c15);
	z = jitter->state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t jitter_between(struct jitter *jitter, uint64_t low, uint64_t high)
{
	uint64_t nr_values = high - low + 1, random = next_random(jitter);

	return nr_values == 0 ? random : low + random % nr_values;
}
