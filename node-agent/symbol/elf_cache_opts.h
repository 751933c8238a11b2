/* SPDX-License-Identifier: Apache-2.0 */
/* The options of an ELF cache, and of the objects that it owns. */
#ifndef SYMBOL_ELF_CACHE_OPTS_H
#define SYMBOL_ELF_CACHE_OPTS_H

#include "base/memory_pool.h"
#include "symbol/debuginfod/debuginfod.h"
#include "symbol/demangle/demangle.h"
#include "symbol/opener/debug_files.h"

#include <stdbool.h>
#include <stddef.h>

struct elf_cache_opts {
	int proc_fd; /* borrowed; as for process_table_new() */
	size_t max_bytes; /* of all names */
	/* Borrowed; NULL: none. Memory for names and for the slow worker (worker_client.h). */
	struct memory_pool *pool;
	const char *worker_program; /* borrowed; see worker_client.h */
	enum demangle_style demangle;
	bool wants_lines; /* inlined functions and source lines */
	/* Borrowed for the call. Source lines are kept in its subdirectory lines/; NULL: only in
	 * memory. */
	const char *cache_dir;
	/* Share of one CPU that each lane may spend on debug information; 0: unlimited. */
	unsigned int lines_permille;
	struct debug_files debug_files; /* host_root_fd -1: debug files are not looked for */
	struct debuginfod *debuginfod; /* borrowed; NULL: nothing is downloaded */
};

#endif
