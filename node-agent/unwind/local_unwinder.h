/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds user stacks where no BPF program can: from copies that the kernel made of them, with
 * the same tables, lists and code (bpf/unwind_native.bpf.c). Belongs to one thread, the one that
 * binds processes (mapping_tables.h).
 *
 * A copy is an instant; the process runs on while it is unwound, and nothing of its memory is
 * read. So a stack that leaves its copy ends there: above a copy that is cut with UNWIND_TRUNCATED.
 * But where Go's runtime has left a goroutine's stack for its own, which the copy is of, the
 * goroutine's frames are those that the kernel found in the same instant by frame pointers. What
 * only code tells (of C libraries without CFI, what ends a signal handler or a thread) is not
 * known. */
#ifndef UNWIND_LOCAL_UNWINDER_H
#define UNWIND_LOCAL_UNWINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/events.h"
#include "bpf/shared/stack_copy.h"
#include "process/proc_event.h"
#include "unwind/tables/unwind_memory.h"

#include <stdbool.h>

struct local_unwinder;

/* `memory` is of unwind_memory_local_new(), is borrowed and outlives the unwinder. Errors:
 * -ENOMEM. */
int local_unwinder_new(struct unwind_memory *memory, struct local_unwinder **ret_unwinder)
	must_check;
void local_unwinder_free(struct local_unwinder *unwinder);
DEFINE_FREEP(struct local_unwinder, local_unwinder_free)

/* Appends the user frames to those of the kernel in `event`, whose pid and nr_kernel are set;
 * sets nr_user and unwind_result. Returns whether the agent should look at the process now: it
 * is not known, or code was met that is in none of its mappings. */
bool local_unwinder_unwind(struct local_unwinder *unwinder, const struct stack_copy *copy,
			   struct sample_event *event);

/* Keeps bindings true between two looks of the agent, as bpf/process.bpf.c does: to be told in
 * the order of time, with the samples in between. */
void local_unwinder_follow(struct local_unwinder *unwinder, const struct proc_event *event);

/* Events were lost: no binding is known to be true any more. */
void local_unwinder_lose_events(struct local_unwinder *unwinder);

#endif
