/* SPDX-License-Identifier: Apache-2.0 */
/* All that the agent has for unwinding: the arena, the tables of files and the mapping tables of
 * processes. */
#ifndef UNWIND_UNWIND_TABLES_H
#define UNWIND_UNWIND_TABLES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/row_cache.h"
#include "unwind/tables/mapping_tables.h"
#include "unwind/tables/runtime_layouts.h"
#include "unwind/tables/table_slots.h"
#include "unwind/tables/table_thread.h"
#include "unwind/tables/unwind_arena.h"

#include <stddef.h>

struct unwind_tables_opts {
	struct unwind_memory *memory; /* borrowed, outlives the tables; workers share its pool */
	size_t max_bytes; /* of tables of files and of mappings */
	const char *cache_dir; /* NULL: nothing is kept on disk */
	const char *debug_dir; /* see unwind/file/elf_rows.h */
};

struct unwind_tables {
	struct unwind_arena *arena;
	struct row_cache *cache; /* NULL without a directory */
	struct table_slots *slots;
	struct table_thread *thread;
	struct mapping_tables *mapping_tables;
	struct runtime_layouts *layouts;
};

struct unwind_tables_stats {
	struct unwind_arena_stats arena;
	struct row_cache_stats cache;
	struct table_slots_stats slots;
	struct mapping_tables_stats mapping_tables;
};

/* Starts everything. If the cache directory cannot be used, logs a warning and goes on without
 * it. Errors: those of table_slots_new(), table_thread_start() and unwind_arena_new(). */
int unwind_tables_start(const struct unwind_tables_opts *opts, struct unwind_tables **ret_tables)
	must_check;
void unwind_tables_stop(struct unwind_tables *tables);
DEFINE_FREEP(struct unwind_tables, unwind_tables_stop)

struct unwind_tables_stats unwind_tables_get_stats(const struct unwind_tables *tables);

#endif
