/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from debuginfod servers, by build id. Servers may be slow: they are asked by a process of their own
 * (`flamelet debuginfod-worker`), through libdebuginfod, which keeps what it downloads in a directory. Never
 * waits for it. Belongs to one thread.
 *
 * Answers are remembered, "no such file" too, for DEBUGINFOD_RETRY_NS; at most DEBUGINFOD_MAX_QUEUE wait, further
 * ones are refused and counted. */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_WORKER_COMMAND "debuginfod-worker" /* argv[1] */
#define DEBUGINFOD_MAX_QUEUE 1024
#define DEBUGINFOD_RETRY_NS (UINT64_C(3600) * 1000000000)

struct debuginfod;

struct debuginfod_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	const char *urls; /* as in $DEBUGINFOD_URLS: separated by spaces; copied */
	const char *cache_dir; /* made when it is missing; copied */
	uint64_t max_cache_bytes; /* of the directory; those used least recently go first */
	uint64_t max_file_bytes; /* larger files are not downloaded */
	uint64_t timeout_ns; /* for a file */
};

struct debuginfod_stats {
	uint64_t nr_asked;
	uint64_t nr_found;
	uint64_t nr_missing; /* no server has it */
	uint64_t nr_failures; /* no connection, too large, too slow, no disk */
	uint64_t nr_refused; /* too many waiting */
	uint64_t nr_waiting;
};

/* Errors: -ENOMEM. */
int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **ret_debuginfod)
	must_check;
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_FREEP(struct debuginfod, debuginfod_free)

/* Asks for the debug file of a build id (lower-case hex), unless that was done. `cookie` comes back with the answer.
 * Errors: -EALREADY asked and not answered, or not found a short time ago; -ENOSPC; -EINVAL. */
int debuginfod_ask(struct debuginfod *debuginfod, const char *build_id, uint64_t cookie) must_check;

/* The next answer that has arrived; returns 1 with the file open for reading (*ret_fd, the caller's), 0 when there
 * is none. Files that were not found are not reported. Also starts what waits: to be called about once a second. */
int debuginfod_next(struct debuginfod *debuginfod, uint64_t *ret_cookie, int *ret_fd) must_check;

struct debuginfod_stats debuginfod_get_stats(const struct debuginfod *debuginfod);

/* What the command `flamelet debuginfod-worker` does. Returns the exit status. */
int debuginfod_worker_main(void);

#endif
