/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the size of the directory of libdebuginfod's downloads. The library writes the files:
 *
 *	DIR/BUILD_ID/debuginfo		a file; it is empty if no server has it
 *	DIR/BUILD_ID/debuginfo.XXXXXX	a file that is being written, or was when its writer died
 *
 * The files of the least recently used build id are removed first. Other files in the directory
 * stay and do not count. Symbolic links are not followed. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_CACHE_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_CACHE_H

#include "base/err.h"

#include <stdint.h>

#define DEBUGINFOD_CACHE_MAX_IDS 16384
/* Added to the size of each build id's files, for its directory and inodes. */
#define DEBUGINFOD_CACHE_ID_BYTES 8192

struct debuginfod_cache {
	int dir_fd; /* owned */
	uint64_t max_bytes;
	uint64_t nr_bytes; /* upper bound of its size; UINT64_MAX: unknown */
};

#define DEBUGINFOD_CACHE_NONE ((struct debuginfod_cache){ .dir_fd = -EBADF })

/* Opens the directory. Creates it (0700) and those above it if they are missing. Errors: those of
 * own_dir_open(), such as -EPERM if another user could change the directory. */
int debuginfod_cache_open(const char *path, uint64_t max_bytes, struct debuginfod_cache *ret_cache)
	must_check;
void debuginfod_cache_close(struct debuginfod_cache *cache);

/* Notes that the files of a build id are in use. */
void debuginfod_cache_use(struct debuginfod_cache *cache, const char *build_id);

/* Notes that files of so many bytes were added, and removes files if the directory is too large.
 * Errors: -ENOMEM, those of openat(2). */
int debuginfod_cache_grow(struct debuginfod_cache *cache, uint64_t nr_bytes) must_check;

#endif
