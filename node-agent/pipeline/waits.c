/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/waits.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "bpf/shared/off_cpu.h"
#include "capture/sample_source.h"
#include "pipeline/lock_waits.h"
#include "pipeline/schedule_frames.h"
#include "pipeline/wait_reasons.h"
#include "pipeline/wakers.h"
#include "profile/thread_times.h"

#include <stdio.h>

#define BLOCKS_LATE_NS (10 * NSEC_PER_MSEC) /* their ends may be on their way */
#define RIVAL_NAME_BYTES 64
#define WAKER_MAX_NS (10 * NSEC_PER_SEC) /* from the wake-up to the end of the block */

void waits_learn_kernel(struct waits *waits, const struct kernel_symbols *symbols)
{
	schedule_frames_init(&waits->schedule_frames, symbols);
	wait_reasons_init(&waits->wait_reasons, symbols);
	wakers_init(&waits->interrupts, symbols);
}

void waits_done(struct waits *waits)
{
	window_free(waits->series.window);
	blocks_done(&waits->blocks);
	blocks_done(&waits->wakers);
}

static bool is_for_lock(const struct waits *waits, const struct block *block)
{
	return waits->locks && block->event->wait_flags & (WAIT_FLAG_LOCK | WAIT_FLAG_MAYBE_LOCK);
}

/* Who made a thread wait, as far as it is known. */
struct culprit {
	const struct block *waker; /* who woke it at last; NULL: not known */
	const char *rival; /* who had its CPU, as a frame; NULL: not known */
};

static const struct culprit nobody;

static bool is_hidden(const struct waits *waits, enum wait_reason reason)
{
	return waits->are_only_locks || waits->hidden_reasons & 1U << reason;
}

/* Adds time of a block to the window. */
static void add_time(struct waits *waits, const struct block *block, const struct culprit *culprit,
		     uint64_t weight_ns)
{
	const struct window_sample sample = {
		.event = block->event,
		.reason = block->reason,
		.waker = culprit->waker,
		.cause = culprit->rival,
		.count = weight_ns,
	};

	if (weight_ns > 0 && !is_hidden(waits, block->reason))
		(void)window_filler_add(waits->filler, waits->series.window, &sample);
}

/* Takes the time of a block up to `until_ns`, from where it has counted, as far as it is estimated.
 * That for a lock counts here. */
static uint64_t take_time(struct waits *waits, struct block *block, const struct culprit *culprit,
			  uint64_t until_ns)
{
	uint64_t weight_ns;

	block->counted_ns = max_u64(block->counted_ns, waits->start_ns);
	weight_ns = block_weight(block, until_ns);
	block->counted_ns = max_u64(block->counted_ns, until_ns);
	if (weight_ns == 0)
		return 0;
	block->event->time_ns = until_ns;
	if (is_for_lock(waits, block))
		lock_waits_add_block(waits->locks, block, culprit->waker, weight_ns);
	return weight_ns;
}

/* Adds the time of a block up to `until_ns` to the window. */
static void count_block(struct waits *waits, struct block *block, const struct culprit *culprit,
			uint64_t until_ns)
{
	add_time(waits, block, culprit, take_time(waits, block, culprit, until_ns));
}

/* The same of the last part of a block, in which the thread waited for a CPU. What the kernel
 * counts stands for this wait and those since the last record, but for what has counted while this
 * one went on. The cgroup's CPU limit is to blame for this one and those like it, not for
 * others. */
static void count_queued(struct waits *waits, struct block *block, const struct culprit *culprit,
			 const struct sample_event *end, uint64_t begin_ns)
{
	uint64_t counted_ns = max_u64(block->counted_ns, waits->start_ns);
	uint64_t early_ns = counted_ns - min_u64(counted_ns, begin_ns);
	uint64_t estimated_ns = take_time(waits, block, culprit, end->time_ns);
	uint64_t weight_ns = estimated_ns;

	if (end->time_ns <= waits->start_ns)
		return;
	if (end->queued_ns != QUEUED_UNKNOWN)
		weight_ns = end->queued_ns - min_u64(end->queued_ns, early_ns);
	if (block->reason == REASON_THROTTLED) {
		uint64_t throttled_ns = min_u64(estimated_ns, weight_ns);

		add_time(waits, block, culprit, throttled_ns);
		weight_ns -= throttled_ns;
		block->reason = REASON_PREEMPTED;
	}
	add_time(waits, block, culprit, weight_ns);
}

/* Returns whether the source has not known a block for two windows. So its end was lost, and not
 * only on its way when the source was asked. */
