/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines that tables have: which file they come from, what is known of them, and what is
 * on disk.
 *
 * Each compile unit is read once. New units are written to disk some seconds later, as those of a
 * new program come one after the other, and before they are dropped from memory. Only the loader
 * uses it, except line_store_get_stats(). */
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
	uint64_t nr_resolved; /* addresses whose source lines were asked for */
	uint64_t nr_missed; /* of them, those whose unit was not read: over a limit, a failure */
	uint64_t nr_units; /* whose lines were made */
	uint64_t nr_units_left_out; /* over a limit: their code has names alone */
	struct row_cache_stats disk;
};

/* Keeps lines in the directory lines/ of `cache_dir` (borrowed for the call), or in memory only if
 * that is NULL or cannot be used. `max_table_bytes` bounds the lines of one table.
 * Errors: -ENOMEM. */
int line_store_new(const char *cache_dir, size_t max_table_bytes, struct line_store **ret_store)
	must_check;
void line_store_free(struct line_store *store);

/* The seed of the fingerprints by which files are found on disk; false without a disk. */
bool line_store_get_seed(const struct line_store *store, uint64_t *ret_seed);

/* Notes that lines_fd is another file, whose key is not known yet. */
void line_store_ask_key(struct name_table *table);

/* Notes that lines_fd is another file with that key; NULL: it has none. Lines of files with another
 * key are forgotten. */
void line_store_set_key(struct line_store *store, struct name_table *table,
			const struct elf_fingerprint *print);

/* Reads the table's lines from disk, once. */
void line_store_load(struct line_store *store, struct name_table *table);

/* Adds units from a worker, none of which the table has. Errors: as lines_table_add(). */
int line_store_add(struct line_store *store, struct name_table *table, const void *bytes,
		   size_t len) must_check;

/* Bytes that the lines of a table may still take. */
size_t line_store_room(const struct line_store *store, const struct name_table *table);

/* Writes the lines of a table to disk if there are new ones: at once, or only if these were added
 * some seconds ago. */
void line_store_save(struct line_store *store, struct name_table *table);
void line_store_save_settled(struct line_store *store, struct name_table *table);

/* Adds to two of the statistics. */
void line_store_count(struct line_store *store, uint64_t nr_resolved, uint64_t nr_missed);

/* Any thread. */
struct line_store_stats line_store_get_stats(struct line_store *store);

#endif
