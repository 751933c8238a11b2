/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel frames by which a thread stops running, or wakes another one: those of the scheduler,
 * and of the tracepoint in it. They are the same in all such stacks, and say nothing. */
#ifndef PIPELINE_SCHEDULE_FRAMES_H
#define PIPELINE_SCHEDULE_FRAMES_H

#include "pipeline/kernel_ranges.h"

#include <linux/types.h>
#include <stddef.h>

/* Finds the scheduler's functions. */
void schedule_frames_init(struct kernel_ranges *frames, const struct kernel_symbols *symbols);

/* Returns the number of frames at the leaf of the kernel stack of a thread that does not run that
 * are the scheduler's, or lead from it to the tracepoint; 0 if none is known. */
size_t schedule_frames_count(const struct kernel_ranges *frames, const __u64 *addresses, size_t nr);

/* The same for a thread that wakes another one. */
size_t schedule_frames_count_waking(const struct kernel_ranges *frames, const __u64 *addresses,
				    size_t nr);

#endif
