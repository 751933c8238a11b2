/* SPDX-License-Identifier: Apache-2.0 */
/* Puts samples of any type into windows, and hands windows that are over to the symbolizer. Belongs
 * to the reader thread. */
#ifndef PIPELINE_WINDOW_FILLER_H
#define PIPELINE_WINDOW_FILLER_H

#include "base/err.h"
#include "bpf/shared/events.h"
#include "pipeline/identity.h"
#include "pipeline/runtime_binder.h"
#include "pipeline/symbolizer_thread.h"
#include "pipeline/window.h"
#include "pipeline/window_series.h"
#include "process/process_table.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"

#include <stdbool.h>
#include <stdint.h>

struct block;

/* All that stacks are located with is borrowed. */
struct window_filler {
	struct process_table *processes;
	struct elf_cache *elfs;
	struct jit_cache *jits;
	struct runtime_binder *runtimes;
	struct identity *identity;
	struct symbolizer_thread *symbolizer;
	bool keeps_times; /* of each sample, so that samples are not merged */
	uint64_t nr_samples, nr_samples_lost; /* handed in; lost for lack of room or memory */
	uint64_t nr_windows; /* handed to the symbolizer */
};

struct window_sample {
	const struct sample_event *event;
	enum wait_reason reason; /* of a wait, or REASON_RUNNING beside waits; else REASON_NONE */
	const struct block *waker; /* who ended it; NULL: not known */
	const char *cause; /* see struct locate_tip; borrowed for the call */
	const char *root; /* the same, of the frame below all others, or the only one */
	uint64_t count; /* in the unit of the window's type */
};

/* Adds a sample to a window and counts it. `window` may be NULL, for lack of memory: then the
 * sample is lost. Errors: -ENOMEM, -ENOSPC the window is full; both are counted. */
int window_filler_add(struct window_filler *filler, struct window *window,
		      const struct window_sample *sample);

/* Returns the window of a series for a time. The present one is closed first if it is over. A
 * sample that is a little late goes into the present one. NULL: no memory. */
struct window *window_filler_window(struct window_filler *filler, struct window_series *series,
				    uint64_t time_ns);

/* Hands the window of a series to the symbolizer. The series has none from then on. */
void window_filler_close(struct window_filler *filler, struct window_series *series);

#endif
