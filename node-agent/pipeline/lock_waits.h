/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for locks (bpf/shared/lock.h), of the kernel and of user space, from records to windows.
 * Belongs to the reader thread. */
#ifndef PIPELINE_LOCK_WAITS_H
#define PIPELINE_LOCK_WAITS_H

#include "bpf/shared/events.h"
#include "pipeline/blocks.h"
#include "pipeline/kernel_ranges.h"
#include "pipeline/lock_places.h"
#include "pipeline/window_filler.h"
#include "pipeline/window_series.h"

struct kernel_symbols;

struct lock_waits {
	struct window_filler *filler; /* this and the series: borrowed */
	struct window_series *delay; /* nanoseconds */
	struct window_series *contentions; /* NULL: they are not counted */
	struct kernel_ranges frames, interrupts;
	struct lock_places places; /* of locks of user space */
	struct kernel_data *data; /* owned; names of locks of the kernel; NULL: not known */
	struct sample_event event; /* that is being added */
};

void lock_waits_done(struct lock_waits *waits);

/* Finds the functions of the kernel by which frames are known, and reads the names of its
 * variables. Without these, its locks have no names of their own. `proc_fd` is a directory like
 * /proc. */
void lock_waits_learn_kernel(struct lock_waits *waits, const struct kernel_symbols *symbols,
			     int proc_fd);

/* Adds a record RECORD_LOCK: the time, and one wait, for which it stands. */
void lock_waits_add(struct lock_waits *waits, const struct sample_event *event);

/* Adds a time of a block with WAIT_FLAG_LOCK, up to that of its event. One with
 * WAIT_FLAG_MAYBE_LOCK has no reason yet (lock_samples.h). `waker` is as in struct
 * window_sample. */
void lock_waits_add_block(struct lock_waits *waits, const struct block *block,
			  const struct block *waker, uint64_t weight_ns);

/* Adds such a block, which has ended, to the number of waits. */
void lock_waits_count_block(struct lock_waits *waits, const struct block *block,
			    const struct block *waker);

#endif
