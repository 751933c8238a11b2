/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for the separate debug file of a program: in its container, on the host, and finally
 * with debuginfod. Workers check that a candidate is the right file, and read it. Only the
 * symbolizer uses it, except debug_search_nr_found(). */
#ifndef SYMBOL_DEBUG_SEARCH_H
#define SYMBOL_DEBUG_SEARCH_H

#include "symbol/debug_downloads.h"
#include "symbol/name_store.h"
#include "symbol/opener/debug_files.h"
#include "symbol/symbol_jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set all fields but the last one. */
struct debug_search {
	struct debug_files files; /* host_root_fd -1: there are none */
	bool wants_lines; /* inlined functions and source lines */
	struct symbol_jobs *jobs; /* borrowed, as are the next two */
	struct name_store *store;
	struct debug_downloads *downloads;
	uint64_t nr_found; /* atomic */
};

/* Starts the search. The job's table has the file's own names. If the table needs a debug file, the
 * job examines the first candidate; otherwise it ends. */
void debug_search_start(struct debug_search *search, struct symbol_job *job);

/* Handle the answer about a candidate: its checksum, or its table, whose `bytes` are taken over. */
void debug_search_take_crc(struct debug_search *search, struct symbol_job *job, int error,
			   const void *bytes, size_t len);
void debug_search_take_table(struct debug_search *search, struct symbol_job *job, int error,
			     void *bytes, size_t len);

/* Number of separate debug files that were found. Any thread. */
uint64_t debug_search_nr_found(const struct debug_search *search);

#endif
