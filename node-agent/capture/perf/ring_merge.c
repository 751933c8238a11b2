/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of rings by the time of their next record: a record costs two steps a level, eight
 * levels for 256 CPUs. */
#include "capture/perf/ring_merge.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/perf_events/cpu_list.h"
#include "capture/perf_events/perf_record.h"

#include <stdlib.h>

#define MAX_RINGS ((size_t)4 * CPU_LIST_MAX) /* two for each CPU, and retired ones */

static void close_ring(struct merged_ring *ring)
{
	perf_ring_close(&ring->ring);
	free(ring);
}

void ring_merge_done(struct ring_merge *merge)
{
	for (size_t i = 0; i < merge->nr_rings; i++)
		close_ring(merge->rings[i]);
	free(merge->rings);
	free(merge->heap);
}

/* The heap has room for all rings, so that it never has to grow. */
int ring_merge_add(struct ring_merge *merge, const struct perf_ring *ring, uint64_t *nr_lost,
		   struct merged_ring **ret_ring)
{
	/* NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers */
	int r = array_grow(merge->rings, merge->cap_rings, merge->nr_rings + 1, MAX_RINGS);
	if (r < 0)
		return r;
	struct merged_ring **heap = reallocarray(merge->heap, merge->cap_rings,
						 sizeof(*merge->heap));
	/* NOLINTEND(bugprone-sizeof-expression) */
	if (!heap)
		return -ENOMEM;
	merge->heap = heap;
	struct merged_ring *added = calloc(1, sizeof(*added));
	if (!added)
		return -ENOMEM;
	added->ring = *ring;
	added->nr_lost = nr_lost;
	merge->rings[merge->nr_rings++] = added;
	*ret_ring = added;
	return 0;
}

void ring_merge_retire(struct merged_ring *ring)
{
	ring->is_retired = true;
}

static void swap(struct merged_ring **a, struct merged_ring **b)
{
	struct merged_ring *kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_up(struct ring_merge *merge, size_t i)
{
	while (i > 0 && merge->heap[i]->next_ns < merge->heap[(i - 1) / 2]->next_ns) {
		swap(&merge->heap[i], &merge->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct ring_merge *merge)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < merge->nr_heap &&
		    merge->heap[child + 1]->next_ns < merge->heap[child]->next_ns)
			child++;
		if (child >= merge->nr_heap ||
		    merge->heap[i]->next_ns <= merge->heap[child]->next_ns)
			return;
		swap(&merge->heap[i], &merge->heap[child]);
		i = child;
	}
}

/* Reads the time of the next record; returns 0 if there is none, else 1. A broken record sorts
 * first, so that it is read and counted at once. */
static int look(struct merged_ring *ring)
{
	struct perf_event_header header;

	int r = perf_ring_peek(&ring->ring, 0, &header, sizeof(header));
	if (r == -ENOENT)
		return 0;
	if (r < 0 ||
	    perf_ring_peek(&ring->ring, perf_record_time_offset(&header, PERF_LAYOUT_STACK),
			   &ring->next_ns, sizeof(ring->next_ns)) < 0)
		ring->next_ns = 0;
	return 1;
}

void ring_merge_begin(struct ring_merge *merge)
{
	for (size_t i = 0; i < merge->nr_rings; i++)
		perf_ring_begin(&merge->rings[i]->ring);
	merge->nr_heap = 0;
	merge->current = NULL;
	for (size_t i = 0; i < merge->nr_rings; i++) {
		if (look(merge->rings[i]) == 0)
			continue;
		merge->heap[merge->nr_heap] = merge->rings[i];
		sift_up(merge, merge->nr_heap++);
	}
}

/* Moves the ring at the top, whose record was read, to the place of its next record. */
static void settle_current(struct ring_merge *merge)
{
	struct merged_ring *ring = take_ptr(merge->current);

	if (!ring)
		return;
	perf_ring_release(&ring->ring);
	if (look(ring) == 0)
		merge->heap[0] = merge->heap[--merge->nr_heap];
	sift_down(merge);
}

static void count_lost(struct merged_ring *ring, uint64_t nr_lost)
{
	*ring->nr_lost += nr_lost;
	ring->nr_told += nr_lost;
}

/* A LOST record reports losses before it. Losses behind the last record are read from the event. */
static void count_untold(struct merged_ring *ring)
{
	uint64_t nr_lost;

	if (perf_ring_read_lost(&ring->ring, &nr_lost) == 0 && nr_lost > ring->nr_told)
		count_lost(ring, nr_lost - ring->nr_told);
}

/* Closes retired rings that are empty. */
static void drop_retired(struct ring_merge *merge)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < merge->nr_rings; i++) {
		struct merged_ring *ring = merge->rings[i];

		if (!ring->is_retired || ring->ring.position < ring->ring.end) {
			merge->rings[nr_kept++] = ring;
			continue;
		}
		count_untold(ring);
		close_ring(ring);
	}
	merge->nr_rings = nr_kept;
}

bool ring_merge_next(struct ring_merge *merge, uint64_t until_ns, const void **ret_record,
		     size_t *ret_len)
{
	for (;;) {
		settle_current(merge);
		if (merge->nr_heap == 0 || merge->heap[0]->next_ns > until_ns) {
			drop_retired(merge);
			return false;
		}
		merge->current = merge->heap[0];
		if (perf_ring_next(&merge->current->ring, merge->scratch, ret_record, ret_len) > 0)
			return true;
		merge->nr_bad++;
	}
}

void ring_merge_count_lost(struct ring_merge *merge, uint64_t nr_lost)
{
	count_lost(merge->current, nr_lost);
}
