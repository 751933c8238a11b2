/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of a worker. It starts the worker when it is first needed, sends it one request
 * at a time without waiting for the answer, and kills it if the answer takes too long. Belongs to
 * one thread.
 *
 * A worker that reads a malicious file may answer anything. The size of answers is limited here;
 * the caller checks their content. */
#ifndef WORKER_CLIENT_H
#define WORKER_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/memory_pool.h"
#include "base/strbuf.h"
#include "worker/worker_channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Delay before a new worker is started after one died or could not be started. It doubles up to the
 * maximum while workers die without an answer. The maximum is small, because a container whose
 * files crash workers delays the names of all others. A worker that was killed at its deadline is
 * replaced at once. */
#define WORKER_CLIENT_RESTART_NS UINT64_C(100000000)
#define WORKER_CLIENT_MAX_RESTART_NS UINT64_C(500000000)

/* An idle worker is ended after this time; the next request starts another one. */
#define WORKER_CLIENT_IDLE_NS UINT64_C(20000000000)

/* The same for a worker whose memory is taken from a pool. */
#define WORKER_CLIENT_POOLED_IDLE_NS UINT64_C(1000000000)

/* From a pool, a worker gets half of the remaining memory, since others may need some meanwhile,
 * but it is not started with less than this. */
#define WORKER_CLIENT_MIN_POOLED_BYTES ((uint64_t)24 << 20)

/* Limits for workers that cannot be killed, because they wait for a file system that does not
 * respond. They are set aside and replaced; beyond the limit, no worker is started until one of
 * them has ended. The limit is smaller if the kernel cannot reclaim the memory of a killed process
 * (process_mrelease(2), Linux 5.15). */
#define WORKER_CLIENT_MAX_STUCK 64
#define WORKER_CLIENT_MAX_STUCK_WITH_MEMORY 8

struct worker_client;

struct worker_client_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	const char *command; /* borrowed; argv[1] */
	/* limit of the worker's memory (RLIMIT_DATA), without mapped files */
	size_t max_data_bytes;
	size_t max_fds; /* limit of its descriptors; 0: WORKER_PROCESS_MAX_FDS */
	size_t max_fast_data_bytes; /* limit in the fast lane (worker_lanes.h); 0: the same */
	/* Borrowed; NULL: none. A worker's memory limit, at most max_data_bytes, is taken from the
	 * pool while the worker exists. Of two lanes, only the slow one uses it. */
	struct memory_pool *pool;
};

/* Limits of one request. */
struct worker_limits {
	uint64_t timeout_ns; /* after this time the worker is killed */
	uint64_t cpu_s; /* CPU time after which the kernel kills the worker; 0: no limit */
};

struct worker_stats {
	uint64_t nr_requests;
	uint64_t nr_started; /* workers */
	uint64_t nr_timeouts; /* killed, because an answer took too long or too much CPU time */
	uint64_t nr_deaths; /* crashed, or killed because of an invalid answer */
	uint64_t cpu_ns; /* of all workers */
	uint64_t resident_bytes; /* of the current worker */
	uint64_t nr_stuck; /* workers now that were killed but have not ended */
};

/* Adds the statistics of a client to a sum. */
void worker_stats_add(struct worker_stats *sum, const struct worker_stats *stats);

/* Does not start the worker yet. Errors: -ENOMEM. */
int worker_client_new(const struct worker_client_opts *opts, struct worker_client **ret_client)
	must_check;

/* Ends the worker. NULL is fine. */
void worker_client_free(struct worker_client *client);
DEFINE_FREEP(struct worker_client, worker_client_free)

/* Returns whether a request is waiting for its answer. */
bool worker_client_is_busy(const struct worker_client *client);

/* Sends a request, and starts the worker if necessary. The descriptors stay the caller's, who may
 * close them at once. Errors: -EBUSY another request is waiting for its answer; -EINVAL too many
 * descriptors; -EAGAIN try later, as a worker died a moment ago, a killed one has not ended, or the
 * pool has too little memory left; errors of clone(2), execve(2) and sendmsg(2). */
int worker_client_send(struct worker_client *client, const struct worker_request *request,
		       const void *bytes, const int *fds, size_t nr_fds,
		       const struct worker_limits *limits) must_check;

/* Waits for the answer, at most until `until_ns` (CLOCK_MONOTONIC; 0: does not wait). Returns 1 if
 * the request has ended. Then *ret_error is 0 and *ret_bytes are the answer's bytes, which the
 * caller frees (NULL if there are none); or *ret_error is the worker's error, -ETIMEDOUT (killed at
 * a limit), -EPIPE (died), -EBADMSG (killed after an invalid answer) or -ENOMEM. Returns 0 if there
 * is no answer yet, or no request. */
int worker_client_wait(struct worker_client *client, uint64_t until_ns, int *ret_error,
		       void **ret_bytes, size_t *ret_len) must_check;

/* Bytes of a request or an answer. */
struct worker_bytes {
	void *data;
	size_t len;
};

/* Sends a request of kind 0 and waits for the whole answer, whose bytes the caller frees. The
 * waiting thread beats (base/heartbeat.h). At `give_up_ns` (CLOCK_MONOTONIC; atomic, it may change
 * at any time; NULL: never) the request is given up and the worker is ended. Errors: -ECANCELED
 * given up; those of worker_client_send() and worker_client_wait(). */
int worker_client_ask(struct worker_client *client, const struct strbuf *request,
		      uint64_t max_reply_bytes, const struct worker_limits *limits,
		      const uint64_t *give_up_ns, struct worker_bytes *ret_reply) must_check;

/* Returns a descriptor for poll(2): POLLIN means that data has arrived or the worker has ended.
 * Negative without a request. */
int worker_client_fd(const struct worker_client *client);

/* Returns the deadline of the current request (CLOCK_MONOTONIC); UINT64_MAX without a request. */
uint64_t worker_client_deadline_ns(const struct worker_client *client);

/* Gives up the current request, if there is one, and ends the worker. */
void worker_client_stop(struct worker_client *client);

/* Ends a worker whose answer turned out to be invalid, and counts it among those that died. */
void worker_client_reject(struct worker_client *client);

/* Ends the worker if it was idle for WORKER_CLIENT_IDLE_NS, or WORKER_CLIENT_POOLED_IDLE_NS with a
 * pool. To be called from time to time. */
void worker_client_tidy(struct worker_client *client, uint64_t now_ns);

/* Returns the statistics. The CPU time and memory of an idle worker may be 5 s old. */
struct worker_stats worker_client_get_stats(struct worker_client *client);

#endif
