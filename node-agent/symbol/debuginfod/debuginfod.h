/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from debuginfod servers, by build id. Servers may be slow: they are asked by a
 * process of its own (`flamelet debuginfod-worker`), through libdebuginfod, which keeps what it
 * downloads in a directory. Never waits for it. Belongs to one thread.
 *
 * The worker is given several requests at a time, which it answers in their order; when it takes
 * longer than it should or dies, the first of them counts as failed and the others are given to the
 * next worker. While there is nothing to do there is no worker.
 *
 * "No such file" is remembered for DEBUGINFOD_RETRY_NS, and so is "too large"; other
 * failures for DEBUGINFOD_FAILURE_RETRY_NS. At most DEBUGINFOD_MAX_QUEUE wait, further ones
 * are refused and counted. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_WORKER_COMMAND "debuginfod-worker" /* argv[1] */
#define DEBUGINFOD_MAX_QUEUE 1024
#define DEBUGINFOD_MAX_SENT 16 /* of requests to the worker */
#define DEBUGINFOD_RETRY_NS (UINT64_C(3600) * 1000000000)
#define DEBUGINFOD_FAILURE_RETRY_NS (UINT64_C(300) * 1000000000)
#define DEBUGINFOD_GRACE_NS                                                                        \
	(UINT64_C(5) * 1000000000) /* past a timeout, before the worker is killed */
#define DEBUGINFOD_IDLE_NS (UINT64_C(10) * 1000000000) /* then the worker is ended */

/* Workers that die are not replaced at once; the time doubles up to the second value while
 * they die without an answer. */
#define DEBUGINFOD_RESTART_NS UINT64_C(100000000)
#define DEBUGINFOD_MAX_RESTART_NS (UINT64_C(60) * 1000000000)

struct debuginfod;

struct debuginfod_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	const char *urls; /* as in $DEBUGINFOD_URLS: separated by spaces; copied */
	const char
		*cache_dir; /* absolute; made when it is missing, must be nobody else's; copied */
	uint64_t max_cache_bytes; /* of the directory; those used least recently go first */
	/* larger files are not downloaded; a download comes on top of the cache */
	uint64_t max_file_bytes;
	uint64_t timeout_ns; /* for a file; at least a second */
};

struct debuginfod_stats {
	uint64_t nr_asked;
	uint64_t nr_found;
	/* no server has it, or one has answered with an error: the library does not tell */
	uint64_t nr_missing;
	uint64_t nr_failures; /* no connection, too large, too slow, no disk, no worker */
	uint64_t nr_refused; /* too many waiting */
	uint64_t nr_waiting; /* now: for the worker or its answer */
	uint64_t nr_started; /* workers */
	uint64_t nr_killed; /* that took too long */
	uint64_t nr_deaths; /* by themselves */
	uint64_t cpu_ns; /* of all workers */
	uint64_t resident_bytes; /* of the present one */
};

/* Starts nothing yet. Errors: -ENOMEM. */
int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **ret_debuginfod)
	must_check;

/* Ends the worker. NULL is fine. */
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_FREEP(struct debuginfod, debuginfod_free)

/* Asks for the debug file of a build id (lower-case hex), unless that was done. `cookie` comes back
 * with the answer. Errors: -EALREADY asked and not answered, or not found a short time ago;
 * -ENOSPC; -EINVAL not a build id; -ENOMEM. */
int debuginfod_ask(struct debuginfod *debuginfod, const char *build_id, uint64_t cookie) must_check;

/* The next answer that has arrived; returns 1 with the file open for reading (*ret_fd, the
 * caller's), 0 when there is none. Files that were not found are not reported. Also starts what
 * waits: to be called about once a second. */
int debuginfod_next(struct debuginfod *debuginfod, uint64_t *ret_cookie, int *ret_fd) must_check;

struct debuginfod_stats debuginfod_get_stats(const struct debuginfod *debuginfod);

/* What the command `flamelet debuginfod-worker` does. Returns the exit status. */
int debuginfod_worker_main(void);

#endif
