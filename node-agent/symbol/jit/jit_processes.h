/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that a jit_cache has met: numbered, found by pid and number, at most JIT_CACHE_MAX_PROCESSES.
 * Not locked; which field is whose is told below. */
#ifndef SYMBOL_JIT_JIT_PROCESSES_H
#define SYMBOL_JIT_JIT_PROCESSES_H

#include "base/htable.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that the reader has opened for the loader to take. */
struct jit_file {
	int fd; /* owned; negative: none */
	struct file_identity identity;
};

struct jit_process {
	/* Set once. */
	uint32_t id;
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id; /* it was met in; 0: not known */

	/* Under the cache's lock. */
	uint64_t last_use_ns; /* sampled */
	uint64_t keep_until_ns;
	uint64_t last_use_round; /* sampled or named: how many refreshes there had been */
	uint64_t next_look_ns;
	bool is_java;
	bool has_file; /* now or before */
	bool is_refused[JIT_SOURCE_KINDS]; /* at the last look */
	bool is_open[JIT_SOURCE_KINDS]; /* the loader has, or gets, a descriptor of the next */
	struct file_identity identities[JIT_SOURCE_KINDS];
	struct jit_file incoming[JIT_SOURCE_KINDS];

	/* The loader's. */
	struct jit_source sources[JIT_SOURCE_KINDS];
	size_t nr_to_read
		[JIT_SOURCE_KINDS]; /* bytes that this refresh may still read of the file */
	bool is_asked[JIT_SOURCE_KINDS]; /* for what is new; the answer is on its way */
	uint64_t
		slow_until_ns; /* a worker had trouble with it: its requests are for the slow one */
	bool writes_java; /* copy of is_java */
	uint64_t blocked_until_ns; /* its functions were dropped, or a worker failed at them */
	uint64_t used_ns; /* copy of last_use_ns */
	bool has_more; /* to be read, sampled or not */
	bool was_used; /* since the last refresh */
	size_t nr_bytes;
	size_t nr_functions;
	struct jit_process *next_over;
};

/* Process number `id` is in slot (id - 1) % JIT_CACHE_MAX_PROCESSES. Each time a slot is reused its number goes
 * up by that many, so that no id is given twice before 2^32 / JIT_CACHE_MAX_PROCESSES others. */
struct jit_processes {
	struct jit_process **slots; /* owned, JIT_CACHE_MAX_PROCESSES, as their elements */
	uint32_t *last_ids; /* owned, of each slot */
	size_t nr_slots; /* in use at some time */
	size_t nr_used;
	struct htable index; /* slots by pid and number */
};

/* Errors: -ENOMEM. */
int jit_processes_init(struct jit_processes *processes) must_check;
void jit_processes_done(struct jit_processes *processes);

/* NULL when unknown. */
struct jit_process *jit_processes_get(const struct jit_processes *processes, uint32_t id);
struct jit_process *jit_processes_find(const struct jit_processes *processes, uint32_t pid,
				       uint64_t number);

/* Errors: -ENOSPC all are in use, -ENOMEM. */
int jit_processes_add(struct jit_processes *processes, uint32_t pid, uint64_t number,
		      uint64_t cgroup_id, struct jit_process **ret_process) must_check;

/* Takes a process out; the caller frees it. */
void jit_processes_remove(struct jit_processes *processes, struct jit_process *process);

/* Closes and frees all it has. */
void jit_process_free(struct jit_process *process);

#endif
