/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of tables, in memory and on disk.
 *
 * Each compile unit is read once. New units are written to disk some seconds later, as the units of
 * a new program arrive one after the other, or before they are dropped from memory. Only the
 * symbolizer uses it, except line_store_get_stats(). */
#ifndef SYMBOL_LINE_STORE_H
#define SYMBOL_LINE_STORE_H

#include "base/err.h"
#include "symbol/name_table.h"
#include "unwind/file/row_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_store;

struct line_store_stats {
	uint64_t nr_resolved; /* addresses whose source lines were requested */
	uint64_t nr_missed; /* those of them whose unit could not be read: limit or failure */
	uint64_t nr_units; /* compile units that were read */
	uint64_t nr_units_left_out; /* units over a limit: their code has only names */
	struct row_cache_stats disk;
};

/* Keeps lines in the subdirectory lines/ of `cache_dir`, or only in memory if that is NULL or
 * cannot be used. `cache_dir` is borrowed for the call. `max_table_bytes` bounds the lines of
 * one table. Errors: -ENOMEM. */
int line_store_new(const char *cache_dir, size_t max_table_bytes, struct line_store **ret_store)
	must_check;
void line_store_free(struct line_store *store);

/* Returns the seed of the fingerprints by which lines are found on disk. False if there is no
 * directory. */
bool line_store_get_seed(const struct line_store *store, uint64_t *ret_seed);

/* Notes that lines_fd is a new file whose key is not known yet. */
void line_store_ask_key(struct name_table *table);

/* Notes that lines_fd is a new file with that key; NULL: it has none. Drops the lines of files with
 * another key. */
void line_store_set_key(struct line_store *store, struct name_table *table,
			const struct elf_fingerprint *print);

/* Reads the table's lines from disk, once. */
void line_store_load(struct line_store *store, struct name_table *table);

/* Adds units from a worker. The table must not have any of them. Errors: as lines_table_add(). */
int line_store_add(struct line_store *store, struct name_table *table, const void *bytes,
		   size_t len) must_check;

/* Returns the number of bytes that the lines of a table may still take. */
size_t line_store_room(const struct line_store *store, const struct name_table *table);

/* Write the lines of a table to disk if there are new ones; the second function does so only if
 * these were added some seconds ago. */
void line_store_save(struct line_store *store, struct name_table *table);
void line_store_save_settled(struct line_store *store, struct name_table *table);

/* Adds to the statistics of the same names. */
void line_store_count(struct line_store *store, uint64_t nr_resolved, uint64_t nr_missed);

/* Any thread. */
struct line_store_stats line_store_get_stats(struct line_store *store);

#endif
