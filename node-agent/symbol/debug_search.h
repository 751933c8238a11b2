/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of a file's way through the workers: is there a separate debug file, is it the
 * right one, what does it know? For the loader, except debug_search_nr_found(). */
#ifndef SYMBOL_DEBUG_SEARCH_H
#define SYMBOL_DEBUG_SEARCH_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/debug_downloads.h"
#include "symbol/name_store.h"
#include "symbol/opener/debug_files.h"
#include "symbol/symbol_jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_search;

struct debug_search_opts {
	struct debug_files files; /* host_root_fd -1: there are none */
	bool wants_lines; /* inlined functions and source lines */
	struct symbol_jobs *jobs; /* borrowed, as the next two */
	struct name_store *store;
	struct debug_downloads *downloads;
};

/* Errors: -ENOMEM. */
int debug_search_new(const struct debug_search_opts *opts, struct debug_search **ret_search)
	must_check;
void debug_search_free(struct debug_search *search);
DEFINE_FREEP(struct debug_search, debug_search_free)

/* The job's table has the file's own names: looks for its debug file if it needs one. Then the job
 * is about that, or has ended. */
void debug_search_start(struct debug_search *search, struct symbol_job *job);

/* Handle an answer about what may be a debug file; `bytes` of the second are taken over. */
void debug_search_take_crc(struct debug_search *search, struct symbol_job *job, int error,
			   const void *bytes, size_t len);
void debug_search_take_table(struct debug_search *search, struct symbol_job *job, int error,
			     void *bytes, size_t len);

/* Separate debug files that were found. Any thread. */
uint64_t debug_search_nr_found(const struct debug_search *search);

#endif
