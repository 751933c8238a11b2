/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping tables of processes (MAPPING_BINDING() of bpf/shared/cfi.h), as the map
 * `processes` has them for BPF programs. When it is full, the process that was looked up longest
 * ago is removed. */
#ifndef UNWIND_TABLES_BOUND_PROCESSES_H
#define UNWIND_TABLES_BOUND_PROCESSES_H

#include "base/err.h"
#include "base/htable.h"

#include <stdint.h>

struct bound_process {
	uint64_t binding;
	uint32_t pid;
	uint32_t newer; /* both by index */
	uint32_t older;
};

struct bound_processes {
	struct htable index; /* by pid */
	/* Owned. [0] is no process: its `older` is the newest one, its `newer` the oldest one. */
	struct bound_process *items;
	uint32_t max;
	uint32_t end; /* no item from here on was ever in use */
	uint32_t first_free; /* linked by `older`; 0 ends it */
};

/* Makes room for `max` processes. Errors: -ENOMEM. */
int bound_processes_init(struct bound_processes *processes, uint32_t max) must_check;
void bound_processes_done(struct bound_processes *processes);

/* Returns the binding of a process, or NULL. Valid until the next change. */
uint64_t *bound_processes_find(struct bound_processes *processes, uint32_t pid);

/* Adds or overwrites a binding. Errors: -ENOMEM. */
int bound_processes_set(struct bound_processes *processes, uint32_t pid, uint64_t binding)
	must_check;

/* Removes a process, if it is there. */
void bound_processes_remove(struct bound_processes *processes, uint32_t pid);

/* Removes all. */
void bound_processes_clear(struct bound_processes *processes);

#endif
