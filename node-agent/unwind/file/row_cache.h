/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps tables on disk, so that a restart of the agent builds none again: unwind tables, or
 * other tables made from ELF files; one kind in a directory. Each table is a file, named by
 * build id, key and format version. It is checked (checksum, kind->is_valid()) when it is read.
 * The directory is limited in bytes; the least recently used tables are removed first. A damaged
 * file is removed and counts as missing. */
#ifndef UNWIND_FILE_ROW_CACHE_H
#define UNWIND_FILE_ROW_CACHE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "unwind/file/row_cache_files.h"

#include <stdint.h>

/* The version of unwind tables. */
#define ROW_CACHE_VERSION 1

struct row_cache;

extern const struct row_cache_kind row_cache_unwind_tables;

struct row_cache_stats {
	uint64_t nr_hits;
	uint64_t nr_misses;
	uint64_t nr_bad_files;
	uint64_t nr_write_failures; /* full disk, read-only directory */
	uint64_t nr_evicted;
	uint64_t nr_bytes;
};

/* Opens a directory, made (mode 0700) when missing, with those above it. Files in it that are
 * not the cache's own stay untouched. On failure `reterr_msg` says why, unless it is for want of
 * memory. Errors: -ENOMEM; those of own_dir_open(), such as -EPERM where another user could
 * change the directory. */
int row_cache_open(const char *path, const struct row_cache_kind *kind, uint64_t max_bytes,
		   struct strbuf *reterr_msg, struct row_cache **ret_cache) must_check;
void row_cache_close(struct row_cache *cache);
DEFINE_FREEP(struct row_cache, row_cache_close)

/* Reads the table of a key. Errors: -ENOENT, also for a bad file; -ENOMEM. */
int row_cache_get(struct row_cache *cache, const struct elf_rows_key *key,
		  struct row_table_bytes *ret_table) must_check;

/* Writes a file beside and renames it, so that no reader sees half of one. Failures are counted
 * only: a cache that cannot be written to is a slow one. */
void row_cache_put(struct row_cache *cache, const struct elf_rows_key *key,
		   const struct row_table_bytes *table);

/* Returns the seed of the keys, a random number that is kept in the directory. */
uint64_t row_cache_get_seed(const struct row_cache *cache);

struct row_cache_stats row_cache_get_stats(const struct row_cache *cache);

#endif
