/* SPDX-License-Identifier: Apache-2.0 */
/* One hash function for all tables: XXH3, seeded once per process so that names chosen by a container
 * cannot be chosen to collide. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t hash_bytes(const void *data, size_t len);

static inline uint32_t hash_u64(uint64_t value)
{
	return hash_bytes(&value, sizeof(value));
}

#endif
