/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/live_heap.h"

#include "base/cleanup.h"
#include "unit.h"

struct sums {
	size_t nr;
	uint64_t bytes;
	uint64_t frames;
};

/* Returns an event, which is changed by the next call: it is too large for stacks. */
static struct sample_event *event_of(uint32_t pid, uint64_t address, uint64_t bytes)
{
	static struct sample_event event;

	event.kind = RECORD_ALLOC;
	event.pid = pid;
	event.start_ns = 5;
	event.address = address;
	event.grown_bytes = bytes;
	event.nr_user = 3;
	event.frames[0] = 1;
	event.frames[1] = 2;
	event.frames[2] = 4;
	return &event;
}

static void add(struct live_heap *heap, uint32_t pid, uint64_t address, uint64_t bytes)
{
	assert_int_equal(live_heap_add(heap, event_of(pid, address, bytes)), 0);
}

static void release(struct live_heap *heap, uint32_t pid, uint64_t address)
{
	live_heap_remove(heap, event_of(pid, address, 0));
}

static void sum(const struct sample_event *event, void *data)
{
	struct sums *sums = data;

	sums->nr++;
	sums->bytes += event->grown_bytes;
	for (size_t i = 0; i < event->nr_user; i++)
		sums->frames += event->frames[i];
}

static void what_is_freed_is_not_in_use(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	struct sums sums = { 0 };
	(void)state;

	for (uint64_t i = 1; i <= 1000; i++)
		add(&heap, 7, i * 16, i);
	for (uint64_t i = 1; i <= 1000; i += 2)
		release(&heap, 7, i * 16);
	live_heap_take(&heap, 0, sum, &sums);
	assert_int_equal(sums.nr, 500);
	assert_int_equal(sums.bytes, 250500);
	assert_int_equal(sums.frames, 3500);
	assert_int_equal(heap.nr, 0);
	assert_int_equal(heap.nr_bytes, 0);
}

static void processes_have_their_own_addresses(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	struct sums of_one = { 0 }, rest = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	add(&heap, 8, 16, 10);
	add(&heap, 7, 32, 100);
	release(&heap, 9, 16);
	live_heap_take(&heap, 7, sum, &of_one);
	live_heap_take(&heap, 0, sum, &rest);
	assert_int_equal(of_one.bytes, 101);
	assert_int_equal(rest.bytes, 10);
}

static void a_later_process_with_that_pid_is_another_one(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	struct sample_event *later = event_of(7, 16, 0);
	later->start_ns++;
	live_heap_remove(&heap, later);
	assert_int_equal(heap.nr, 1);
}

static void an_address_has_one_allocation(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	struct sums sums = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	add(&heap, 7, 16, 10);
	live_heap_take(&heap, 0, sum, &sums);
	assert_int_equal(sums.bytes, 10);
}

static void records_have_a_limit(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	struct sample_event *event = event_of(7, 16, 1);
	uint64_t nr = 0;
	(void)state;

	event->nr_user = 3 * MAX_USER_FRAMES;
	while (live_heap_add(&heap, event) == 0) {
		event->address += 16;
		nr++;
	}
	uint64_t refused = event->address;
	assert_in_range(nr * (event->nr_user * 8), LIVE_HEAP_MAX_BYTES / 2, LIVE_HEAP_MAX_BYTES);
	release(&heap, 7, 16);
	event = event_of(7, refused, 1);
	event->nr_user = 3 * MAX_USER_FRAMES;
	assert_int_equal(live_heap_add(&heap, event), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_freed_is_not_in_use),
		cmocka_unit_test(processes_have_their_own_addresses),
		cmocka_unit_test(a_later_process_with_that_pid_is_another_one),
		cmocka_unit_test(an_address_has_one_allocation),
		cmocka_unit_test(records_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
