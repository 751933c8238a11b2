/* SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include "base/hash.h"

#include "base/random.h"

#include <pthread.h>
#include <xxhash.h>

static uint64_t seed;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void seed_init(void)
{
	if (random_bytes(&seed, sizeof(seed)) < 0)
		seed = (uint64_t)(uintptr_t)&seed;
}

uint32_t hash_bytes(const void *data, size_t len)
{
	pthread_once(&seed_once, seed_init);
	return (uint32_t)XXH3_64bits_withSeed(data, len, seed);
}

void hash_128(const void *data, size_t len, uint64_t ret_hash[static 2])
{
	hash_128_seeded(data, len, 0, ret_hash);
}

void hash_128_seeded(const void *data, size_t len, uint64_t hash_seed, uint64_t ret_hash[static 2])
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(data, len, hash_seed);

	ret_hash[0] = hash.low64;
	ret_hash[1] = hash.high64;
}
