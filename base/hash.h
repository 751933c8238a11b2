/* SPDX-License-Identifier: Apache-2.0 */
/* One hash function for all tables: XXH3, seeded once per process so that names chosen by a
 * container cannot be chosen to collide. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t hash_bytes(const void *data, size_t len);

static inline uint32_t hash_u64(uint64_t value)
{
	return hash_bytes(&value, sizeof(value));
}

/* The same in every process and at every time: for names of what is kept. Not made against who
 * chooses both of two inputs. */
void hash_128(const void *data, size_t len, uint64_t ret_hash[static 2]);

/* The same with a seed. As long as nobody else knows the seed, nobody can look for two inputs
 * with the same hash. */
void hash_128_seeded(const void *data, size_t len, uint64_t hash_seed, uint64_t ret_hash[static 2]);

#endif
