/* SPDX-License-Identifier: Apache-2.0 */
/* A directory for a test's files, and an ELF cache whose worker is the test
 * program (symbol_worker_main.h). */
#ifndef TESTS_UNIT_ELF_CACHE_DIR_H
#define TESTS_UNIT_ELF_CACHE_DIR_H

#include "symbol/elf_cache.h"

#include <stddef.h>

#define CACHE_BUDGET ((size_t)256 << 20)

struct cache_dir {
	char dir[64];
	int proc_fd; /* the real one */
	struct elf_cache *cache;
};

/* The cache of a directory like /proc, whose memory is of a pool. */
struct elf_cache *cache_dir_new_pooled_cache(int proc_fd, size_t max_bytes,
					     struct memory_pool *pool);

/* The same without a pool. */
struct elf_cache *cache_dir_new_cache(int proc_fd, size_t max_bytes);

/* Has all files read that wait. */
void cache_dir_read_all(struct elf_cache *cache);

/* For cmocka. */
int cache_dir_setup(void **state);
int cache_dir_teardown(void **state);

#endif
