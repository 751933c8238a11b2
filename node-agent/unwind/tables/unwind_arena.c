/* SPDX-License-Identifier: Apache-2.0 */
/* There are two locks. `lock` guards the numbers and is held for microseconds, because the reader's
 * thread puts mapping tables. `wait_lock` is held while a chunk is added or unwinders are waited
 * for, both of which may take a grace period in the kernel. It is taken first.
 *
 * Freed units go through a limbo:
 *
 *	unwind_arena_put ──▶ in use ──▶ unwind_arena_free ──▶ limbo ──▶ unwind_arena_reclaim: grace period ──▶ free
 *
 * Room in the limbo is made when units are taken, so that freeing cannot fail. */
#include "unwind/tables/unwind_arena.h"

#include "base/array.h"
#include "base/locked.h"
#include "unwind/tables/extents.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CHUNK_UNITS (ARENA_CHUNK_BYTES / ARENA_UNIT)
/* Unit 0 is no reference, and 1 is TABLE_WITHOUT_CFI. */
#define FIRST_UNIT (TABLE_WITHOUT_CFI + 1)

struct unwind_arena {
	struct unwind_memory *memory; /* borrowed */
	size_t max_chunks;

	pthread_mutex_t wait_lock;
	pthread_mutex_t lock; /* for all below */
	size_t nr_chunks;
	struct extents extents; /* extents in the limbo count as taken */
	struct extent *limbo; /* owned; has room for all extents that are taken */
	size_t nr_limbo;
	size_t cap_limbo;
	uint64_t nr_units_limbo;
	uint64_t nr_write_failures;
};

static size_t count_chunks(size_t max_bytes)
{
	size_t nr_chunks = max_bytes / ARENA_CHUNK_BYTES;

	if (nr_chunks == 0)
		return 1;
	return nr_chunks < ARENA_MAX_CHUNKS ? nr_chunks : ARENA_MAX_CHUNKS;
}

int unwind_arena_new(struct unwind_memory *memory, size_t max_bytes,
		     struct unwind_arena **ret_arena)
{
	struct unwind_arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		return -ENOMEM;
	arena->memory = memory;
	arena->max_chunks = count_chunks(max_bytes);
	pthread_mutex_init(&arena->wait_lock, NULL);
	pthread_mutex_init(&arena->lock, NULL);
	extents_init(&arena->extents, FIRST_UNIT);
	*ret_arena = arena;
	return 0;
}

void unwind_arena_close(struct unwind_arena *arena)
{
	if (!arena)
		return;
	extents_done(&arena->extents);
	pthread_mutex_destroy(&arena->lock);
	pthread_mutex_destroy(&arena->wait_lock);
	free(arena->limbo);
	free(arena);
}

/* Adds a chunk to the range of units. Unwinders can reach it before any unit of it is given out.
 * The caller holds wait_lock. */
static int add_chunk(struct unwind_arena *arena)
{
	uint32_t index = (uint32_t)arena->nr_chunks;

	int r = unwind_memory_add_chunk(arena->memory, index);
	if (r < 0)
		return r;
	LOCKED(&arena->lock);
	r = extents_grow(&arena->extents, (index + 1) * CHUNK_UNITS - arena->extents.end);
	if (r == 0)
		arena->nr_chunks++;
	return r;
}

/* Adds a chunk if that can help to find this many units, and no other thread has done so. */
static int grow_for(struct unwind_arena *arena, uint32_t nr_units)
{
	LOCKED(&arena->wait_lock);
	pthread_mutex_lock(&arena->lock);
	uint32_t missing = extents_missing(&arena->extents, nr_units);
	size_t limit = arena->max_chunks * CHUNK_UNITS;
	bool can_fit = missing <= limit - arena->extents.end;
	pthread_mutex_unlock(&arena->lock);
	if (!can_fit)
		return -ENOSPC;
	return missing > 0 ? add_chunk(arena) : 0;
}

static int take_now(struct unwind_arena *arena, uint32_t nr_units, uint32_t *ret_unit)
{
	LOCKED(&arena->lock);
	int r = array_grow(arena->limbo, arena->cap_limbo, arena->extents.nr_taken + 1, SIZE_MAX);
	return r < 0 ? r : extents_take(&arena->extents, nr_units, ret_unit);
}

/* Takes units. Each round but the last one finds that the arena has grown, by this thread or
 * another one. */
