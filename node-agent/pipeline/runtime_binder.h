/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the unwinder the values of language runtimes (runtime/client). Layouts that processes share
 * go to the slots of their files; descriptors of a single process go into its list of mappings.
 *
 *	process is bound ─▶ its files are asked ─▶ some are runtimes ─▶ the process is inspected
 *	  ▲                                                                            │
 *	  └────── again, when there is an answer that changes its mapping table ◀──────┘
 *
 * A process without runtimes costs a look at each of its mappings whenever it is bound. Belongs to
 * the reader's thread. */
#ifndef PIPELINE_RUNTIME_BINDER_H
#define PIPELINE_RUNTIME_BINDER_H

#include "process/process_set.h"
#include "process/process_table.h"
#include "runtime/client/runtimes.h"
#include "unwind/unwind_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For this time after a process with missing answers was bound, the reader looks for answers at
 * this interval. */
#define RUNTIME_BINDER_HURRY_NS (UINT64_C(1000) * 1000000)
#define RUNTIME_BINDER_STEP_NS (UINT64_C(5) * 1000000)

struct runtime_binder {
	struct runtimes *runtimes; /* borrowed; NULL: no runtimes are wanted */
	struct process_table *processes; /* borrowed */
	struct unwind_tables *tables; /* borrowed */
	uint32_t *pids; /* owned; processes about which an answer is missing */
	size_t nr_pids, cap_pids;
	uint64_t generation; /* of the answers, at the last flush */
	uint64_t hurry_until_ns;
};

void runtime_binder_done(struct runtime_binder *binder);

/* Asks whether a file is a runtime. The file must have its slot; `fd` stays the caller's. */
void runtime_binder_add_file(struct runtime_binder *binder, const struct process *process,
			     struct mapped_file *file, int fd);

/* Call it before a file is freed. */
void runtime_binder_remove_file(struct runtime_binder *binder, const struct mapped_file *file);

/* Puts the known descriptors of a process into its list of mappings. Call it before the process is
 * bound, when its files have their slots. */
void runtime_binder_bind(struct runtime_binder *binder, struct process *process, uint64_t now_ns);

/* Looks for answers. Calls `rebind` for processes whose lists of mappings have changed. */
void runtime_binder_flush(struct runtime_binder *binder, uint64_t now_ns,
			  void (*rebind)(struct process *process, void *data), void *data);

/* Returns the time of the next flush that should not be late; UINT64_MAX: none. */
uint64_t runtime_binder_next_ns(const struct runtime_binder *binder, uint64_t now_ns);

/* Returns the id of a process for runtimes_frame(); 0 if there is no room for it. */
uint32_t runtime_binder_process(struct runtime_binder *binder, const struct process *process,
				uint64_t now_ns);

#endif
