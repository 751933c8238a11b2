/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "runtimes", which has workers (runtime/worker) read files and processes, one request
 * at a time in each lane:
 *
 *	file	a new file ─▶ is it a runtime?
 *	inspect	a runtime of a process that is not known yet ─▶ what the unwinder must know; again and
 *		again, ever more seldom, while the runtime is starting
 *	names	frames that occurred for the first time ─▶ their lines
 *	too slow in the fast lane	the request is repeated in the slow lane, as are those of the process
 *	worker died	of a request with many frames: they are asked for one by one, so that one
 *			of them cannot cost the others their names */
#ifndef RUNTIME_CLIENT_RUNTIME_THREAD_H
#define RUNTIME_CLIENT_RUNTIME_THREAD_H

#include "base/err.h"
#include "runtime/client/runtime_registry.h"

#include <stdint.h>

/* Time limits of one request. The first try in the fast lane has less time (worker_lanes.h). */
#define RUNTIME_REQUEST_NS (UINT64_C(10) * 1000000000)
#define RUNTIME_REQUEST_CPU_S 5

/* A runtime that is starting is inspected again after RUNTIME_INSPECT_MIN_NS, for the first
 * RUNTIME_INSPECT_NR_MIN times. From then on, the time doubles up to RUNTIME_INSPECT_MAX_NS.
 * HotSpot has its code heaps a tenth of a second after its start. */
#define RUNTIME_INSPECT_MIN_NS (UINT64_C(20) * 1000000)
#define RUNTIME_INSPECT_NR_MIN 15
#define RUNTIME_INSPECT_MAX_NS (UINT64_C(2000) * 1000000)

/* A runtime is not inspected any more if its memory could not be read, or was not that of a known
 * version, this many times: in 0.9 s. Before the dynamic linker has relocated a library, which
 * takes long on a busy machine, HotSpot's pointers to its tables lead nowhere. */
#define RUNTIME_INSPECT_MAX_FAILURES 20

struct runtime_thread;

/* The registry is borrowed, and outlives the thread. Errors: -ENOMEM, -EAGAIN. */
int runtime_thread_start(struct runtime_registry *registry, const struct runtimes_opts *opts,
			 struct runtime_thread **ret_thread) must_check;

/* NULL is fine. */
void runtime_thread_stop(struct runtime_thread *thread);

#endif
