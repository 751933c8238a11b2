/* SPDX-License-Identifier: Apache-2.0 */
/* The dialogue with the symbol workers (worker/symbol_worker.h). Each worker has one request at a
 * time:
 *
 *	waiting file ─▶ FINGERPRINT ─▶ TABLE ─▶ is there a debug file? ─▶ CRC ─▶ DEBUG_TABLE ─▶ done
 *	                    └▶ a copy of one that is known ─┘       └▶ (by build id) ──┘
 *	debug file from debuginfod ──────────────────────────────────────▶ DEBUG_TABLE ─▶ done
 *	table with names to demangle ─▶ NAMES
 *	table with wanted addresses ─▶ LINES_KEY, once per file ─▶ lines on disk ─▶ LINES
 *
 * Names come first, as they take microseconds. Files mostly come before lines, so that slow
 * debug information of one file delays only the lines of others, not their names. A request that
 * takes too long or too much memory for the fast lane (worker/worker_lanes.h) is repeated in the
 * slow one (symbol_jobs.h).
 *
 * Files come from the registry, which gets the results; the store gets the tables. Only the
 * symbolizer uses the client, except symbol_client_get_stats(). */
#ifndef SYMBOL_SYMBOL_CLIENT_H
#define SYMBOL_SYMBOL_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/debuginfod/debuginfod.h"
#include "symbol/elf_cache_opts.h"
#include "symbol/file_registry.h"
#include "symbol/name_store.h"
#include "worker/worker_client.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_client;

struct symbol_client_stats {
	uint64_t nr_debug_files; /* separate debug files that were found */
	struct worker_stats worker; /* this one and the next may be a little out of date */
	struct debuginfod_stats debuginfod;
};

/* Starts no worker yet; `registry` and `store` are borrowed. Errors: -ENOMEM. */
int symbol_client_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		      struct name_store *store, struct symbol_client **ret_client) must_check;

/* Abandons all requests. */
void symbol_client_free(struct symbol_client *client);
DEFINE_FREEP(struct symbol_client, symbol_client_free)

/* Has workers read the waiting files and answer the requests of tables. Returns true when all is
 * done, or false at `until_ns` (CLOCK_MONOTONIC). */
bool symbol_client_wait(struct symbol_client *client, uint64_t until_ns);

/* Returns whether the debug file of a table is being read, or may arrive at any moment. */
bool symbol_client_awaits(const struct symbol_client *client, const struct name_table *table);

/* As elf_cache_is_slow_only(). */
bool symbol_client_is_slow_only(const struct symbol_client *client);

/* Any thread. */
struct symbol_client_stats symbol_client_get_stats(struct symbol_client *client);

#endif
