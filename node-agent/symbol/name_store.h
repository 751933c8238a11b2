/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names of all files, under a byte budget.
 *
 * No table takes over half of the budget; the names of the least recently used table go first.
 * Source lines have a quarter of it and go before names, as they are on disk or can be made again.
 * Results of lookups (place_names.h) have a quarter as well, or half of it while names are waited
 * for. A table that no file has any more is freed by the next name_store_tidy().
 *
 * Only the loader uses the store and its tables, except name_store_get_stats(). */
#ifndef SYMBOL_NAME_STORE_H
#define SYMBOL_NAME_STORE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/elf_cache_opts.h"
#include "symbol/file_registry.h"
#include "symbol/line_store.h"
#include "symbol/name_table.h"
#include "symbol/place_names.h"
#include "worker/worker_lanes.h"

#include <stdint.h>

#define NAME_STORE_MAX_DEBUG_FILES 128 /* held open for their source lines */
#define NAME_STORE_IDLE_NS                                                                         \
	(UINT64_C(60) * 1000000000) /* then they are closed: what is open pins its file system */

/* The largest key of a table. After 268 million keys they start over. */
#define NAME_STORE_MAX_KEY ((UINT64_C(1) << 28) - 1)

struct name_store;

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

/* `registry` is borrowed. Errors: -ENOMEM. */
int name_store_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		   struct name_store **ret_store) must_check;

/* Writes lines to disk and frees all tables; the registry must not be used after that. */
void name_store_free(struct name_store *store);
DEFINE_FREEP(struct name_store, name_store_free)

/* The stores of source lines and of looked-up names; borrowed. */
struct line_store *name_store_lines(struct name_store *store);
struct place_names *name_store_places(struct name_store *store);

/* Adds a table with these symbols; takes them over, also on failure. `print` may be NULL.
 * Errors: -ENOMEM. */
int name_store_add(struct name_store *store, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table) must_check;

/* The head of the list of tables (name_table.next); NULL when it is empty. */
struct name_table *name_store_first(const struct name_store *store);

/* Finds the table of a copy of this file, if it still has its names. May return NULL. */
struct name_table *name_store_find_copy(struct name_store *store,
					const struct elf_fingerprint *print);

/* Finds the table whose turn it is in a lane: one that wants names or lines and that no job has.
 * May return NULL. */
struct name_table *name_store_find_wanting(struct name_store *store,
					   const struct worker_lanes *lanes, enum worker_lane lane,
					   enum table_want want);

/* Gives a table a new key, so that results of earlier lookups are not used any more. */
void name_store_renew_key(struct name_store *store, struct name_table *table);

/* A key of the table that is never reused, not even after keys have started over. */
uint64_t name_store_full_key(const struct name_store *store, const struct name_table *table);

/* Frees tables without files and drops lines, names and open files until all limits are kept.
 * Leaves `in_use` (may be NULL) alone, whose size is bounded anyway. */
void name_store_tidy(struct name_store *store, const struct name_table *in_use);

/* Writes lines to disk that were added some seconds ago. */
void name_store_save_settled(struct name_store *store);

/* Any thread. */
struct name_store_stats name_store_get_stats(struct name_store *store);

#endif
