/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were met: numbered, found by pid and number, at most JIT_PROCESS_INDEX_MAX.
 * Not locked; which field is whose is told below. */
#ifndef SYMBOL_JIT_JIT_PROCESS_INDEX_H
#define SYMBOL_JIT_JIT_PROCESS_INDEX_H

#include "base/htable.h"
#include "process/process_table.h"
#include "symbol/jit/jit_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_PROCESS_INDEX_MAX 4096

/* A file that the reader has opened for the loader to take. */
struct jit_file {
	int fd; /* owned; negative: none */
	struct file_identity identity;
};

/* A process that was sampled; as for jit_cache_open(). */
struct jit_sampled {
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id;
	const struct mapping_list *mappings; /* borrowed */
};

struct jit_process {
	/* Set once. */
	uint32_t id;
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id; /* it was met in; 0: not known */

	/* Under the registry's lock. */
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

/* Process number `id` is in slot (id - 1) % JIT_PROCESS_INDEX_MAX. Each time a slot is reused its
 * number goes up by that many, so that no id is given twice before 2^32 / JIT_PROCESS_INDEX_MAX
 * others. */
struct jit_process_index {
	struct jit_process **slots; /* owned, JIT_PROCESS_INDEX_MAX, as their elements */
	uint32_t *last_ids; /* owned, of each slot */
	size_t nr_slots; /* in use at some time */
	size_t nr_used;
	struct htable by_process; /* slots by pid and number */
};

/* Errors: -ENOMEM. */
int jit_process_index_init(struct jit_process_index *index) must_check;
void jit_process_index_done(struct jit_process_index *index);

/* NULL when unknown. */
struct jit_process *jit_process_index_get(const struct jit_process_index *index, uint32_t id);
struct jit_process *jit_process_index_find(const struct jit_process_index *index,
					   const struct jit_sampled *sampled);

/* Errors: -ENOSPC all are in use, -ENOMEM. */
int jit_process_index_add(struct jit_process_index *index, const struct jit_sampled *sampled,
			  struct jit_process **ret_process) must_check;

/* Takes a process out; the caller frees it. */
void jit_process_index_remove(struct jit_process_index *index, struct jit_process *process);

/* Closes and frees all it has. */
void jit_process_free(struct jit_process *process);

#endif
