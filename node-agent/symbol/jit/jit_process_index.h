/* SPDX-License-Identifier: Apache-2.0 */
/* At most JIT_PROCESS_INDEX_MAX processes, found by id, or by pid and number. Has no lock of its
 * own; the comments in struct jit_process say which thread may use which field. */
#ifndef SYMBOL_JIT_JIT_PROCESS_INDEX_H
#define SYMBOL_JIT_JIT_PROCESS_INDEX_H

#include "base/htable.h"
#include "process/process_table.h"
#include "symbol/jit/jit_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_PROCESS_INDEX_MAX 4096

/* A file that the reader has opened for the symbolizer. */
struct jit_file {
	int fd; /* owned; negative: none */
	struct file_identity identity;
};

/* A process that was sampled; see jit_cache_open(). */
struct jit_sampled {
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id;
	const struct mapping_list *mappings; /* borrowed */
};

struct jit_process {
	/* Set once, for all threads. */
	uint32_t id;
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id; /* at the first sample; 0: unknown */

	/* Under the registry's lock. */
	uint64_t last_use_ns; /* time of the last sample */
	uint64_t keep_until_ns;
	uint64_t last_use_round; /* number of refreshes before the last sample or name */
	uint64_t next_look_ns;
	bool is_java;
	bool has_file; /* now or before */
	bool is_refused[JIT_SOURCE_KINDS]; /* at the last look */
	bool is_open[JIT_SOURCE_KINDS]; /* the symbolizer has, or will take, a descriptor */
	struct file_identity identities[JIT_SOURCE_KINDS];
	struct jit_file incoming[JIT_SOURCE_KINDS];

	/* Only for the symbolizer. */
	struct jit_source sources[JIT_SOURCE_KINDS];
	size_t nr_to_read[JIT_SOURCE_KINDS]; /* bytes left for this refresh */
	bool is_asked[JIT_SOURCE_KINDS]; /* a request is in progress */
	uint64_t slow_until_ns; /* its requests go to the slow lane */
	bool writes_java; /* copy of is_java */
	uint64_t blocked_until_ns; /* not read: its functions were dropped or a worker failed */
	uint64_t used_ns; /* copy of last_use_ns */
	bool has_more; /* left to read, even if it is not sampled again */
	bool was_used; /* sampled or named since the last refresh */
	size_t nr_bytes;
	size_t nr_functions;
	struct jit_process *next_over; /* in the list of processes to free */
};

/* The process with an id is in slot (id - 1) % JIT_PROCESS_INDEX_MAX. Each time a slot is reused,
 * its id grows by JIT_PROCESS_INDEX_MAX, so that an id returns only after about a million uses of
 * its slot. */
struct jit_process_index {
	struct jit_process **slots; /* owned, as are the processes; JIT_PROCESS_INDEX_MAX */
	uint32_t *last_ids; /* owned; by slot */
	size_t nr_slots; /* slots that have ever been used */
	size_t nr_used;
	struct htable by_process; /* slots by pid and number */
};

/* Makes an empty index. Errors: -ENOMEM. */
int jit_process_index_init(struct jit_process_index *index) must_check;
void jit_process_index_done(struct jit_process_index *index);

/* Return a process, or NULL if it is unknown. */
struct jit_process *jit_process_index_get(const struct jit_process_index *index, uint32_t id);
struct jit_process *jit_process_index_find(const struct jit_process_index *index,
					   const struct jit_sampled *sampled);

/* Adds a process. Errors: -ENOSPC all slots are in use, -ENOMEM. */
int jit_process_index_add(struct jit_process_index *index, const struct jit_sampled *sampled,
			  struct jit_process **ret_process) must_check;

/* Removes a process; the caller frees it. */
void jit_process_index_remove(struct jit_process_index *index, struct jit_process *process);

/* Frees a process and everything it owns. NULL is fine. */
void jit_process_free(struct jit_process *process);

#endif
