/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t cap;
	_Alignas(max_align_t) unsigned char data[];
};

void arena_done(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->chunks; chunk;) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	*arena = (struct arena){ .max_bytes = arena->max_bytes };
}

/* Returns the capacity of a new chunk for `len` bytes: CHUNK_BYTES, or less near the limit; 0 if
 * `len` bytes exceed the limit. */
static size_t chunk_cap(const struct arena *arena, size_t len)
{
	size_t cap = len > CHUNK_BYTES ? len : CHUNK_BYTES;
	size_t left = arena->max_bytes - arena->nr_bytes;

	if (!arena->max_bytes || left >= sizeof(struct arena_chunk) + cap)
		return cap;
	if (left < sizeof(struct arena_chunk) + len)
		return 0;
	return left - sizeof(struct arena_chunk);
}

static struct arena_chunk *add_chunk(struct arena *arena, size_t len)
{
	size_t cap = chunk_cap(arena, len);
	size_t bytes = sizeof(struct arena_chunk) + cap;

	arena->is_full = cap == 0;
	if (arena->is_full)
		return NULL;

	struct arena_chunk *chunk = malloc(bytes);
	if (!chunk)
		return NULL;
	*chunk = (struct arena_chunk){ .next = arena->chunks, .cap = cap };
	arena->chunks = chunk;
	arena->nr_bytes += bytes;
	return chunk;
}

static void *alloc_aligned(struct arena *arena, size_t len, size_t align)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t start = chunk ? (chunk->used + align - 1) & ~(align - 1) : 0;

	if (len > SIZE_MAX / 2) {
		arena->is_full = arena->max_bytes > 0;
		return NULL;
	}
	if (len == 0)
		len = 1;
	if (!chunk || start > chunk->cap || len > chunk->cap - start) {
		chunk = add_chunk(arena, len);
		start = 0;
	}
	if (!chunk)
		return NULL;
	chunk->used = start + len;
	return chunk->data + start;
}

void *arena_alloc(struct arena *arena, size_t len)
{
	return alloc_aligned(arena, len, _Alignof(max_align_t));
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = alloc_aligned(arena, len + 1, 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}
