/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_pool.h"

#include <stdbool.h>

int memory_pool_take(struct memory_pool *pool, uint64_t nr_bytes)
{
	if (!pool)
		return 0;
	uint64_t taken = __atomic_load_n(&pool->nr_bytes, __ATOMIC_RELAXED);
	do {
		if (taken > pool->max_bytes || nr_bytes > pool->max_bytes - taken)
			return -ENOSPC;
	} while (!__atomic_compare_exchange_n(&pool->nr_bytes, &taken, taken + nr_bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return 0;
}

void memory_pool_give(struct memory_pool *pool, uint64_t nr_bytes)
{
	if (pool)
		__atomic_sub_fetch(&pool->nr_bytes, nr_bytes, __ATOMIC_RELAXED);
}

uint64_t memory_pool_room(const struct memory_pool *pool)
{
	if (!pool)
		return UINT64_MAX;
	uint64_t taken = __atomic_load_n(&pool->nr_bytes, __ATOMIC_RELAXED);
	return taken < pool->max_bytes ? pool->max_bytes - taken : 0;
}
