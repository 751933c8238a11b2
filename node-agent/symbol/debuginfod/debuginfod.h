/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads debug files from debuginfod servers, by build id. Servers may be slow, so a process of
 * its own (`flamelet debuginfod-worker`) asks them through libdebuginfod, which keeps its downloads
 * in a directory. The functions never wait for the worker. Belongs to one thread.
 *
 * The worker receives several requests at a time and answers them in their order. If it takes too
 * long or dies, the first of them has failed, and the next worker receives the others. There is no
 * worker while there is nothing to do.
 *
 * "No such file" and "too large" are remembered for DEBUGINFOD_RETRY_NS, other failures for
 * DEBUGINFOD_FAILURE_RETRY_NS. At most DEBUGINFOD_MAX_QUEUE requests wait; others are refused and
 * counted. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

#define DEBUGINFOD_WORKER_COMMAND "debuginfod-worker" /* argv[1] */
#define DEBUGINFOD_MAX_QUEUE 1024
#define DEBUGINFOD_MAX_SENT 16 /* requests that the worker has at a time */
#define DEBUGINFOD_RETRY_NS (UINT64_C(3600) * 1000000000)
#define DEBUGINFOD_FAILURE_RETRY_NS (UINT64_C(300) * 1000000000)
/* Time between the timeout of a request and the end of its worker. */
#define DEBUGINFOD_GRACE_NS (UINT64_C(5) * 1000000000)
#define DEBUGINFOD_IDLE_NS (UINT64_C(10) * 1000000000) /* time until an idle worker is ended */

/* Time until a worker that died is replaced. It doubles up to the second value while workers die
 * without an answer. */
#define DEBUGINFOD_RESTART_NS UINT64_C(100000000)
#define DEBUGINFOD_MAX_RESTART_NS (UINT64_C(60) * 1000000000)

struct debuginfod;

struct debuginfod_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	const char *urls; /* as in $DEBUGINFOD_URLS: separated by spaces; copied */
	/* Absolute path; copied. Created if it is missing; no other user may be its owner. */
	const char *cache_dir;
	uint64_t max_cache_bytes; /* least recently used files are removed first */
	/* Larger files are not downloaded. A download in progress does not count as cache. */
	uint64_t max_file_bytes;
	uint64_t timeout_ns; /* per file; at least one second */
};

struct debuginfod_stats {
	uint64_t nr_asked;
	uint64_t nr_found;
	/* No server has the file, or a server returned an error: the library does not distinguish
	 * them. */
	uint64_t nr_missing;
	uint64_t nr_failures; /* no connection, too large, too slow, no disk, no worker */
	uint64_t nr_refused; /* too many requests were waiting */
	uint64_t nr_waiting; /* requests that wait now, for the worker or its reply */
	uint64_t nr_started; /* workers */
	uint64_t nr_killed; /* workers that took too long */
	uint64_t nr_deaths; /* workers that ended by themselves */
	uint64_t cpu_ns; /* of all workers */
	uint64_t resident_bytes; /* of the present worker */
};

/* Starts no worker yet. Errors: -ENOMEM. */
int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **ret_debuginfod)
	must_check;

/* Ends the worker. `debuginfod` may be NULL. */
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_FREEP(struct debuginfod, debuginfod_free)

/* Requests the debug file of a build id (lower-case hex). debuginfod_next() returns `cookie` with
 * the file. Errors: -EALREADY already requested, or not found a short time ago; -ENOSPC too many
 * requests; -EINVAL not a build id; -ENOMEM. */
int debuginfod_ask(struct debuginfod *debuginfod, const char *build_id, uint64_t cookie) must_check;

/* Returns 1 with the next file that has arrived, open for reading; the caller closes *ret_fd.
 * Returns 0 if there is none. Files that were not found are not reported. Also sends waiting
 * requests, so it must be called about once per second. */
int debuginfod_next(struct debuginfod *debuginfod, uint64_t *ret_cookie, int *ret_fd) must_check;

struct debuginfod_stats debuginfod_get_stats(const struct debuginfod *debuginfod);

/* Implements the command `flamelet debuginfod-worker`. Returns the exit status. */
int debuginfod_worker_main(void);

#endif
