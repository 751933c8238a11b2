/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of the symbol worker (symbol_worker.h): starts it when it is first needed, asks it one
 * thing at a time without waiting for the answer, kills it when that takes too long. Belongs to one thread. */
#ifndef SYMBOL_SYMBOL_CLIENT_H
#define SYMBOL_SYMBOL_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/symbol_worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After a worker died, or could not be started, a new one is not started before so long; doubled up to the
 * maximum while they die without having answered anything. The maximum is small, as whoever has files that workers die
 * of delays the names of all others by it. One that was killed at its deadline is replaced at once: that took its
 * time. */
#define SYMBOL_CLIENT_RESTART_NS UINT64_C(100000000)
#define SYMBOL_CLIENT_MAX_RESTART_NS UINT64_C(500000000)

struct symbol_client;

struct symbol_client_opts {
	const char *program; /* borrowed; NULL: /proc/self/exe */
	size_t max_bytes; /* of the worker's memory (RLIMIT_DATA); files it maps do not count */
};

struct symbol_client_stats {
	uint64_t nr_requests;
	uint64_t nr_started; /* workers */
	uint64_t nr_timeouts; /* killed */
	uint64_t nr_deaths; /* by themselves: a damaged file; or killed as they answered nonsense */
	uint64_t cpu_ns; /* of all workers that ended, and the present one's */
	uint64_t resident_bytes; /* of the present one */
};

/* Starts nothing yet. Errors: -ENOMEM. */
int symbol_client_new(const struct symbol_client_opts *opts, struct symbol_client **ret_client)
	must_check;

/* Ends the worker. NULL is fine. */
void symbol_client_free(struct symbol_client *client);
DEFINE_FREEP(struct symbol_client, symbol_client_free)

/* Whether a request is on its way. */
bool symbol_client_is_busy(const struct symbol_client *client);

/* Sends a request while none is on its way, starting the worker when there is none; the descriptors stay the
 * caller's, who may close them at once. `timeout_ns` is what the answer may take. Errors: -EBUSY; -EINVAL too
 * many addresses or descriptors; -EAGAIN a worker died a moment ago, or one that was killed is not gone yet:
 * later; what clone(2), execve(2) and sendmsg(2) say. */
int symbol_client_send(struct symbol_client *client, const struct symbol_request *request,
		       const uint64_t *addresses, const int *fds, size_t nr_fds,
		       uint64_t timeout_ns) must_check;

/* Waits for the answer, but not past `until_ns` (CLOCK_MONOTONIC; 0: not at all). Returns 1 when it is there:
 * *ret_error is 0 and *ret_bytes its bytes (malloc'ed, the caller's; NULL when there are none). Or *ret_error is
 * what the worker said, -ETIMEDOUT (killed), -EPIPE (died), -EBADMSG (killed, its answer was none) or -ENOMEM; no
 * bytes then. Returns 0 when it is not there yet, and when none is expected. */
int symbol_client_wait(struct symbol_client *client, uint64_t until_ns, int *ret_error,
		       void **ret_bytes, size_t *ret_len) must_check;

struct symbol_client_stats symbol_client_get_stats(const struct symbol_client *client);

#endif
