/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled allocations that are not freed yet: their records, by process and address. Belongs to one
 * thread. */
#ifndef PIPELINE_LIVE_HEAP_H
#define PIPELINE_LIVE_HEAP_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/events.h"

#include <stddef.h>
#include <stdint.h>

#define LIVE_HEAP_MAX_BYTES ((size_t)64 << 20) /* of records; one with 30 frames has 392 bytes */

struct live_heap {
	struct sample_event **rows; /* owned, each up to its last frame; in no order */
	size_t nr, cap;
	struct htable index;
	size_t nr_bytes;
};

void live_heap_done(struct live_heap *heap);

/* Copies a record RECORD_ALLOC. An older one of the same process and address is replaced: its end
 * was lost. Errors: -ENOSPC over LIVE_HEAP_MAX_BYTES, -ENOMEM. */
int live_heap_add(struct live_heap *heap, const struct sample_event *event) must_check;

/* Removes the allocation that a record RECORD_FREE ends, if it is known. */
void live_heap_remove(struct live_heap *heap, const struct sample_event *event);

/* Calls `handle` for each allocation of a process (0: of all), and removes it. */
void live_heap_take(struct live_heap *heap, uint32_t pid,
		    void (*handle)(const struct sample_event *event, void *data), void *data);

#endif
