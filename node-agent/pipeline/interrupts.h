/* SPDX-License-Identifier: Apache-2.0 */
/* Time in interrupts, as an identity of its own: the process "[interrupts]", with a thread for each
 * kind. The kernel counts for how long each CPU was in each kind of interrupt. The stacks that the
 * timer found in soft interrupts of this kind, on this CPU and in this second, share that time
 * equally. Time without a stack is that of the kind alone. */
#ifndef PIPELINE_INTERRUPTS_H
#define PIPELINE_INTERRUPTS_H

#include "bpf/shared/events.h"
#include "pipeline/kernel_ranges.h"
#include "pipeline/window_filler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERRUPTS_MAX_STACKS 4096 /* of a second; what is over leaves more time to the others */
#define INTERRUPT_NAME_BYTES 48

struct sample_source;
struct interrupt_stack;

struct interrupts {
	struct sample_source *source; /* borrowed; NULL: there are none */
	struct window_filler *filler; /* borrowed */
	struct window_series *series, *cpu_series; /* borrowed; the latter NULL: is not wanted */
	struct kernel_ranges entries; /* the functions that call soft interrupts */
	struct interrupt_stack *stacks; /* owned; since the last time that was told */
	size_t nr_stacks, cap_stacks;
	struct sample_event event; /* under construction */
	uint64_t now_ns; /* during a tick */
};

/* Finds the functions that call soft interrupts. */
void interrupts_learn_kernel(struct interrupts *interrupts, const struct kernel_symbols *symbols);

/* Forgets the time before. */
void interrupts_start(struct interrupts *interrupts, uint64_t now_ns);

/* Takes a sample of the kernel's code around soft interrupts, which is CPU time of interrupts too.
 * Returns false if it is something else. */
bool interrupts_take_sample(struct interrupts *interrupts, const struct sample_event *event);

/* Takes a RECORD_INTERRUPT. It is CPU time as well, of the same identity. */
void interrupts_add(struct interrupts *interrupts, const struct sample_event *event);

/* Adds the time since the last call to the present window if that is over, or at the end of the
 * recording. To be called before the window is closed. */
void interrupts_tick(struct interrupts *interrupts, uint64_t now_ns);
void interrupts_close(struct interrupts *interrupts, uint64_t now_ns);

/* Releases memory. */
void interrupts_done(struct interrupts *interrupts);

#endif
