/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were sampled in memory without a file, and their files.
 *
 * A process is shared by two threads without either waiting for the other's files:
 *
 *	reader	looks for files, opens them, leaves the descriptors in `incoming`; holds the lock,
 *		but not while it opens
 *	loader	takes the descriptors, has them read, names; holds the lock only while it takes
 *
 * Only the loader removes processes, so what it has found stays while it works; the reader finds a
 * process anew each time it has let go of the lock. When there is no room the reader adds nothing:
 * to throw out others, which are read anew then, would let one container with many processes keep
 * the loader busy. */
#ifndef SYMBOL_JIT_JIT_REGISTRY_H
#define SYMBOL_JIT_JIT_REGISTRY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/jit/jit_process_index.h"
#include "symbol/jit/jit_stats.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_REGISTRY_MAX_OPEN 512 /* files; of those that are not sampled, half as many */
#define JIT_REOPEN_NS (UINT64_C(5) * 1000000000) /* between two looks for a process's files */
#define JIT_FORGET_NS (UINT64_C(10) * 1000000000) /* not sampled, and has ended */
#define JIT_IDLE_NS (UINT64_C(600) * 1000000000) /* not sampled */

struct jit_registry;

/* `proc_fd` is borrowed. Errors: -ENOMEM. */
int jit_registry_new(int proc_fd, struct jit_registry **ret_registry) must_check;
void jit_registry_free(struct jit_registry *registry);
DEFINE_FREEP(struct jit_registry, jit_registry_free)

/* For the reader: as jit_cache_open(). */
uint32_t jit_registry_open(struct jit_registry *registry, const struct jit_sampled *sampled,
			   uint64_t now_ns);

/* For the loader: a process, NULL when it is not known; the second one counts as a use of it. */
struct jit_process *jit_registry_find(struct jit_registry *registry, uint32_t id);
struct jit_process *jit_registry_use(struct jit_registry *registry, uint32_t id);

/* For the loader: lists the processes, with the files that the reader has opened; the list is
 * borrowed until the next one. Frees those that are over. Returns how many are listed. */
size_t jit_registry_list(struct jit_registry *registry, uint64_t now_ns,
			 struct jit_process *ret_listed[static JIT_PROCESS_INDEX_MAX]);

/* Any thread. */
void jit_registry_add_stats(struct jit_registry *registry, struct jit_stats *stats);

#endif
