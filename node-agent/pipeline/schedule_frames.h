/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel frames by which a thread stops running: those of the scheduler, and of the tracepoint
 * in it. They are the same in all stacks of threads that do not run, and say nothing. */
#ifndef PIPELINE_SCHEDULE_FRAMES_H
#define PIPELINE_SCHEDULE_FRAMES_H

#include "symbol/kernel/kernel_symbols.h"

#include <stddef.h>
#include <linux/types.h>
#include <stdint.h>

#define SCHEDULE_FRAMES_MAX_RANGES 32

struct schedule_frames {
	struct schedule_range {
		uint64_t start, end;
	} ranges[SCHEDULE_FRAMES_MAX_RANGES]; /* in the order of addresses */
	size_t nr;
};

/* Finds the scheduler's functions. */
void schedule_frames_init(struct schedule_frames *frames, const struct kernel_symbols *symbols);

/* Returns the number of frames at the leaf of a kernel stack that are the scheduler's, or lead from
 * it to the tracepoint; 0 if none is known. */
size_t schedule_frames_count(const struct schedule_frames *frames, const __u64 *addresses,
			     size_t nr);

#endif