static bool is_over(const struct waits *waits, struct block *block)
{
	bool was_doubted = block->is_doubted;

	block->is_doubted = !sample_source_has_block(waits->source, block->event->tid,
						     block->event->sequence);
	return was_doubted && block->is_doubted;
}

/* Returns whether the block has become long enough to count. */
static bool is_long(const struct waits *waits, const struct block *block, uint64_t until_ns)
{
	return until_ns >= block->begin_ns + waits->min_block_ns;
}

/* Counts the blocks that go on at the end of the window, all of them if it is the last one. */
static void count_blocks(struct waits *waits, bool is_last)
{
	uint64_t end_ns = waits->series.window->end_ns;

	for (size_t i = 0; i < waits->blocks.nr;) {
		struct block *block = &waits->blocks.rows[i];

		if (is_over(waits, block)) {
			waits->nr_blocks_lost++;
			blocks_remove(&waits->blocks, block);
			continue;
		}
		if ((is_last || block_is_due(block, end_ns)) && is_long(waits, block, end_ns))
			count_block(waits, block, &nobody, end_ns);
		i++;
	}
}

/* Forgets those who ended blocks whose end is not told any more. */
static void forget_wakers(struct waits *waits, uint64_t now_ns)
{
	for (size_t i = 0; i < waits->wakers.nr;)
		if (waits->wakers.rows[i].begin_ns + WAKER_MAX_NS < now_ns)
			blocks_remove(&waits->wakers, &waits->wakers.rows[i]);
		else
			i++;
}

static void close_window(struct waits *waits)
{
	struct window_series *series = &waits->series;

	if (!waits->are_only_locks) {
		window_filler_close(waits->filler, series);
		return;
	}
	if (series->window)
		series->last_end_ns = series->window->end_ns;
	window_free(take_ptr(series->window));
}

/* Closes the windows that are over at a time. Each second has one, as some thread always waits. */
static void advance_blocks(struct waits *waits, uint64_t time_ns)
{
	struct window_series *series = &waits->series;

	while (series->window && time_ns >= series->window->end_ns) {
		count_blocks(waits, false);
		forget_wakers(waits, series->window->end_ns);
		close_window(waits);
		if (window_series_open(series, series->last_end_ns) < 0)
			return;
	}
}

void waits_start(struct waits *waits, uint64_t now_ns)
{
	struct window_series *series = &waits->series;

	window_free(take_ptr(series->window));
	series->last_end_ns = 0;
	waits->start_ns = now_ns;
	if (window_series_open(series, now_ns) < 0)
		waits->nr_blocks_lost += waits->blocks.nr;
}

/* Counts the time in run queues before a block, if its beginning tells of it. */
static void count_earlier(struct waits *waits, const struct sample_event *begin)
{
	struct block *block = blocks_find(&waits->blocks, begin->tid, begin->sequence);
	enum wait_reason reason = block->reason;

	if (begin->queued_ns == QUEUED_UNKNOWN || begin->time_ns <= waits->start_ns)
		return;
	if (reason == REASON_THROTTLED)
		block->reason = REASON_PREEMPTED;
	else if (reason != REASON_PREEMPTED)
		block->reason = REASON_RUN_QUEUE;
	add_time(waits, block, &nobody, begin->queued_ns);
	block->reason = reason;
}

void waits_begin(struct waits *waits, const struct sample_event *event)
{
	size_t nr_skipped = schedule_frames_count(&waits->schedule_frames, event->frames,
						  event->nr_kernel);

	enum wait_reason reason = wait_reasons_of(&waits->wait_reasons, event, nr_skipped);

	advance_blocks(waits, event->time_ns);
	if (blocks_has_thread(&waits->blocks, event->tid))
		waits->nr_blocks_lost++; /* it is over, and nobody told its end */
	if (blocks_begin(&waits->blocks, event, nr_skipped, reason) < 0) {
		waits->nr_blocks_lost++;
		return;
	}
	if (event->kind == RECORD_BLOCK_BEGIN)
		count_earlier(waits, event);
}

/* Counts the last part of a block. First the thread slept, if it was not preempted, then it waited
 * for a CPU. */
