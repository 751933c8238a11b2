/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for locks (bpf/shared/lock.h), from records to windows. Belongs to the reader thread. */
#ifndef PIPELINE_LOCK_WAITS_H
#define PIPELINE_LOCK_WAITS_H

#include "bpf/shared/events.h"
#include "pipeline/kernel_ranges.h"
#include "pipeline/window_filler.h"
#include "pipeline/window_series.h"

struct kernel_symbols;

struct lock_waits {
	struct window_filler *filler; /* this and the series: borrowed */
	struct window_series *delay; /* nanoseconds */
	struct window_series *contentions; /* NULL: they are not counted */
	struct kernel_ranges frames, interrupts;
	struct sample_event event; /* that is being added */
};

/* Finds the functions of the kernel by which frames are known. */
void lock_waits_learn_kernel(struct lock_waits *waits, const struct kernel_symbols *symbols);

/* Adds a record RECORD_LOCK: the time, and one wait, for which it stands. */
void lock_waits_add(struct lock_waits *waits, const struct sample_event *event);

#endif
