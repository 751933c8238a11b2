/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of a worker: starts it when it is first needed, asks it one thing at a time
 * without waiting for the answer, kills it when that takes too long. Belongs to one thread.
 *
 * A worker that was handed a file made to break it may answer anything: what comes back is
 * bounded here and judged by whoever asked. */
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

/* After a worker died, or could not be started, a new one is not started before so long; doubled
 * up to the maximum while they die without having answered anything. The maximum is small, as
 * whoever has files that workers die of delays the names of all others by it. One that was
 * killed at its deadline is replaced at once: that took its time. */
#define WORKER_CLIENT_RESTART_NS UINT64_C(100000000)
#define WORKER_CLIENT_MAX_RESTART_NS UINT64_C(500000000)

/* A worker that nobody has asked anything for so long is ended: the next request starts another
 * one. */
#define WORKER_CLIENT_IDLE_NS UINT64_C(20000000000)

/* One whose memory is of a pool does not keep it from others for long. */
#define WORKER_CLIENT_POOLED_IDLE_NS UINT64_C(1000000000)

/* From a pool a worker gets half of what is left, as others will want some while it reads, but
 * it is not started with less than this. */
#define WORKER_CLIENT_MIN_POOLED_BYTES ((uint64_t)24 << 20)

/* Workers that cannot be killed, as they wait for a file system that does not answer. So many
 * are set aside and replaced; beyond that no worker is started until one of them is gone. Where
 * the kernel does not take back the memory of a process that was killed (process_mrelease(2),
 * Linux 5.15), there may be a few only. */
#define WORKER_CLIENT_MAX_STUCK 64
#define WORKER_CLIENT_MAX_STUCK_WITH_MEMORY 8

struct worker_client;

struct worker_client_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	const char *command; /* borrowed; argv[1] */
	/* of the worker's memory (RLIMIT_DATA); files it maps do not count */
	size_t max_data_bytes;
	size_t max_fast_data_bytes; /* in the fast lane (worker_lanes.h); 0: the same */
	/* Borrowed; NULL: none. What a worker may have, at most max_data_bytes, is taken from it
	 * as long as there is the worker. Of lanes the slow one has it. */
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
	uint64_t nr_timeouts; /* killed: no answer in time, or too much CPU time for it */
	uint64_t nr_deaths; /* by themselves: a damaged file; or killed as they answered nonsense */
	uint64_t cpu_ns; /* of all workers that ended, and the present one's */
	uint64_t resident_bytes; /* of the present one */
	uint64_t nr_stuck; /* now: killed, and the kernel does not let them go */
};

/* Adds up what several clients tell. */
void worker_stats_add(struct worker_stats *sum, const struct worker_stats *stats);

/* Starts nothing yet. Errors: -ENOMEM. */
int worker_client_new(const struct worker_client_opts *opts, struct worker_client **ret_client)
	must_check;

/* Ends the worker. NULL is fine. */
void worker_client_free(struct worker_client *client);
DEFINE_FREEP(struct worker_client, worker_client_free)

/* Whether a request is on its way. */
bool worker_client_is_busy(const struct worker_client *client);

/* Sends a request while none is on its way, starting the worker when there is none; the
 * descriptors stay the caller's, who may close them at once. Errors: -EBUSY; -EINVAL too many
 * descriptors; -EAGAIN a worker died a moment ago, one that was killed is not gone yet, or the
 * pool has too little left: later; what clone(2), execve(2) and sendmsg(2) say. */
int worker_client_send(struct worker_client *client, const struct worker_request *request,
		       const void *bytes, const int *fds, size_t nr_fds,
		       const struct worker_limits *limits) must_check;

/* Waits for the answer, but not past `until_ns` (CLOCK_MONOTONIC; 0: not at all). Returns 1 when
 * it is there: *ret_error is 0 and *ret_bytes its bytes (malloc'ed, the caller's; NULL when
 * there are none). Or *ret_error is what the worker said, -ETIMEDOUT (over a limit, killed),
 * -EPIPE (died), -EBADMSG (killed, its answer was none) or -ENOMEM; no bytes then. Returns 0
 * when it is not there yet, and when none is expected. */
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

/* What to poll(2) for POLLIN: something has come, or the worker has ended. Negative while no
 * request is on its way. */
int worker_client_fd(const struct worker_client *client);

/* When the request on its way is given up (CLOCK_MONOTONIC); UINT64_MAX: there is none. */
uint64_t worker_client_deadline_ns(const struct worker_client *client);

/* Gives up the request on its way, if there is one, and ends the worker. */
void worker_client_stop(struct worker_client *client);

/* Ends a worker whose answer turned out to be invalid, and counts it among those that died. */
void worker_client_reject(struct worker_client *client);

/* Ends the worker when it has had nothing to do for WORKER_CLIENT_IDLE_NS, or
 * WORKER_CLIENT_POOLED_IDLE_NS if it has a pool. To be called now and then. */
void worker_client_tidy(struct worker_client *client, uint64_t now_ns);

/* What an idle worker has taken is up to 5 s old. */
struct worker_stats worker_client_get_stats(struct worker_client *client);

#endif
