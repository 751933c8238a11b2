/* SPDX-License-Identifier: Apache-2.0 */
/* What jit_cache.c (processes, their files, names) and jit_loader.c (what a worker is asked) share.
 *
 * A process is shared by two threads without either waiting for the other's files:
 *
 *	reader	looks for files, opens them, leaves the descriptors in `incoming`	under the lock, but
 *										not while it opens
 *	loader	takes the descriptors, has them read, names				under the lock only
 *										while it takes
 *
 * Only the loader removes processes, so what it has found stays while it works; the reader finds a process anew
 * each time it has let go of the lock. When there is no room the reader adds nothing: to throw out others, which
 * are read anew then, would let one container with many processes keep the loader busy. */
#ifndef SYMBOL_JIT_JIT_CACHE_PARTS_H
#define SYMBOL_JIT_JIT_CACHE_PARTS_H

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_processes.h"
#include "worker/worker_lanes.h"

#include <pthread.h>

/* What a worker is reading. */
struct jit_job {
	uint32_t id; /* of the process, which may be gone by now */
	uint64_t cgroup_id; /* its own */
	size_t kind; /* of its source */
	uint64_t nr_starts; /* of the source, when it was asked for */
	bool is_try; /* it has little time (worker/worker_lanes.h) */
	bool is_late; /* its owner comes last */
	struct jit_request request;
};

struct jit_cache {
	struct jit_cache_opts opts;

	pthread_mutex_t lock;
	struct jit_processes processes;
	struct jit_cache_stats stats;
	uint64_t nr_rounds; /* refreshes so far */
	size_t nr_open; /* descriptors */

	/* The loader's. */
	struct strbuf scratch; /* the name given out last */
	struct symbol_line line; /* as well */
	struct worker_lanes *lanes; /* owned */
	struct jit_job jobs[WORKER_NR_LANES]; /* of the lanes that are busy */
	struct jit_process *listed[JIT_CACHE_MAX_PROCESSES]; /* borrowed; at the last refresh */
	size_t nr_listed;
	size_t first_listed; /* who is read first */
	size_t next_listed; /* behind who was read last */
	size_t nr_passed
		[WORKER_NR_LANES]; /* from there on, that have been looked at for the lane; twice in all */
	uint64_t nr_to_read; /* bytes, by this refresh */
	uint64_t now_ns; /* at the last refresh */
	uint64_t counted_ns; /* when memory was counted last (CLOCK_MONOTONIC) */
};

static inline void jit_cache_unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the cache's lock up to the end of the block. */
#define LOCKED(cache)                                                                              \
	_cleanup_(jit_cache_unlockp) pthread_mutex_t *locked_ = &(cache)->lock;                    \
	pthread_mutex_lock(locked_)

/* jit_cache.c: begins a refresh: lists the processes for the loader, with the files that the reader has opened, and
 * without those that are over, which are returned in a chain, the caller's to free. */
struct jit_process *jit_cache_list(struct jit_cache *cache, uint64_t now_ns);

#endif
