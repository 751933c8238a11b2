/* SPDX-License-Identifier: Apache-2.0 */
/* From the records of allocations (bpf/shared/heap.h) to profiles: what was allocated, and what is
 * in use. The latter is reported either once, when the process or the recording ends, or again and
 * again: then each report is a profile of its own, and has what is in use at that moment. Belongs
 * to the reader thread. */
#ifndef PIPELINE_ALLOCATIONS_H
#define PIPELINE_ALLOCATIONS_H

#include "bpf/shared/events.h"
#include "pipeline/live_heap.h"
#include "pipeline/window_filler.h"
#include "process/proc_event.h"

#include <stdint.h>

/* Both series in bytes, or in objects, may be NULL: not wanted. */
struct allocations {
	struct window_filler *filler; /* borrowed, as are the series */
	struct window_series *bytes, *objects; /* that were allocated */
	struct window_series *bytes_in_use, *objects_in_use;
	uint64_t report_ns; /* between two reports of what is in use; 0: one, at the end */
	int proc_fd; /* borrowed; tells which processes are gone */
	struct live_heap live;
	uint64_t now_ns; /* while allocations in use are reported */
	uint64_t next_report_ns;
	uint64_t nr_lost; /* for lack of memory or room: not in use */
};

void allocations_done(struct allocations *allocations);

/* Handle the records RECORD_ALLOC and RECORD_FREE. */
void allocations_add(struct allocations *allocations, const struct sample_event *event);
void allocations_free(struct allocations *allocations, const struct sample_event *event);

/* What happens to processes, before the process table knows it. */
void allocations_follow(struct allocations *allocations, const struct proc_event *event);

/* Reports what is in use, if it is time to do so. */
void allocations_tick(struct allocations *allocations, uint64_t now_ns);

/* Reports what is in use at the end, if that is when it is reported. */
void allocations_close(struct allocations *allocations, uint64_t now_ns);

/* Returns the objects that a record stands for. It stands for a number with a fraction, which is
 * rounded at random, so that sums are right. */
uint64_t allocations_count_objects(const struct sample_event *event);

#endif
