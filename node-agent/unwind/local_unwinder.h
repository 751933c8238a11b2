/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds user stacks where no BPF program can: from copies that the kernel made of them, with
 * the same tables, lists and code (bpf/unwind_native.bpf.c). Belongs to one thread, the one that
 * binds processes (mapping_tables.h).
 *
 * A copy shows one instant. The process runs on while the copy is unwound, and nothing of its
 * memory is read. So a stack that leaves its copy ends there; above a truncated copy it ends with
 * UNWIND_TRUNCATED. If Go's runtime has left a goroutine's stack for its own, and the copy is of
 * the latter, then the goroutine's frames are those that the kernel found in the same instant by
 * frame pointers. Facts that only code tells are not known: in C libraries without CFI, the code
 * that ends a signal handler or a thread. */
#ifndef UNWIND_LOCAL_UNWINDER_H
#define UNWIND_LOCAL_UNWINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/cfi.h"
#include "bpf/shared/events.h"
#include "process/proc_event.h"
#include "unwind/tables/unwind_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct local_unwinder;

/* The part of a thread's stack that the kernel copied for one sample, with its registers. */
struct stack_copy {
	uint64_t regs[NR_REGS]; /* by DWARF number */
	uint32_t missing; /* bits of registers that the kernel does not report */
	uint64_t ip;
	uint64_t address; /* of the first byte of the copy: the stack pointer */
	const uint8_t *bytes; /* borrowed */
	size_t len;
	/* the stack may go on above the copy: as much was copied as there was room for */
	bool is_truncated;
	/* borrowed, not aligned: addresses that the kernel found by frame pointers, ip first */
	const uint8_t *chain;
	size_t nr_chain; /* addresses */
};

/* `memory` is borrowed and outlives the unwinder, which reads the tables that are there now: memory
 * of BPF maps may get more, for which a new unwinder is needed. Errors: -ENOMEM, those of
 * unwind_memory_open_view(). */
int local_unwinder_new(struct unwind_memory *memory, struct local_unwinder **ret_unwinder)
	must_check;
void local_unwinder_free(struct local_unwinder *unwinder);
DEFINE_FREEP(struct local_unwinder, local_unwinder_free)

/* Appends the user frames to those of the kernel in `event`, whose pid and nr_kernel are set;
 * sets nr_user and unwind_result. Returns whether the agent should look at the process now: it
 * is not known, or code was met that is in none of its mappings. */
bool local_unwinder_unwind(struct local_unwinder *unwinder, const struct stack_copy *copy,
			   struct sample_event *event);

/* For memory of unwind_memory_local_new(). Keeps bindings true between two looks of the agent, as
 * bpf/process.bpf.c does: to be told in the order of time, with the samples in between. */
void local_unwinder_follow(struct local_unwinder *unwinder, const struct proc_event *event);

/* The same memory. Events were lost: no binding is known to be true any more. */
void local_unwinder_lose_events(struct local_unwinder *unwinder);

#endif
