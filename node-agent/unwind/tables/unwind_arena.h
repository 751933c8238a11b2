/* SPDX-License-Identifier: Apache-2.0 */
/* The arena of bpf/shared/cfi.h: its units in use and free. Chunks are made when they are needed
 * and stay until the end. Freed units are used again, but only after every stack that is being
 * unwound with them is done. Thread-safe. */
#ifndef UNWIND_TABLES_UNWIND_ARENA_H
#define UNWIND_TABLES_UNWIND_ARENA_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/tables/unwind_memory.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_arena;

struct unwind_arena_stats {
	uint64_t nr_chunks;
	uint64_t nr_bytes_used;
	uint64_t nr_bytes_freed; /* waiting for unwinders to end */
	uint64_t nr_write_failures; /* of unwind_arena_set_u32() */
};

/* Makes an arena of at most `max_bytes` in chunks, rounded up to one. `memory` is borrowed and
 * outlives it. Errors: -ENOMEM. */
int unwind_arena_new(struct unwind_memory *memory, size_t max_bytes,
		     struct unwind_arena **ret_arena) must_check;
void unwind_arena_close(struct unwind_arena *arena);
DEFINE_FREEP(struct unwind_arena, unwind_arena_close)

/* Copies `len` bytes (more than 0) into the arena, at consecutive units. Errors: -ENOSPC full,
 * so that something must be freed first; -ENOMEM; those of unwind_memory_add_chunk() and
 * unwind_memory_map(). */
int unwind_arena_put(struct unwind_arena *arena, const void *data, size_t len, uint32_t *ret_unit)
	must_check;

/* Overwrites the first 4 bytes of what was put at `unit` with one store. A failure (mmap(2) has
 * no memory) is counted. */
void unwind_arena_set_u32(struct unwind_arena *arena, uint32_t unit, uint32_t value);

/* Frees what unwind_arena_put() took. Nothing may refer to it any more; stacks may still be
 * unwound with references that were looked up before. */
void unwind_arena_free(struct unwind_arena *arena, uint32_t unit, size_t len);

/* Waits until all stacks that are being unwound now are done, and makes usable again what was
 * freed before. Not for the reader thread, see unwind_memory_wait(). Errors: those of it; then
 * nothing has changed. */
int unwind_arena_wait(struct unwind_arena *arena) must_check;

/* Does the same if something was freed. */
void unwind_arena_reclaim(struct unwind_arena *arena);

struct unwind_arena_stats unwind_arena_get_stats(struct unwind_arena *arena);

#endif