static int take_units(struct unwind_arena *arena, uint32_t nr_units, uint32_t *ret_unit)
{
	for (;;) {
		int r = take_now(arena, nr_units, ret_unit);
		if (r != -ENOSPC)
			return r;
		r = grow_for(arena, nr_units);
		if (r < 0)
			return r;
	}
}

static int write_bytes(struct unwind_arena *arena, uint64_t address, const uint8_t *data,
		       size_t len)
{
	while (len > 0) {
		size_t in_chunk = ARENA_CHUNK_BYTES - address % ARENA_CHUNK_BYTES;
		size_t part = len < in_chunk ? len : in_chunk;
		struct unwind_window window;

		int r = unwind_memory_map(arena->memory, address, part, &window);
		if (r < 0)
			return r;
		memcpy(window.place, data, part);
		unwind_memory_unmap(&window);
		address += part;
		data += part;
		len -= part;
	}
	return 0;
}

static struct extent extent_of(uint32_t unit, size_t len)
{
	return (struct extent){ unit, (uint32_t)((len + ARENA_UNIT - 1) / ARENA_UNIT) };
}

int unwind_arena_put(struct unwind_arena *arena, const void *data, size_t len, uint32_t *ret_unit)
{
	uint32_t unit = 0;

	if (len > arena->max_chunks * ARENA_CHUNK_BYTES)
		return -ENOSPC;
	int r = take_units(arena, extent_of(0, len).nr_units, &unit);
	if (r < 0)
		return r;
	r = write_bytes(arena, (uint64_t)unit * ARENA_UNIT, data, len);
	if (r == 0) {
		*ret_unit = unit;
		return 0;
	}
	/* No unwinder was ever told of these units. */
	LOCKED(&arena->lock);
	extents_give_back(&arena->extents, extent_of(unit, len));
	return r;
}

void unwind_arena_set_u32(struct unwind_arena *arena, uint32_t unit, uint32_t value)
{
	uint64_t address = (uint64_t)unit * ARENA_UNIT;
	struct unwind_window window;

	if (unwind_memory_map(arena->memory, address, sizeof(value), &window) < 0) {
		__atomic_fetch_add(&arena->nr_write_failures, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n((uint32_t *)window.place, value, __ATOMIC_RELEASE);
	unwind_memory_unmap(&window);
}

void unwind_arena_free(struct unwind_arena *arena, uint32_t unit, size_t len)
{
	struct extent extent = extent_of(unit, len);

	LOCKED(&arena->lock);
	arena->limbo[arena->nr_limbo++] = extent;
	arena->nr_units_limbo += extent.nr_units;
}

static void leave_limbo(struct unwind_arena *arena, size_t nr_extents)
{
	if (nr_extents == 0)
		return;
	for (size_t i = 0; i < nr_extents; i++) {
		arena->nr_units_limbo -= arena->limbo[i].nr_units;
		extents_give_back(&arena->extents, arena->limbo[i]);
	}
	arena->nr_limbo -= nr_extents;
	memmove(arena->limbo, arena->limbo + nr_extents, arena->nr_limbo * sizeof(*arena->limbo));
}

int unwind_arena_wait(struct unwind_arena *arena)
{
	LOCKED(&arena->wait_lock);
	pthread_mutex_lock(&arena->lock);
	size_t nr_extents = arena->nr_limbo;
	pthread_mutex_unlock(&arena->lock);
	int r = unwind_memory_wait(arena->memory);
	if (r == 0) {
		pthread_mutex_lock(&arena->lock);
		leave_limbo(arena, nr_extents);
		pthread_mutex_unlock(&arena->lock);
	}
	return r;
}

void unwind_arena_reclaim(struct unwind_arena *arena)
{
	pthread_mutex_lock(&arena->lock);
	bool has_limbo = arena->nr_limbo > 0;
	pthread_mutex_unlock(&arena->lock);
	if (has_limbo)
		(void)!unwind_arena_wait(arena); /* after a failure it is tried again */
}

struct unwind_arena_stats unwind_arena_get_stats(struct unwind_arena *arena)
{
	LOCKED(&arena->lock);
	return (struct unwind_arena_stats){
		.nr_chunks = arena->nr_chunks,
		.nr_bytes_used = (arena->extents.nr_units_taken - arena->nr_units_limbo) *
				 ARENA_UNIT,
		.nr_bytes_freed = arena->nr_units_limbo * ARENA_UNIT,
		.nr_write_failures = __atomic_load_n(&arena->nr_write_failures, __ATOMIC_RELAXED),
	};
}
