/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory that is freed all at once, for data with one lifetime, such as that of a window,
 * a pod list or a symbol table. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* owned, newest first */
	size_t nr_bytes; /* of all chunks */
	size_t max_bytes; /* 0: no limit */
	bool is_full; /* the last allocation failed because of the limit */
};

void arena_done(struct arena *arena);

/* Allocates memory, aligned for any type and not zeroed. Returns NULL when the limit or the
 * system's memory is used up. */
void *arena_alloc(struct arena *arena, size_t len);

/* Copies `len` bytes and appends a NUL. Returns NULL as above. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

/* Returns the error of the last allocation that failed: -ENOSPC at the limit, else -ENOMEM. */
static inline int arena_error(const struct arena *arena)
{
	return arena->is_full ? -ENOSPC : -ENOMEM;
}

#endif
