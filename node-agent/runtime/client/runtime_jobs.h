/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of the thread "runtimes": which is the next one for a lane, and what its answer
 * changes. All functions are called with the registry's lock. */
#ifndef RUNTIME_CLIENT_RUNTIME_JOBS_H
#define RUNTIME_CLIENT_RUNTIME_JOBS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/client/runtime_registry.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame that waits to be read. */
struct runtime_job_frame {
	uint32_t process; /* id: it may be forgotten meanwhile */
	uint32_t number;
};

/* A request to a worker, and about what. */
struct runtime_job {
	enum runtime_request_kind kind;
	uint64_t owner; /* cgroup id */
	uint32_t pid; /* of the process, if there is one */
	uint64_t start_ns; /* likewise, since boot; 0: not known */
	bool is_try; /* with a short time limit (worker/worker_lanes.h) */
	bool is_late; /* its owner has the lowest rank */
	struct runtime_known_file *file; /* a reference; of RUNTIME_REQUEST_FILE */
	/* Borrowed; of RUNTIME_REQUEST_PROCESS and RUNTIME_REQUEST_NAMES: is_asked is set. */
	struct runtime_known_process *process;
	size_t instance; /* of RUNTIME_REQUEST_PROCESS */
	/* Of RUNTIME_REQUEST_NAMES and RUNTIME_REQUEST_COPIES. */
	struct runtime_job_frame frames[RUNTIME_MAX_FRAMES];
	size_t nr_frames;
};

/* Chooses the next request for a lane, and writes its bytes. `turn` counts the requests, so that
 * files and processes take turns. Returns whether there is one; runtime_job_end() must follow. */
bool runtime_job_next(struct runtime_registry *registry, const struct worker_lanes *lanes,
		      enum worker_lane lane, uint64_t turn, struct runtime_job *ret_job,
		      struct strbuf *request);

/* Returns the time at which the next instance is to be inspected; UINT64_MAX: none. */
uint64_t runtime_job_next_due_ns(const struct runtime_registry *registry);

/* Ends a request that was not sent: it is chosen again. */
void runtime_job_put_back(struct runtime_registry *registry, struct runtime_job *job);

/* The memory of the process cannot be opened: it has ended, or must not be read. */
void runtime_job_lose_process(struct runtime_registry *registry, struct runtime_job *job);

/* The reply of a worker. */
struct runtime_reply {
	int error; /* see worker_client_wait() */
	const void *bytes;
	size_t len;
	bool is_again; /* it took too long, and is asked again in the slow lane */
	uint64_t now_ns;
};

/* Ends a request with its reply. Errors: -EBADMSG the worker sent nonsense, and must be ended. */
int runtime_job_end(struct runtime_registry *registry, struct runtime_job *job,
		    const struct runtime_reply *reply) must_check;

#endif
