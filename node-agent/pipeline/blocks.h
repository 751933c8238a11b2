/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, which are times in which a thread does not run (bpf/shared/off_cpu.h), between their
 * beginning and their end; or, in a table of their own, those who ended them. Belongs to one
 * thread. */
#ifndef PIPELINE_BLOCKS_H
#define PIPELINE_BLOCKS_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/events.h"
#include "pipeline/wakers.h"
#include "profile/wait_reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_MAX_BYTES ((size_t)32 << 20) /* of records; one with 60 frames has 576 bytes */

struct block {
	struct sample_event *event; /* owned, up to its last frame */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t counted_ns; /* the time before this is in profiles */
	enum wait_reason reason;
	enum waker_kind waker; /* of a record RECORD_WAKER */
	bool is_doubted; /* the source did not know it when it was last asked */
};

struct blocks {
	struct block *rows; /* owned; in no order */
	size_t nr, cap;
	struct htable by_tid;
	size_t nr_bytes;
};

void blocks_done(struct blocks *blocks);

/* Copies a record with a stack, without the first `nr_skipped` of its kernel frames. It belongs to
 * the thread that waits, also if it is that of its waker. An older block of the thread is over, and
 * its record is lost: it is removed. Errors: -ENOSPC over BLOCKS_MAX_BYTES, -ENOMEM. */
int blocks_begin(struct blocks *blocks, const struct sample_event *event, size_t nr_skipped,
		 enum wait_reason reason) must_check;

/* Returns whether a block of the thread is known. */
bool blocks_has_thread(const struct blocks *blocks, uint32_t tid);

/* Returns the block that a record RECORD_BLOCK_END ends; NULL if it is not known. Borrowed, until
 * blocks change. */
struct block *blocks_find(const struct blocks *blocks, uint32_t tid, uint32_t sequence);

/* Removes a block. The last row takes its place. */
void blocks_remove(struct blocks *blocks, struct block *block);

/* Returns the time for which one stands that was chosen with a probability: that of all like it. */
uint64_t block_share(uint32_t probability, uint64_t ns);

/* Returns the time for which a part of a block stands, from counted_ns on: that of all blocks like
 * it. */
uint64_t block_weight(const struct block *block, uint64_t until_ns);

/* Returns whether a block that goes on is to be counted at the end of a window: for thousands of
 * threads that always wait, each second would be too often. Then each fifth window has it, and 15 s
 * of profiles have 15 s of each such thread. */
bool block_is_due(const struct block *block, uint64_t end_ns);

#endif
