/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the directory in which libdebuginfod puts its downloads below a size. It
 * is the library's to fill:
 *
 *	DIR/BUILD_ID/debuginfo		a file, or an empty one: no server has it
 *	DIR/BUILD_ID/debuginfo.XXXXXX	one that is being written, or was when the writer died
 *
 * What is used least recently goes first, a build id at a time. Whatever else is in the directory
 * stays and does not count. Symbolic links are not followed. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_CACHE_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_CACHE_H

#include "base/err.h"

#include <stdint.h>

#define DEBUGINFOD_CACHE_MAX_IDS 16384
#define DEBUGINFOD_CACHE_ID_BYTES                                                                  \
	8192 /* counted for a build id beside its blocks: directory, inodes */

struct debuginfod_cache {
	int dir_fd; /* owned */
	uint64_t max_bytes;
	uint64_t nr_bytes; /* at most so much is there; UINT64_MAX: not known */
};

#define DEBUGINFOD_CACHE_NONE ((struct debuginfod_cache){ .dir_fd = -EBADF })

/* Makes the directory (0700) and those above it when they are missing. Errors: those of
 * own_dir_open(), which can say more, such as -EPERM where another user could change the
 * directory. */
int debuginfod_cache_open(const char *path, uint64_t max_bytes, struct debuginfod_cache *ret_cache)
	must_check;
void debuginfod_cache_close(struct debuginfod_cache *cache);

/* The files of a build id are being used. */
void debuginfod_cache_use(struct debuginfod_cache *cache, const char *build_id);

/* Files of so many bytes have come. Removes what is too much. Errors: -ENOMEM, what openat(2)
 * says. */
int debuginfod_cache_grow(struct debuginfod_cache *cache, uint64_t nr_bytes) must_check;

#endif
