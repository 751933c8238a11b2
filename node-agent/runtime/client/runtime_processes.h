/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that have a language runtime, found by id, or by pid and number. Has no lock of its
 * own. */
#ifndef RUNTIME_CLIENT_RUNTIME_PROCESSES_H
#define RUNTIME_CLIENT_RUNTIME_PROCESSES_H

#include "base/err.h"
#include "base/htable.h"
#include "runtime/client/frame_names.h"
#include "runtime/client/runtime_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define RUNTIME_PROCESSES_MAX 4096

/* A process as the reader knows it. */
struct runtime_sampled {
	uint32_t pid;
	uint64_t start_ns; /* since boot; 0: not known */
	uint64_t number; /* distinguishes the programs that had the same pid */
	uint64_t cgroup_id; /* 0: not known */
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

/* A runtime in a process. */
struct runtime_instance {
	struct runtime_known_file *file; /* a reference */
	uint64_t start, offset; /* where the process maps which part of the file */
	enum runtime_state state;
	struct runtime_found
		*own; /* owned; values of this process; NULL: none, or they are shared */
	uint64_t due_ns; /* while it is pending: when to inspect it again */
	uint64_t wait_ns;
	unsigned int nr_waits;
	unsigned int nr_failures;
};

struct runtime_known_process {
	TAILQ_ENTRY(runtime_known_process) work_link; /* while it has frames that can be read */
	TAILQ_ENTRY(runtime_known_process) due_link; /* while an instance is pending */
	uint32_t id;
	struct runtime_sampled sampled; /* now_ns: of the last sample */
	struct runtime_instance instances[RUNTIME_MAX_OF_PROCESS];
	size_t nr_instances;
	struct frame_names frames;
	int memory_fd; /* owned by the thread; negative: not open */
	bool has_work; /* it is in the list */
	bool is_due; /* likewise */
	bool is_asked; /* a request is in progress: it must not be freed */
	bool is_gone; /* its memory cannot be read any more */
	uint32_t max_frames; /* of the next requests */
	unsigned int nr_deaths; /* of workers that read it */
	uint64_t slow_until_ns; /* its requests go to the slow lane */
	uint64_t checked_ns; /* when it was looked for in /proc */
};

TAILQ_HEAD(runtime_work_list, runtime_known_process);
TAILQ_HEAD(runtime_due_list, runtime_known_process);

/* The process with an id is in slot (id - 1) % RUNTIME_PROCESSES_MAX. Each time a slot is reused,
 * its id grows by RUNTIME_PROCESSES_MAX, so that an id returns only after about a million uses of
 * its slot. */
struct runtime_processes {
	struct runtime_known_process **slots; /* owned, as are the processes */
	uint32_t *last_ids; /* owned; by slot */
	size_t nr_slots; /* slots that have ever been used */
	size_t nr_used;
	struct htable by_process; /* slots by pid and number */
	struct runtime_work_list work; /* the process that waits longest first */
	struct runtime_due_list due;
};

/* Errors: -ENOMEM. */
int runtime_processes_init(struct runtime_processes *processes) must_check;
void runtime_processes_done(struct runtime_processes *processes);

/* Return a process, or NULL if it is unknown. */
struct runtime_known_process *runtime_processes_get(const struct runtime_processes *processes,
						    uint32_t id);
struct runtime_known_process *runtime_processes_find(const struct runtime_processes *processes,
						     uint32_t pid, uint64_t number);

/* Adds a process. Errors: -ENOSPC all slots are in use, -ENOMEM. */
int runtime_processes_add(struct runtime_processes *processes,
			  const struct runtime_sampled *sampled,
			  struct runtime_known_process **ret_process) must_check;

/* Removes and frees a process. */
void runtime_processes_remove(struct runtime_processes *processes,
			      struct runtime_known_process *process);

/* Adds a runtime, unless the process has it already or has RUNTIME_MAX_OF_PROCESS of them. Returns
 * whether it was added. */
bool runtime_processes_add_instance(struct runtime_processes *processes,
				    struct runtime_known_process *process,
				    struct runtime_known_file *file, uint64_t start,
				    uint64_t offset);

/* Returns whether an instance needs no inspection: it is no longer pending, or a process of its
 * cgroup was inspected and had the shared values. */
bool runtime_instance_is_settled(const struct runtime_known_process *process,
				 const struct runtime_instance *instance);

/* Returns the values to be used for an instance: its own, or the shared ones; NULL: there are
 * none. */
const struct runtime_found *runtime_instance_found(const struct runtime_instance *instance);

/* Returns what is known of the ready instance of a kind, else NULL. */
const struct runtime_found *runtime_processes_found(const struct runtime_known_process *process,
						    enum runtime_kind kind);

/* Puts the process into the lists that it belongs to now, and removes it from the others. To be
 * called after its instances, its frames or is_asked have changed. */
void runtime_processes_update(struct runtime_processes *processes,
			      struct runtime_known_process *process);

#endif
