/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of unwinding, as one: the arena, the tables of files and the code lists of processes. */
#ifndef UNWIND_UNWIND_TABLES_H
#define UNWIND_UNWIND_TABLES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/tables/unwind_arena.h"
#include "unwind/tables/code_lists.h"
#include "unwind/file/row_cache.h"
#include "unwind/tables/table_slots.h"

#include <stddef.h>

struct unwinder_opts {
	struct unwind_memory *
		memory; /* borrowed, outlives the unwinder; its pool is that of large files' workers, too */
	size_t max_bytes; /* of tables and lists */
	const char *cache_dir; /* NULL: nothing is kept on disk */
	const char *debug_dir; /* see unwind/file/elf_rows.h */
};

struct unwinder {
	struct unwind_arena *arena;
	struct row_cache *cache; /* NULL without a directory */
	struct table_slots *slots;
	struct code_lists *lists;
};

struct unwinder_stats {
	struct unwind_arena_stats arena;
	struct row_cache_stats cache;
	struct table_slots_stats slots;
	struct code_lists_stats lists;
};

/* A cache directory that cannot be used is a warning. Errors: those of table_slots_start() and unwind_arena_new(). */
int unwinder_start(const struct unwinder_opts *opts, struct unwinder **ret_unwinder) must_check;
void unwinder_stop(struct unwinder *unwinder);
DEFINE_FREEP(struct unwinder, unwinder_stop)

struct unwinder_stats unwinder_get_stats(const struct unwinder *unwinder);

#endif