static void count_end(struct waits *waits, struct block *block, const struct block *waker,
		      const struct sample_event *end)
{
	uint64_t runnable_ns = min_u64(end->runnable_us * NSEC_PER_USEC, end->time_ns);
	const struct culprit woken_by = { .waker = waker };
	struct culprit queued_by = woken_by;
	char rival[RIVAL_NAME_BYTES];

	if (waits->shows_rivals && end->rival_comm[0] != '\0') {
		snprintf(rival, sizeof(rival), "[CPU used by %.*s]", TASK_COMM_LEN,
			 end->rival_comm);
		queued_by = (struct culprit){ .rival = rival };
	}
	if (wait_reason_is_queued(block->reason)) {
		count_queued(waits, block, &queued_by, end, block->begin_ns);
	} else {
		count_block(waits, block, &woken_by, end->time_ns - runnable_ns);
		block->reason = REASON_RUN_QUEUE;
		count_queued(waits, block, &queued_by, end, end->time_ns - runnable_ns);
	}
	if (is_for_lock(waits, block))
		lock_waits_count_block(waits->locks, block, waker);
}

static void finish_block(struct waits *waits, struct block *block, const struct sample_event *end)
{
	struct block *waker = blocks_find(&waits->wakers, end->tid, end->sequence);

	if (waits->series.window && is_long(waits, block, end->time_ns))
		count_end(waits, block, waker, end);
	blocks_remove(&waits->blocks, block);
	if (waker)
		blocks_remove(&waits->wakers, waker);
}

void waits_add_waker(struct waits *waits, const struct sample_event *event)
{
	size_t nr_skipped = schedule_frames_count_waking(&waits->schedule_frames, event->frames,
							 event->nr_kernel);

	advance_blocks(waits, event->time_ns);
	if (blocks_begin(&waits->wakers, event, nr_skipped, REASON_NONE) == 0) {
		struct block *waker = blocks_find(&waits->wakers, event->woken_tid,
						  event->sequence);

		waker->waker = wakers_cut(&waits->interrupts, waker->event);
	} else {
		waits->nr_blocks_lost++;
	}
}

void waits_end(struct waits *waits, const struct sample_event *event)
{
	advance_blocks(waits, event->time_ns);

	struct block *block = blocks_find(&waits->blocks, event->tid, event->sequence);
	if (!block)
		return;
	finish_block(waits, block, event);
}

void waits_add_queued(struct waits *waits, const struct sample_event *event)
{
	const struct window_sample sample = {
		.event = event,
		.reason = REASON_RUN_QUEUE,
		.root = "[waiting for a CPU]", /* no stack was cut off there */
		.count = block_share(event->probability, event->queued_ns),
	};

	advance_blocks(waits, event->time_ns);
	if (event->time_ns > waits->start_ns && !is_hidden(waits, REASON_RUN_QUEUE))
		(void)window_filler_add(waits->filler, waits->series.window, &sample);
}

/* Returns whether all waits count. Otherwise their sum says nothing of those that do. */
static bool counts_all(const struct waits *waits)
{
	enum wait_reason reason = REASON_NONE + 1;

	while (reason < REASON_NR && (reason == REASON_RUNNING || !is_hidden(waits, reason)))
		reason++;
	return reason == REASON_NR && waits->min_block_ns == 0;
}

void waits_add_times(struct waits *waits, const struct sample_event *event)
{
	const struct window_sample ran = {
		.event = event,
		.reason = REASON_RUNNING,
		.root = THREAD_TIMES_RAN,
		.count = event->ran_ns,
	};
	const struct window_sample waited = {
		.event = event,
		.reason = REASON_OTHER,
		.root = THREAD_TIMES_WAITED,
		.count = event->length_ns,
	};

	advance_blocks(waits, event->time_ns);
	if (event->time_ns <= waits->start_ns)
		return;
	if (ran.count > 0 && !is_hidden(waits, REASON_RUNNING))
		(void)window_filler_add(waits->filler, waits->series.window, &ran);
	if (waited.count > 0 && counts_all(waits))
		(void)window_filler_add(waits->filler, waits->series.window, &waited);
}

void waits_add_running(struct waits *waits, const struct sample_event *event)
{
	const struct window_sample sample = {
		.event = event,
		.reason = REASON_RUNNING,
		.count = waits->period_ns,
	};

	advance_blocks(waits, event->time_ns);
	if (event->time_ns >= waits->start_ns && !(waits->hidden_reasons & 1U << REASON_RUNNING))
		(void)window_filler_add(waits->filler, waits->series.window, &sample);
}

void waits_tick(struct waits *waits, uint64_t now_ns)
{
	advance_blocks(waits, now_ns - BLOCKS_LATE_NS);
}

void waits_close(struct waits *waits, uint64_t now_ns)
{
	advance_blocks(waits, now_ns);
	window_series_end(&waits->series, now_ns);
	if (waits->series.window)
		count_blocks(waits, true);
	close_window(waits);
}
