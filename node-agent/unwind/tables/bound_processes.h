/* SPDX-License-Identifier: Apache-2.0 */
/* Which process has which mapping table (MAPPING_BINDING() of bpf/shared/cfi.h): what the map
 * `processes` is to BPF programs. When it is full, the process that was looked up longest ago
 * goes. */
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
	/* Owned. [0] is nobody's: its `older` is the newest one, its `newer` the oldest one. */
	struct bound_process *items;
	uint32_t max;
	uint32_t end; /* no item from here on was ever in use */
	uint32_t first_free; /* linked by `older`; 0 ends it */
};

/* Errors: -ENOMEM. */
int bound_processes_init(struct bound_processes *processes, uint32_t max) must_check;
void bound_processes_done(struct bound_processes *processes);

/* NULL when it is not there. Valid until the next change. */
uint64_t *bound_processes_find(struct bound_processes *processes, uint32_t pid);

/* Adds or overwrites. Errors: -ENOMEM. */
int bound_processes_set(struct bound_processes *processes, uint32_t pid, uint64_t binding)
	must_check;

/* Nothing happens when it is not there. */
void bound_processes_remove(struct bound_processes *processes, uint32_t pid);

/* Removes all. */
void bound_processes_clear(struct bound_processes *processes);

#endif
