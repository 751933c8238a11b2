/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled allocations that are not freed yet, by process and address, and their sums by stack:
 *
 *	process ─▶ sites: a stack, and what is in use of its allocations ─▶ rows: an address each
 *
 * The threads of a process that have the same name share their sites: threads come and go, but what
 * they have allocated stays. A report takes time by the number of sites, not of rows. Belongs to
 * one thread. */
#ifndef PIPELINE_LIVE_HEAP_H
#define PIPELINE_LIVE_HEAP_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of rows and sites, without what their arrays have spare: 40 bytes for a row, and about 450
 * for a site with 30 frames. A process with many stacks must not take the room of all others. */
#define LIVE_HEAP_MAX_BYTES ((size_t)32 << 20)
#define LIVE_HEAP_MAX_PROCESS_BYTES (LIVE_HEAP_MAX_BYTES / 4)

/* Links are numbers of rows, sites and processes + 1; 0: there is none. */
struct live_row {
	uint64_t address, nr_bytes, nr_objects;
	uint32_t site;
	uint32_t previous, next; /* of the site; of a free row, `next` is another free one */
};

struct live_site {
	struct sample_event *event; /* owned, up to its last frame; its `tid` is 0 */
	uint64_t nr_bytes, nr_objects; /* sums of the rows */
	uint32_t hash;
	uint32_t process;
	uint32_t rows;
	uint32_t previous, next; /* of the process; of a free site, `next` is another free one */
};

struct live_process {
	uint64_t start_ns; /* tells processes apart that have had the same pid */
	size_t nr_memory_bytes;
	uint32_t pid;
	uint32_t sites; /* 0: it is free */
	uint32_t next; /* of a free one, another free one */
};

struct live_heap {
	struct live_row *rows; /* this and the following: owned */
	struct live_site *sites;
	struct live_process *processes;
	size_t nr_rows, cap_rows, nr_sites, cap_sites, nr_processes, cap_processes;
	uint32_t free_rows, free_sites, free_processes;
	struct htable row_index, site_index, process_index;
	size_t nr_live; /* rows that are not free */
	size_t nr_memory_bytes; /* of rows and sites that are not free */
};

void live_heap_done(struct live_heap *heap);

/* Adds a record RECORD_ALLOC, which stands for `nr_objects` objects. An older one of the same
 * process and address is replaced: its end was lost. Errors: -ENOSPC over one of the limits,
 * -ENOMEM. */
int live_heap_add(struct live_heap *heap, const struct sample_event *event, uint64_t nr_objects)
	must_check;

/* Removes the allocation that a record RECORD_FREE ends, if it is known. */
void live_heap_remove(struct live_heap *heap, const struct sample_event *event);

/* Calls `handle` for each site of a process (0: of all), in no order. It may change the time of the
 * site's record. */
void live_heap_visit(const struct live_heap *heap, uint32_t pid,
		     void (*handle)(const struct live_site *site, void *data), void *data);

/* Forgets the allocations of a process. */
void live_heap_forget(struct live_heap *heap, uint32_t pid);

/* Forgets those of all processes for which `is_gone` returns true. */
void live_heap_sweep(struct live_heap *heap,
		     bool (*is_gone)(uint32_t pid, uint64_t start_ns, void *data), void *data);

#endif
