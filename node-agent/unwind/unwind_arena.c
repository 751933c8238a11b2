/* SPDX-License-Identifier: Apache-2.0 */
/* Two locks. `lock` guards the numbers and is held for microseconds, because the reader's thread puts code
 * lists. `wait_lock` is held by whoever waits for the kernel: each update of an array of maps takes a grace
 * period there. It is taken first.
 *
 * What was freed goes through a limbo:
 *
 *	unwind_arena_put ──▶ in use ──▶ unwind_arena_free ──▶ limbo ──▶ unwind_arena_reclaim: grace period ──▶ free
 *
 * Room in the limbo is made when units are taken, so that no failure can lose any. */
#include "unwind/unwind_arena.h"

#include "base/array.h"
#include "unwind/extents.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#define CHUNK_UNITS (ARENA_CHUNK_BYTES / ARENA_UNIT)
/* 0 is no reference, and 1 is TABLE_WITHOUT_CFI. */
#define FIRST_UNIT (TABLE_WITHOUT_CFI + 1)

struct unwind_arena {
	int map_fd; /* borrowed */
	size_t max_chunks;
	size_t page_bytes;
	int *chunk_fds; /* owned, room for max_chunks */

	pthread_mutex_t wait_lock;
	pthread_mutex_t lock; /* for all below */
	size_t nr_chunks;
	struct extents extents; /* what is in the limbo counts as taken */
	struct extent *limbo; /* owned; room for all extents that are taken */
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

int unwind_arena_new(int map_fd, size_t max_bytes, struct unwind_arena **ret_arena)
{
	size_t max_chunks = count_chunks(max_bytes);
	_cleanup_free_ struct unwind_arena *arena = calloc(1, sizeof(*arena));
	_cleanup_free_ int *chunk_fds = calloc(max_chunks, sizeof(*chunk_fds));

	if (!arena || !chunk_fds)
		return -ENOMEM;
	arena->map_fd = map_fd;
	arena->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	arena->max_chunks = max_chunks;
	arena->chunk_fds = take_ptr(chunk_fds);
	pthread_mutex_init(&arena->wait_lock, NULL);
	pthread_mutex_init(&arena->lock, NULL);
	extents_init(&arena->extents, FIRST_UNIT);
	*ret_arena = take_ptr(arena);
	return 0;
}

void unwind_arena_close(struct unwind_arena *arena)
{
	if (!arena)
		return;
	for (size_t i = 0; i < arena->nr_chunks; i++)
		close(arena->chunk_fds[i]);
	extents_done(&arena->extents);
	pthread_mutex_destroy(&arena->lock);
	pthread_mutex_destroy(&arena->wait_lock);
	free(arena->limbo);
	free(arena->chunk_fds);
	free(arena);
}

/* Takes *fd over. */
static int append_chunk(struct unwind_arena *arena, int *fd)
{
	uint32_t chunk_end = (uint32_t)(arena->nr_chunks + 1) * CHUNK_UNITS;
	int r = extents_grow(&arena->extents, chunk_end - arena->extents.end);
	if (r < 0)
		return r;
	arena->chunk_fds[arena->nr_chunks++] = take_fd(*fd);
	return 0;
}

/* Makes the range of units longer by a chunk. Programs can reach it before any unit of it is given out.
 * The caller holds wait_lock. */
static int add_chunk(struct unwind_arena *arena)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t key = (uint32_t)arena->nr_chunks;
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "arena_chunk", sizeof(key),
						ARENA_BLOCK_BYTES, ARENA_CHUNK_BLOCKS, &opts);

	if (fd < 0)
		return fd;
	int r = bpf_map_update_elem(arena->map_fd, &key, &fd, BPF_ANY);
	if (r < 0)
		return r;
	pthread_mutex_lock(&arena->lock);
	r = append_chunk(arena, &fd);
	pthread_mutex_unlock(&arena->lock);
	return r;
}

/* Adds a chunk if that can help to find this many units. Another thread may have been faster: then it
 * does nothing. */
static int grow_for(struct unwind_arena *arena, uint32_t nr_units)
{
	int r = 0;

	pthread_mutex_lock(&arena->wait_lock);
	pthread_mutex_lock(&arena->lock);
	uint32_t missing = extents_missing(&arena->extents, nr_units);
	size_t limit = arena->max_chunks * CHUNK_UNITS;
	bool can_fit = missing <= limit - arena->extents.end;
	pthread_mutex_unlock(&arena->lock);
	if (!can_fit)
		r = -ENOSPC;
	else if (missing > 0)
		r = add_chunk(arena);
	pthread_mutex_unlock(&arena->wait_lock);
	return r;
}

static int take_now(struct unwind_arena *arena, uint32_t nr_units, uint32_t *ret_unit)
{
	pthread_mutex_lock(&arena->lock);
	int r = array_grow(arena->limbo, arena->cap_limbo, arena->extents.nr_taken + 1, SIZE_MAX);
	if (r == 0)
		r = extents_take(&arena->extents, nr_units, ret_unit);
	pthread_mutex_unlock(&arena->lock);
	return r;
}

