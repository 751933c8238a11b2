/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/live_heap.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS (LIVE_HEAP_MAX_BYTES / offsetof(struct sample_event, frames))

static size_t bytes_of(const struct sample_event *event)
{
	return offsetof(struct sample_event, frames) +
	       ((size_t)event->nr_kernel + event->nr_user) * sizeof(event->frames[0]);
}

static uint32_t hash_of(const struct sample_event *event)
{
	return hash_u64(event->address ^ (uint64_t)event->pid << 48);
}

void live_heap_done(struct live_heap *heap)
{
	for (size_t i = 0; i < heap->nr; i++)
		free(heap->rows[i]);
	free(heap->rows);
	htable_done(&heap->index);
}

/* Returns a row, or heap->nr. The start tells processes apart that have had the same pid. */
static size_t find(const struct live_heap *heap, const struct sample_event *event)
{
	struct htable_iter it = htable_lookup(&heap->index, hash_of(event));

	for (uint32_t row; htable_next(&it, &row);) {
		const struct sample_event *known = heap->rows[row];

		if (known->address == event->address && known->pid == event->pid &&
		    known->start_ns == event->start_ns)
			return row;
	}
	return heap->nr;
}

/* The last row takes its place. */
static void remove_row(struct live_heap *heap, size_t row)
{
	size_t last = --heap->nr;

	htable_remove(&heap->index, hash_of(heap->rows[row]), (uint32_t)row);
	heap->nr_bytes -= bytes_of(heap->rows[row]);
	free(heap->rows[row]);
	if (row == last)
		return;
	heap->rows[row] = heap->rows[last];
	htable_remove(&heap->index, hash_of(heap->rows[row]), (uint32_t)last);
	int r = htable_add(&heap->index, hash_of(heap->rows[row]), (uint32_t)row);
	(void)r; /* in the room of the pair that went */
}

void live_heap_remove(struct live_heap *heap, const struct sample_event *event)
{
	size_t row = find(heap, event);

	if (row < heap->nr)
		remove_row(heap, row);
}

int live_heap_add(struct live_heap *heap, const struct sample_event *event)
{
	size_t bytes = bytes_of(event);

	live_heap_remove(heap, event);
	if (heap->nr_bytes + bytes > LIVE_HEAP_MAX_BYTES)
		return -ENOSPC;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	int r = array_grow(heap->rows, heap->cap, heap->nr + 1, MAX_ROWS);
	if (r < 0)
		return r;
	_cleanup_free_ struct sample_event *copied = malloc(bytes);
	if (!copied)
		return -ENOMEM;
	memcpy(copied, event, bytes);
	r = htable_add(&heap->index, hash_of(event), (uint32_t)heap->nr);
	if (r < 0)
		return r;
	heap->nr_bytes += bytes;
	heap->rows[heap->nr++] = take_ptr(copied);
	return 0;
}

void live_heap_take(struct live_heap *heap, uint32_t pid,
		    void (*handle)(const struct sample_event *event, void *data), void *data)
{
	for (size_t row = heap->nr; row-- > 0;) {
		if (pid != 0 && heap->rows[row]->pid != pid)
			continue;
		handle(heap->rows[row], data);
		remove_row(heap, row);
	}
}
