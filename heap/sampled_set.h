/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of sampled allocations that are not freed yet. All threads use it, without locks,
 * so that a fork or a signal at any place leaves it usable. It has room for a fixed number. */
#ifndef HEAP_SAMPLED_SET_H
#define HEAP_SAMPLED_SET_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLED_SET_WAYS 8 /* a line of the cache */
#define SAMPLED_SET_LINES (1 << 14)
#define SAMPLED_SET_MAX (SAMPLED_SET_WAYS * SAMPLED_SET_LINES)

/* The number of addresses. */
extern uint32_t sampled_set_count __attribute__((visibility("hidden")));

/* Adds an address. Returns false if it has no room. */
bool sampled_set_add(const void *ptr);

/* Removes an address. Returns whether it was there. Costs a read of a small table if it is not. */
bool sampled_set_remove(const void *ptr);

/* Removes all addresses. */
void sampled_set_clear(void);

#endif
