/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were sampled in memory that no file backs, and their files.
 *
 * Two threads share a process, and neither waits while the other one works on files:
 *
 *	reader  looks for files, opens them, and leaves the descriptors in `incoming`; holds the
 *		lock except while it opens files
 *	symbolizer  takes the descriptors, has the files read, and names addresses; holds the lock
 *		only while it takes the descriptors
 *
 * Only the symbolizer removes processes, so a process that it has found stays valid while it works.
 * The reader looks a process up again whenever it has released the lock. If there is no room, the
 * reader does not add a process. If it replaced another one instead, whose files would then be read
 * again, a container with many processes could keep the symbolizer busy. */
#ifndef SYMBOL_JIT_JIT_REGISTRY_H
#define SYMBOL_JIT_JIT_REGISTRY_H

#include "base/err.h"
#include "symbol/jit/jit_process_index.h"
#include "symbol/jit/jit_stats.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_REGISTRY_MAX_OPEN 512 /* files; half as many of processes that are not sampled */
#define JIT_REOPEN_NS (UINT64_C(5) * 1000000000) /* interval of looking for a process's files */
#define JIT_FORGET_NS (UINT64_C(10) * 1000000000) /* without a sample, if the process has ended */
#define JIT_IDLE_NS (UINT64_C(600) * 1000000000) /* without a sample, if it lives */

struct jit_registry;

/* Makes an empty registry. `proc_fd` is borrowed. Errors: -ENOMEM. */
int jit_registry_new(int proc_fd, struct jit_registry **ret_registry) must_check;
void jit_registry_free(struct jit_registry *registry);

/* For the reader: see jit_cache_open(). */
uint32_t jit_registry_open(struct jit_registry *registry, const struct jit_sampled *sampled,
			   uint64_t now_ns);

/* For the symbolizer: return a process, or NULL if it is unknown.
 * jit_registry_use() counts as a use of it. */
struct jit_process *jit_registry_find(struct jit_registry *registry, uint32_t id);
struct jit_process *jit_registry_use(struct jit_registry *registry, uint32_t id);

/* For the symbolizer: lists the processes and takes the files that the reader has opened for
 * them. Frees processes that are no longer needed. The listed ones are borrowed until the
 * next call. Returns their number. */
size_t jit_registry_list(struct jit_registry *registry, uint64_t now_ns,
			 struct jit_process *ret_listed[static JIT_PROCESS_INDEX_MAX]);

/* Adds the registry's counters to `stats`. Any thread. */
void jit_registry_add_stats(struct jit_registry *registry, struct jit_stats *stats);

#endif
