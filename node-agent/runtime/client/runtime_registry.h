/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the threads of runtimes.h share. Only the thread "runtimes" removes processes,
 * so that it may use them without the lock. */
#ifndef RUNTIME_CLIENT_RUNTIME_REGISTRY_H
#define RUNTIME_CLIENT_RUNTIME_REGISTRY_H

#include "runtime/client/code_copies.h"
#include "runtime/client/runtime_files.h"
#include "runtime/client/runtime_processes.h"
#include "runtime/client/runtimes.h"

#include <pthread.h>

struct runtime_registry {
	int wake_fd; /* owned; eventfd(2): there is something new to do */
	size_t max_bytes; /* of frames and names */
	uint32_t kinds; /* that are wanted */
	uint64_t generation; /* atomic: see runtimes_generation() */

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t is_idle_now;
	bool is_idle; /* nothing is left to read that runtimes_wait() waits for */
	uint64_t nr_wakes; /* times that something new was to do */
	uint64_t wake_due_ns; /* when the thread is woken for the rest; UINT64_MAX: never */
	struct runtime_files files;
	struct runtime_processes processes;
	struct code_copies copies;
	struct runtimes_stats stats; /* counters only */
};

/* Errors: -ENOMEM, those of eventfd(2). */
int runtime_registry_init(struct runtime_registry *registry, const struct runtimes_opts *opts)
	must_check;
void runtime_registry_done(struct runtime_registry *registry);

/* Says, with the lock, that there is something to do, and wakes the thread. */
void runtime_registry_wake(struct runtime_registry *registry);

/* The same, but the thread is not woken before a runtime_registry_flush() at `due_ns`: names that
 * are read together cost less. */
void runtime_registry_wake_later(struct runtime_registry *registry, uint64_t due_ns);

/* Wakes the thread, with the lock, if that is due at `now_ns`; UINT64_MAX: if it will ever be. */
void runtime_registry_flush(struct runtime_registry *registry, uint64_t now_ns);

/* Says, with the lock, that an answer has come. */
void runtime_registry_tell(struct runtime_registry *registry);

#endif
