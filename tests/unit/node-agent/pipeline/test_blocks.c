/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/blocks.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/shared/off_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define NR_FRAMES 4
#define HALF (OFF_CPU_CERTAIN / 2 + 1)
#define BEGIN_NS (100 * NSEC_PER_SEC)

/* A record with two kernel frames and two of the user, whose addresses are 0 to 3. */
static struct sample_event *record_of(uint32_t tid, uint32_t sequence)
{
	static struct sample_event event;

	memset(&event, 0, sizeof(event));
	event.kind = RECORD_BLOCK_BEGIN;
	event.time_ns = BEGIN_NS;
	event.tid = tid;
	event.sequence = sequence;
	event.probability = OFF_CPU_CERTAIN;
	event.nr_kernel = 2;
	event.nr_user = 2;
	for (uint64_t i = 0; i < NR_FRAMES; i++)
		event.frames[i] = i;
	return &event;
}

static void begin(struct blocks *blocks, uint32_t tid, uint32_t sequence)
{
	assert_int_equal(blocks_begin(blocks, record_of(tid, sequence), 0, REASON_OTHER), 0);
}

static void a_block_is_found_by_thread_and_sequence(void **state)
{
	_cleanup_(blocks_done) struct blocks blocks = { 0 };

	(void)state;
	begin(&blocks, 7, 1);
	begin(&blocks, 8, 1);
	assert_int_equal(blocks_find(&blocks, 8, 1)->event->tid, 8);
	assert_null(blocks_find(&blocks, 8, 2));
	assert_null(blocks_find(&blocks, 9, 1));
}

static void a_thread_has_one_block(void **state)
{
	_cleanup_(blocks_done) struct blocks blocks = { 0 };

	(void)state;
	begin(&blocks, 7, 1);
	begin(&blocks, 7, 2);
	assert_int_equal(blocks.nr, 1);
	assert_null(blocks_find(&blocks, 7, 1));
	assert_non_null(blocks_find(&blocks, 7, 2));
}

static void removal_keeps_the_others(void **state)
{
	_cleanup_(blocks_done) struct blocks blocks = { 0 };

	(void)state;
	for (uint32_t tid = 1; tid <= 100; tid++)
		begin(&blocks, tid, tid);
	for (uint32_t tid = 1; tid <= 100; tid += 2)
		blocks_remove(&blocks, blocks_find(&blocks, tid, tid));
	assert_int_equal(blocks.nr, 50);
	for (uint32_t tid = 1; tid <= 100; tid++)
		assert_int_equal(blocks_find(&blocks, tid, tid) != NULL, tid % 2 == 0);
	while (blocks.nr > 0)
		blocks_remove(&blocks, &blocks.rows[0]);
	assert_int_equal(blocks.nr_bytes, 0);
}

static void skipped_frames_are_not_kept(void **state)
{
	_cleanup_(blocks_done) struct blocks blocks = { 0 };

	(void)state;
	assert_int_equal(blocks_begin(&blocks, record_of(7, 1), 1, REASON_OTHER), 0);

	const struct sample_event *event = blocks_find(&blocks, 7, 1)->event;
	assert_int_equal(event->nr_kernel, 1);
	assert_int_equal(event->nr_user, 2);
	assert_int_equal(event->frames[0], 1);
	assert_int_equal(event->frames[2], 3);
}

static void too_many_blocks_are_refused(void **state)
{
	_cleanup_(blocks_done) struct blocks blocks = { 0 };
	struct sample_event *event = record_of(0, 1);
	int r = 0;

	(void)state;
	event->nr_user = MAX_USER_WORDS;
	while (r == 0 && event->tid < 2 * BLOCKS_MAX_BYTES / sizeof(event->frames)) {
		event->tid++;
		r = blocks_begin(&blocks, event, 0, REASON_OTHER);
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(blocks.nr_bytes <= BLOCKS_MAX_BYTES);
	blocks_remove(&blocks, &blocks.rows[0]);
	assert_int_equal(blocks_begin(&blocks, event, 0, REASON_OTHER), 0);
}

static void a_block_stands_for_those_that_were_not_chosen(void **state)
{
	static const struct {
		uint32_t probability;
		uint64_t from_ns, until_ns; /* counted part */
		uint64_t weight_ns;
	} cases[] = {
		{ OFF_CPU_CERTAIN, 0, 1000, 1000 },
		{ HALF, 0, 1000, 2000 },
		{ HALF, 400, 1000, 1200 },
		{ HALF, 1000, 1000, 0 },
		{ HALF, 1000, 900, 0 }, /* a time in the past */
		{ 0, 0, 1000, 1000 }, /* no kernel sends this */
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct sample_event *event = record_of(7, 1);
		struct block block = { .event = event, .counted_ns = BEGIN_NS + cases[i].from_ns };

		event->probability = cases[i].probability;
		assert_int_equal(block_weight(&block, BEGIN_NS + cases[i].until_ns),
				 cases[i].weight_ns);
	}
}

/* Windows are as long as seconds of the clock, which is adjusted by so much in each of them. */
static void assert_counted_in_each_fifth(int64_t drift_ns)
{
	struct block block = { .counted_ns = BEGIN_NS };
	uint64_t end_ns = BEGIN_NS + 300 * NSEC_PER_MSEC, last = 0;

	for (uint64_t i = 1; i <= 100; i++) {
		end_ns += (uint64_t)((int64_t)NSEC_PER_SEC + drift_ns);
		if (!block_is_due(&block, end_ns))
			continue;
		assert_true(last == 0 || i - last == 5);
		block.counted_ns = end_ns;
		last = i;
	}
	assert_true(last > 90);
}

static void a_block_that_goes_on_is_counted_in_each_fifth_window(void **state)
{
	(void)state;
	assert_counted_in_each_fifth(0);
	assert_counted_in_each_fifth(-100000);
	assert_counted_in_each_fifth(100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_found_by_thread_and_sequence),
		cmocka_unit_test(a_thread_has_one_block),
		cmocka_unit_test(removal_keeps_the_others),
		cmocka_unit_test(skipped_frames_are_not_kept),
		cmocka_unit_test(too_many_blocks_are_refused),
		cmocka_unit_test(a_block_stands_for_those_that_were_not_chosen),
		cmocka_unit_test(a_block_that_goes_on_is_counted_in_each_fifth_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
