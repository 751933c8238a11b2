/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF cache for benchmarks, which is given files by their paths: this process maps them. */
#ifndef BENCH_CACHE_FILES_H
#define BENCH_CACHE_FILES_H

#include "symbol/elf_cache.h"

#include <stdint.h>

#define CACHE_FILES_MAX_BYTES ((size_t)256 << 20) /* what the agent does by default */
#define CACHE_FILES_WAIT_NS (UINT64_C(60) * 1000000000)

struct cache_files {
	struct elf_cache *cache; /* owned */
	int proc_fd; /* owned */
};

struct cache_files_opts {
	const char *worker_program; /* flamelet */
	enum demangle_style demangle;
	bool wants_lines;
};

/* Starts the worker. Errors: as elf_cache_new(), -EAGAIN no worker, what open() says. */
int cache_files_init(struct cache_files *files, const struct cache_files_opts *opts) must_check;
void cache_files_done(struct cache_files *files);

/* Errors: as elf_cache_open(), what open(), fstat() and mmap() say. */
int cache_files_open(struct cache_files *files, const char *path, uint32_t *ret_id) must_check;

/* Until nothing is left to do. Errors: -ETIMEDOUT. */
int cache_files_wait(struct cache_files *files) must_check;

/* CPU time of this process and of its workers. */
uint64_t cache_files_cpu_ns(struct cache_files *files);

#endif
