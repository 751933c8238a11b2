/* SPDX-License-Identifier: Apache-2.0 */
/* Times in which threads do not run, from the records of bpf/shared/off_cpu.h to windows; if it is
 * wanted, with the time in which they do. Each second has a window, as some thread always waits.
 * Belongs to the reader thread. */
#ifndef PIPELINE_WAITS_H
#define PIPELINE_WAITS_H

#include "bpf/shared/events.h"
#include "pipeline/blocks.h"
#include "pipeline/kernel_ranges.h"
#include "pipeline/window_filler.h"
#include "pipeline/window_series.h"

#include <stdint.h>

struct lock_waits;
struct sample_source;
struct kernel_symbols;

struct waits {
	const struct sample_source *source; /* borrowed, as the filler */
	struct window_filler *filler;
	uint32_t hidden_reasons; /* 1 << enum wait_reason: waits that do not count */
	uint64_t min_block_ns; /* shorter ones do not */
	bool shows_rivals; /* who had the CPU for which a thread waited */
	struct lock_waits *locks; /* borrowed: gets waits for locks as well; NULL: not wanted */
	bool are_only_locks; /* there are no profiles of the waits themselves */
	uint64_t period_ns; /* of CPU time, for which a sample stands */
	struct window_series series;
	struct blocks blocks; /* that have not ended */
	struct blocks wakers; /* of blocks whose end was not told yet */
	struct kernel_ranges schedule_frames, wait_reasons, interrupts;
	uint64_t start_ns; /* from then on time counts, CLOCK_MONOTONIC */
	uint64_t nr_blocks_lost; /* no memory, or their ends were lost */
};

/* Finds the functions of the kernel by which waits and those who end them are known. */
void waits_learn_kernel(struct waits *waits, const struct kernel_symbols *symbols);
void waits_done(struct waits *waits);

/* From now on time counts. What was counted before and is in no finished window is forgotten. */
void waits_start(struct waits *waits, uint64_t now_ns);

/* The records, in the order of time; waits_end() for RECORD_BLOCK_END, and behind waits_begin() for
 * RECORD_BLOCK_LATE. */
void waits_begin(struct waits *waits, const struct sample_event *event);
void waits_add_waker(struct waits *waits, const struct sample_event *event);
void waits_end(struct waits *waits, const struct sample_event *event);
void waits_add_queued(struct waits *waits, const struct sample_event *event);

/* RECORD_TIMES: what the thread's samples must add up to (profile/thread_times.h). */
void waits_add_times(struct waits *waits, const struct sample_event *event);

/* A sample of CPU time, in profiles that have it beside waits. */
void waits_add_running(struct waits *waits, const struct sample_event *event);

/* Closes the windows that are over. To be called about ten times a second. */
void waits_tick(struct waits *waits, uint64_t now_ns);

/* Closes the last window, with all waits that go on. */
void waits_close(struct waits *waits, uint64_t now_ns);

#endif
