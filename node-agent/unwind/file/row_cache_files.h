/* SPDX-License-Identifier: Apache-2.0 */
/* The files in the directory of a row cache. Their names distinguish them from all others:
 *
 *	BUILD_ID-HASH.rows1	a table: the kind's suffix and version
 *	RANDOM.rows-temp	one that is being written
 *	hash-seed		see row_seed.h
 */
#ifndef UNWIND_FILE_ROW_CACHE_FILES_H
#define UNWIND_FILE_ROW_CACHE_FILES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/elf_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_CACHE_MAX_FILES 16384
#define ROW_CACHE_NAME_MAX 256 /* with the NUL */

/* The kind of data that a cache keeps, and the names and headers of its files. Constant while the
 * cache is open. */
struct row_cache_kind {
	const char *suffix; /* of file names, without the version that follows it */
	uint64_t magic; /* at the beginning of each file */
	uint32_t version; /* increase it whenever the same input would give a different table */
	/* Looks at the bytes of a table, aligned as by malloc(3). */
	bool (*is_valid)(const void *bytes, size_t len);
};

struct row_cache_file {
	char name[ROW_CACHE_NAME_MAX];
	uint64_t bytes;
	int64_t used_ns; /* when it was last read: its modification time */
};

struct row_cache_files {
	struct row_cache_file *items; /* owned; least recently used first */
	size_t nr_items, cap_items;
	uint64_t nr_bytes;
};

/* Lists the tables of a directory. Removes temporary files (also those that another process is
 * writing), tables of other versions, and (counted in *nr_evicted) arbitrary tables beyond
 * ROW_CACHE_MAX_FILES. Errors: -ENOMEM; those of openat(2). */
int row_cache_files_load(struct row_cache_files *files, int dir_fd,
			 const struct row_cache_kind *kind, uint64_t *nr_evicted) must_check;
void row_cache_files_done(struct row_cache_files *files);

/* Makes the file name of a key's table. Errors: -EINVAL the build id is not a hexadecimal
 * string. */
int row_cache_files_name(const struct row_cache_kind *kind, const struct elf_rows_key *key,
			 char ret_name[static ROW_CACHE_NAME_MAX]) must_check;

/* Makes a random name for a temporary file. Errors: those of random_bytes(). */
int row_cache_files_temp_name(char ret_name[static ROW_CACHE_NAME_MAX]) must_check;

#endif
