/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names of all files, under a byte budget.
 *
 * No table takes over half of the budget. The names of the least recently used table are
 * dropped first. Source lines may take a quarter of the budget, and are dropped before names,
 * because they are on disk or can be made again. Results of lookups (place_names.h) may take a
 * quarter as well, or half while names are awaited. The next name_store_tidy() frees a table
 * that no file has any more.
 *
 * Only the symbolizer uses the store and its tables, except name_store_get_stats(). */
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

#define NAME_STORE_MAX_DEBUG_FILES 128 /* files that are open for their source lines */

/* Time until an unused one of them is closed, as an open file keeps its file system busy. */
#define NAME_STORE_IDLE_NS (UINT64_C(60) * 1000000000)

/* The largest key of a table. After 268 million keys they start over. */
#define NAME_STORE_MAX_KEY ((UINT64_C(1) << 28) - 1)

struct name_store;

struct name_store_stats {
	uint64_t nr_tables; /* tables with names in memory */
	uint64_t nr_bytes; /* memory of all tables */
	uint64_t nr_evicted; /* tables whose names were dropped */
	uint64_t nr_line_tables; /* tables with source lines in memory */
	uint64_t nr_line_bytes; /* memory of the source lines; part of nr_bytes */
	uint64_t nr_line_tables_dropped; /* tables whose lines were dropped from memory */
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

/* Return the stores of source lines and of looked-up names; borrowed. */
struct line_store *name_store_lines(struct name_store *store);
struct place_names *name_store_places(struct name_store *store);

/* Adds a table with these symbols; takes them over, also on failure. `print` may be NULL.
 * Errors: -ENOMEM. */
int name_store_add(struct name_store *store, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table) must_check;

/* Returns the head of the list of tables (name_table.next); NULL if it is empty. */
struct name_table *name_store_first(const struct name_store *store);

/* Finds the table of a copy of this file, if it still has its names. May return NULL. */
struct name_table *name_store_find_copy(struct name_store *store,
					const struct elf_fingerprint *print);

/* Finds the table whose turn it is in a lane: one that wants names or lines and has no job yet. May
 * return NULL. */
struct name_table *name_store_find_wanting(struct name_store *store,
					   const struct worker_lanes *lanes, enum worker_lane lane,
					   enum table_want want);

/* Gives a table a new key, so that results of earlier lookups are no longer used. */
void name_store_renew_key(struct name_store *store, struct name_table *table);

/* Returns a key of the table that is unique even after keys have started over. */
uint64_t name_store_full_key(const struct name_store *store, const struct name_table *table);

/* Frees tables without files, and drops lines, names and open files until all limits are kept.
 * Skips `in_use`, whose size is bounded anyway; it may be NULL. */
void name_store_tidy(struct name_store *store, const struct name_table *in_use);

/* Writes lines to disk that were added some seconds ago. */
void name_store_save_settled(struct name_store *store);

/* Any thread. */
struct name_store_stats name_store_get_stats(struct name_store *store);

#endif
