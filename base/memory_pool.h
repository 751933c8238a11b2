/* SPDX-License-Identifier: Apache-2.0 */
/* A common limit for the memory of several parts of a program. A part takes bytes from the pool
 * before it grows, and gives them back when it shrinks. The pool only counts; it allocates
 * nothing. Thread-safe.
 *
 * A NULL pool has no limit. */
#ifndef BASE_MEMORY_POOL_H
#define BASE_MEMORY_POOL_H

#include "base/err.h"

#include <stdint.h>

struct memory_pool {
	uint64_t max_bytes;
	uint64_t nr_bytes; /* atomic; taken now */
};

/* Errors: -ENOSPC, then nothing is taken. */
int memory_pool_take(struct memory_pool *pool, uint64_t nr_bytes) must_check;

/* Returns bytes to the pool. */
void memory_pool_give(struct memory_pool *pool, uint64_t nr_bytes);

/* Returns how many bytes may be taken now; UINT64_MAX without a limit. */
uint64_t memory_pool_room(const struct memory_pool *pool);

#endif
