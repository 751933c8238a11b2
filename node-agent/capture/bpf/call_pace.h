/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when calls of allocators are looked at (bpf/shared/heap.h). A call that is looked at
 * takes much longer, so that happens in windows of time: one in each cycle, so long that all calls
 * together take at most 1 % of a CPU longer.
 *
 * What is allocated in a window stands for what is allocated in the cycle. A program that does
 * little but allocate runs more slowly in a window, though. If that matters, the CPU time tells how
 * much of the program's work was in the window: what it used there, without that of the traps, and
 * in the whole cycle. */
#ifndef CAPTURE_BPF_CALL_PACE_H
#define CAPTURE_BPF_CALL_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* The next cycle. */
struct call_plan {
	uint64_t cycle_ns, window_ns; /* the window may be the whole cycle */
	uint64_t mean_bytes, scale; /* as in heap_window */
};

/* What a cycle has brought. */
struct call_result {
	uint64_t cycle_ns, window_ns;
	uint64_t nr_calls, nr_slow; /* in the window; all, and the slow ones of them */
	uint64_t bytes; /* that they have allocated */
	uint64_t stacks_ns; /* CPU time for the stacks of some of them */
	uint64_t cpu_cycle_ns, cpu_window_ns; /* CPU time of the processes */
};

struct call_pace {
	uint64_t trap_ns; /* of a call that is not slow */
	double duty; /* the share of windows in the time */
	/* Sums over the last cycles; those long ago count less. */
	double cycles_ns, windows_ns, traps_ns, bytes;
	double cpu_cycles_ns, cpu_windows_ns;
};

/* Begins with a short cycle. `trap_ns`: how much longer a call takes that is looked at. */
struct call_plan call_pace_begin(struct call_pace *pace, uint64_t trap_ns);

struct call_plan call_pace_next(struct call_pace *pace, const struct call_result *result);

/* Returns whether the plan's window never ends. */
static inline bool call_plan_is_always(const struct call_plan *plan)
{
	return plan->window_ns == plan->cycle_ns;
}

#endif
