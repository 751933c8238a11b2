/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/blocks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "bpf/shared/off_cpu.h"

#include <stdlib.h>
#include <string.h>

/* Half a second less than five, so that no window is missed while the clock is adjusted. */
#define STEP_NS (4500 * NSEC_PER_MSEC)

#define BLOCKS_MAX_ROWS (BLOCKS_MAX_BYTES / offsetof(struct sample_event, frames))

static size_t bytes_of(const struct sample_event *event)
{
	return offsetof(struct sample_event, frames) +
	       ((size_t)event->nr_kernel + event->nr_user) * sizeof(event->frames[0]);
}

static uint32_t tid_of(const struct sample_event *event)
{
	return event->kind == RECORD_WAKER ? event->woken_tid : event->tid;
}

void blocks_done(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->nr; i++)
		free(blocks->rows[i].event);
	free(blocks->rows);
	htable_done(&blocks->by_tid);
}

static struct block *find_thread(const struct blocks *blocks, uint32_t tid)
{
	struct htable_iter it = htable_lookup(&blocks->by_tid, hash_u64(tid));

	for (uint32_t row; htable_next(&it, &row);)
		if (tid_of(blocks->rows[row].event) == tid)
			return &blocks->rows[row];
	return NULL;
}

bool blocks_has_thread(const struct blocks *blocks, uint32_t tid)
{
	return find_thread(blocks, tid) != NULL;
}

struct block *blocks_find(const struct blocks *blocks, uint32_t tid, uint32_t sequence)
{
	struct block *block = find_thread(blocks, tid);

	return block && block->event->sequence == sequence ? block : NULL;
}

void blocks_remove(struct blocks *blocks, struct block *block)
{
	uint32_t row = (uint32_t)(block - blocks->rows), last = (uint32_t)blocks->nr - 1;

	htable_remove(&blocks->by_tid, hash_u64(tid_of(block->event)), row);
	blocks->nr_bytes -= bytes_of(block->event);
	free(block->event);
	blocks->nr--;
	if (row == last)
		return;
	uint32_t hash = hash_u64(tid_of(blocks->rows[last].event));

	htable_remove(&blocks->by_tid, hash, last);
	*block = blocks->rows[last];
	int r = htable_add(&blocks->by_tid, hash, row); /* in the room of the pair that went */
	(void)r;
}

static struct sample_event *copy(const struct sample_event *event, size_t nr_skipped)
{
	size_t header = offsetof(struct sample_event, frames);
	size_t bytes = bytes_of(event) - nr_skipped * sizeof(event->frames[0]);
	struct sample_event *copied = malloc(bytes);

	if (!copied)
		return NULL;
	memcpy(copied, event, header);
	memcpy((char *)copied + header, event->frames + nr_skipped, bytes - header);
	copied->nr_kernel = (__u16)(event->nr_kernel - nr_skipped);
	return copied;
}

static uint64_t begin_of(const struct sample_event *event)
{
	return event->kind == RECORD_BLOCK_LATE ? event->time_ns - event->length_ns
						: event->time_ns;
}

int blocks_begin(struct blocks *blocks, const struct sample_event *event, size_t nr_skipped,
		 enum wait_reason reason)
{
	struct block *old = find_thread(blocks, tid_of(event));

	if (old)
		blocks_remove(blocks, old);
	if (blocks->nr_bytes + bytes_of(event) > BLOCKS_MAX_BYTES)
		return -ENOSPC;
	int r = array_grow(blocks->rows, blocks->cap, blocks->nr + 1, BLOCKS_MAX_ROWS);
	if (r < 0)
		return r;
	_cleanup_free_ struct sample_event *copied = copy(event, nr_skipped);
	if (!copied)
		return -ENOMEM;
	r = htable_add(&blocks->by_tid, hash_u64(tid_of(event)), (uint32_t)blocks->nr);
	if (r < 0)
		return r;
	blocks->nr_bytes += bytes_of(copied);
	blocks->rows[blocks->nr++] = (struct block){
		.event = take_ptr(copied),
		.begin_ns = begin_of(event),
		.counted_ns = begin_of(event),
		.reason = reason,
	};
	return 0;
}

uint64_t block_share(uint32_t probability, uint64_t ns)
{
	if (probability == OFF_CPU_CERTAIN || probability == 0)
		return ns;
	return (uint64_t)((double)ns * OFF_CPU_CERTAIN / probability + 0.5);
}

uint64_t block_weight(const struct block *block, uint64_t until_ns)
{
	if (until_ns <= block->counted_ns)
		return 0;
	return block_share(block->event->probability, until_ns - block->counted_ns);
}

bool block_is_due(const struct block *block, uint64_t end_ns)
{
	return end_ns >= block->counted_ns + STEP_NS;
}
