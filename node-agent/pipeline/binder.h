/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the kernel side's view of sampled processes up to date: which files they map where, so that
 * their stacks can be unwound. It brings what the process table learns to the unwind tables
 * (unwind/unwind_tables.h).
 *
 * A process is bound when it is sampled for the first time, and again when its mappings have
 * changed. A process that is never sampled costs nothing. Files that were opened once stay known
 * for a while (kept_files.h), so that the stacks of processes that end before they are bound can be
 * unwound as well. Belongs to the reader's thread. */
#ifndef PIPELINE_BINDER_H
#define PIPELINE_BINDER_H

#include "bpf/shared/events.h"
#include "pipeline/runtime_binder.h"
#include "process/process_table.h"
#include "unwind/unwind_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binder {
	int proc_fd; /* borrowed */
	struct process_table *processes; /* borrowed */
	struct unwind_tables *tables; /* borrowed */
	uint32_t *pids; /* owned; processes to be bound */
	size_t nr_pids, cap_pids;
	uint64_t budget_end_ns; /* end of the present second */
	uint64_t open_ns; /* time spent opening files in this second */
	bool is_full; /* in this flush a file found no room */
	struct runtime_binder runtimes;
};

/* Watches what the table frees. Call it before the table is used. */
void binder_init(struct binder *binder, int proc_fd, struct process_table *processes,
		 struct unwind_tables *tables);
void binder_done(struct binder *binder);

/* Makes the unwinder know language runtimes. They are borrowed, and outlive the processes. */
void binder_use_runtimes(struct binder *binder, struct runtimes *runtimes);

/* Call it after an event was applied to the table. */
void binder_see_event(struct binder *binder, const struct proc_event *event);

/* Call it before a sample is located. If the kernel side met another file than the known one, the
 * file was changed or replaced. */
void binder_check_sample(struct binder *binder, const struct sample_event *event);

/* Call it after a sample was located, when the table knows its process. */
void binder_see_sample(struct binder *binder, const struct sample_event *event);

/* Binds a process now, so that its sample can be unwound before it is located. */
void binder_bind(struct binder *binder, struct process *process, uint64_t now_ns);

/* Binds processes that have changed since the last call. */
void binder_flush(struct binder *binder, uint64_t now_ns);

#endif
