/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names of all files, under a byte budget.
 *
 * No table takes over half of the budget; the names of the least recently used table go first.
 * Source lines have a quarter of it and go before names, as they are on disk or can be made again.
 * Frames, which are what was looked up, have a quarter as well. For the loader, except
 * name_store_get_stats(): it alone adds, searches, empties and frees tables. A table that no file
 * has any more is freed by the next name_store_tidy(). */
#ifndef SYMBOL_NAME_STORE_H
#define SYMBOL_NAME_STORE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/memory_pool.h"
#include "symbol/demangle/demangle.h"
#include "symbol/file_registry.h"
#include "symbol/line_store.h"
#include "symbol/name_table.h"
#include "symbol/place_names.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_STORE_MAX_DEBUG_FILES 128 /* held open for their source lines */
#define NAME_STORE_IDLE_NS                                                                         \
	(UINT64_C(60) * 1000000000) /* then they are closed: what is open pins its file system */

/* Keys of tables are below it. After 268 million of them they start over. */
#define NAME_STORE_MAX_KEY ((UINT64_C(1) << 28) - 1)

struct name_store;

struct name_store_opts {
	struct file_registry *registry; /* borrowed */
	struct memory_pool *pool; /* borrowed; NULL: none */
	size_t max_bytes;
	enum demangle_style demangle;
	const char *cache_dir; /* as for line_store_new() */
};

struct name_store_stats {
	uint64_t nr_tables; /* with names, in memory */
	uint64_t nr_bytes;
	uint64_t nr_evicted;
	uint64_t nr_line_tables; /* in memory: one a file */
	uint64_t nr_line_bytes; /* of these; they are among nr_bytes */
	uint64_t nr_line_tables_dropped; /* from memory, to make room for others */
};

enum table_want {
	WANTS_NAMES, /* to be demangled */
	WANTS_LINES,
};

/* Errors: -ENOMEM. */
int name_store_new(const struct name_store_opts *opts, struct name_store **ret_store) must_check;

/* Writes lines to disk. No file may refer to a table after that. */
void name_store_free(struct name_store *store);
DEFINE_FREEP(struct name_store, name_store_free)

/* The lines and the places of its tables; borrowed. */
struct line_store *name_store_lines(struct name_store *store);
struct place_names *name_store_places(struct name_store *store);

/* Adds a table with these symbols, which are taken over, also on failure. `print` may be NULL.
 * Errors: -ENOMEM. */
int name_store_add(struct name_store *store, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table) must_check;

/* The first table, each has the next one; NULL when there is none. */
struct name_table *name_store_first(const struct name_store *store);

/* The table of a file like this one that has its names; NULL when there is none. */
struct name_table *name_store_find_copy(struct name_store *store,
					const struct elf_fingerprint *print);

/* The table whose turn it is in a lane, of those that want this and that no job has; or NULL. */
struct name_table *name_store_find_wanting(struct name_store *store,
					   const struct worker_lanes *lanes, enum worker_lane lane,
					   enum table_want want);

/* Gives a table another key: what was remembered by the old one is out of date. */
void name_store_renew_key(struct name_store *store, struct name_table *table);

/* A key that no table ever had or will have. */
uint64_t name_store_full_key(const struct name_store *store, const struct name_table *table);

/* Frees the tables of files that were replaced, counts the rest, and drops names until the budget
 * is kept; never those of `in_use` (may be NULL), whose size is bounded. */
void name_store_tidy(struct name_store *store, const struct name_table *in_use);

/* Writes lines to disk that have changed and do not any more. */
void name_store_save_settled(struct name_store *store);

/* Any thread. */
struct name_store_stats name_store_get_stats(struct name_store *store);

#endif