/* Each turn makes the arena larger, by this thread or another, or is the last one. */
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

/* A piece of one chunk, mapped from the beginning of its first page. */
struct window {
	void *pages;
	size_t len;
};

/* NULL with errno on failure. */
static void *open_window(struct unwind_arena *arena, uint64_t address, size_t len,
			 struct window *ret_window)
{
	size_t offset = address % ARENA_CHUNK_BYTES;
	size_t first_page = offset / arena->page_bytes * arena->page_bytes;

	pthread_mutex_lock(&arena->lock);
	int fd = arena->chunk_fds[address / ARENA_CHUNK_BYTES];
	pthread_mutex_unlock(&arena->lock);
	len += offset - first_page;
	void *pages = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)first_page);
	if (pages == MAP_FAILED)
		return NULL;
	*ret_window = (struct window){ pages, len };
	return (uint8_t *)pages + (offset - first_page);
}

static void close_window(struct window *window)
{
	munmap(window->pages, window->len);
}

static int write_bytes(struct unwind_arena *arena, uint64_t address, const uint8_t *data,
		       size_t len)
{
	while (len > 0) {
		size_t in_chunk = ARENA_CHUNK_BYTES - address % ARENA_CHUNK_BYTES;
		size_t part = len < in_chunk ? len : in_chunk;
		struct window window;

		void *place = open_window(arena, address, part, &window);
		if (!place)
			return -errno;
		memcpy(place, data, part);
		close_window(&window);
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

/* Units that no program was ever told of. */
static void give_back_unused(struct unwind_arena *arena, struct extent extent)
{
	pthread_mutex_lock(&arena->lock);
	extents_give_back(&arena->extents, extent);
	pthread_mutex_unlock(&arena->lock);
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
	if (r < 0) {
		give_back_unused(arena, extent_of(unit, len));
		return r;
	}
	*ret_unit = unit;
	return 0;
}

void unwind_arena_set_u32(struct unwind_arena *arena, uint32_t unit, uint32_t value)
{
	struct window window;
	uint32_t *place = open_window(arena, (uint64_t)unit * ARENA_UNIT, sizeof(value), &window);

	if (!place) {
		__atomic_fetch_add(&arena->nr_write_failures, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(place, value, __ATOMIC_RELEASE);
	close_window(&window);
}

void unwind_arena_free(struct unwind_arena *arena, uint32_t unit, size_t len)
{
	struct extent extent = extent_of(unit, len);

	pthread_mutex_lock(&arena->lock);
	arena->limbo[arena->nr_limbo++] = extent;
	arena->nr_units_limbo += extent.nr_units;
	pthread_mutex_unlock(&arena->lock);
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

/* Replaces the first chunk by itself, which changes nothing but takes a grace period: synchronize_rcu()
 * in the kernel, and BPF programs are its readers. Without a chunk there is nothing that a program could be
 * reading. The caller holds wait_lock. */
static int wait_for_programs(struct unwind_arena *arena, size_t nr_chunks)
{
	uint32_t key = 0;

	if (nr_chunks == 0)
		return 0;
	return bpf_map_update_elem(arena->map_fd, &key, &arena->chunk_fds[0], BPF_ANY);
}

/* After a failure things stay in the limbo, until the next time. */
static int wait_and_reclaim(struct unwind_arena *arena)
{
	pthread_mutex_lock(&arena->wait_lock);
	pthread_mutex_lock(&arena->lock);
	size_t nr_extents = arena->nr_limbo;
	size_t nr_chunks = arena->nr_chunks;
	pthread_mutex_unlock(&arena->lock);
	int r = wait_for_programs(arena, nr_chunks);
	if (r == 0) {
		pthread_mutex_lock(&arena->lock);
		leave_limbo(arena, nr_extents);
		pthread_mutex_unlock(&arena->lock);
	}
	pthread_mutex_unlock(&arena->wait_lock);
	return r;
}

int unwind_arena_wait(struct unwind_arena *arena)
{
	return wait_and_reclaim(arena);
}

void unwind_arena_reclaim(struct unwind_arena *arena)
{
	pthread_mutex_lock(&arena->lock);
	bool has_limbo = arena->nr_limbo > 0;
	pthread_mutex_unlock(&arena->lock);
	if (has_limbo)
		wait_and_reclaim(arena);
}

struct unwind_arena_stats unwind_arena_get_stats(struct unwind_arena *arena)
{
	pthread_mutex_lock(&arena->lock);
	struct unwind_arena_stats stats = {
		.nr_chunks = arena->nr_chunks,
		.nr_bytes_used = (arena->extents.nr_units_taken - arena->nr_units_limbo) *
				 ARENA_UNIT,
		.nr_bytes_freed = arena->nr_units_limbo * ARENA_UNIT,
		.nr_write_failures = __atomic_load_n(&arena->nr_write_failures, __ATOMIC_RELAXED),
	};
	pthread_mutex_unlock(&arena->lock);
	return stats;
}
