/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/live_heap.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

struct sums {
	size_t nr;
	uint64_t bytes, objects;
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
	assert_int_equal(live_heap_add(heap, event_of(pid, address, bytes), 2), 0);
}

static void release(struct live_heap *heap, uint32_t pid, uint64_t address)
{
	live_heap_remove(heap, event_of(pid, address, 0));
}

static void sum(const struct live_site *site, void *data)
{
	struct sums *sums = data;

	sums->nr++;
	sums->bytes += site->nr_bytes;
	sums->objects += site->nr_objects;
	for (size_t i = 0; i < site->event->nr_user; i++)
		sums->frames += site->event->frames[i];
}

static struct sums sums_of(const struct live_heap *heap, uint32_t pid)
{
	struct sums sums = { 0 };

	live_heap_visit(heap, pid, sum, &sums);
	return sums;
}

static void what_is_freed_is_not_in_use(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	for (uint64_t i = 1; i <= 1000; i++)
		add(&heap, 7, i * 16, i);
	for (uint64_t i = 1; i <= 1000; i += 2)
		release(&heap, 7, i * 16);
	struct sums sums = sums_of(&heap, 0);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.bytes, 250500);
	assert_int_equal(sums.objects, 1000);
	assert_int_equal(sums.frames, 7);
	assert_int_equal(heap.nr_live, 500);
	for (uint64_t i = 2; i <= 1000; i += 2)
		release(&heap, 7, i * 16);
	assert_int_equal(sums_of(&heap, 0).nr, 0);
	assert_int_equal(heap.nr_memory_bytes, 0);
}

static void each_stack_has_its_sum(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	struct sample_event *event;
	(void)state;

	for (uint64_t i = 0; i < 300; i++) {
		event = event_of(7, i * 16, 1);
		event->frames[2] = 100 + i % 3;
		event->tid = (uint32_t)i; /* does not matter */
		assert_int_equal(live_heap_add(&heap, event, 1), 0);
	}
	event = event_of(7, 16, 0);
	live_heap_remove(&heap, event);
	struct sums sums = sums_of(&heap, 7);
	assert_int_equal(sums.nr, 3);
	assert_int_equal(sums.bytes, 299);
	assert_int_equal(sums.frames, 3 * 3 + 303);
}

static void threads_of_other_names_are_told_apart(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	struct sample_event *event = event_of(7, 32, 1);
	memcpy(event->thread_comm, "worker", 7);
	assert_int_equal(live_heap_add(&heap, event, 1), 0);
	memset(event->thread_comm, 0, TASK_COMM_LEN);
	assert_int_equal(sums_of(&heap, 7).nr, 2);
}

static void processes_have_their_own_addresses(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	add(&heap, 8, 16, 10);
	add(&heap, 7, 32, 100);
	release(&heap, 9, 16);
	assert_int_equal(sums_of(&heap, 7).bytes, 101);
	assert_int_equal(sums_of(&heap, 8).bytes, 10);
	live_heap_forget(&heap, 7);
	live_heap_forget(&heap, 9);
	assert_int_equal(sums_of(&heap, 7).nr, 0);
	assert_int_equal(sums_of(&heap, 0).bytes, 10);
}

static void a_later_process_with_that_pid_is_another_one(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	add(&heap, 7, 32, 1);
	struct sample_event *later = event_of(7, 16, 20);
	later->start_ns++;
	live_heap_remove(&heap, later);
	assert_int_equal(heap.nr_live, 2);
	assert_int_equal(live_heap_add(&heap, later, 1), 0);
	assert_int_equal(sums_of(&heap, 7).bytes, 20);
	assert_int_equal(heap.nr_live, 1);
}

static void an_address_has_one_allocation(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	add(&heap, 7, 16, 1);
	add(&heap, 7, 16, 10);
	assert_int_equal(sums_of(&heap, 0).bytes, 10);
}

static bool is_odd(uint32_t pid, uint64_t start_ns, void *data)
{
	assert_int_equal(start_ns, 5);
	(*(size_t *)data)++;
	return pid % 2;
}

static void processes_that_are_gone_are_forgotten(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	size_t nr_asked = 0;
	(void)state;

	for (uint32_t pid = 1; pid <= 100; pid++)
		for (uint64_t i = 0; i < pid; i++)
			add(&heap, pid, i * 16, 1);
	live_heap_sweep(&heap, is_odd, &nr_asked);
	assert_int_equal(nr_asked, 100);
	assert_int_equal(sums_of(&heap, 0).bytes, 2550);
	live_heap_sweep(&heap, is_odd, &nr_asked);
	assert_int_equal(nr_asked, 150);
	for (uint32_t pid = 1; pid <= 100; pid++)
		add(&heap, pid, 0, 1);
	assert_int_equal(heap.nr_live, 2550 + 50);
}

/* Adds large stacks of a process until there is no room. Returns their number. */
static uint64_t fill(struct live_heap *heap, uint32_t pid)
{
	struct sample_event *event = event_of(pid, 0, 1);
	uint64_t nr = 0;

	event->nr_user = 3 * MAX_USER_FRAMES;
	do {
		event->address += 16;
		event->frames[0] = event->address;
	} while (live_heap_add(heap, event, 1) == 0 && ++nr);
	return nr;
}

static void a_process_cannot_take_the_room_of_others(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	uint64_t nr[6];
	(void)state;

	for (uint32_t i = 0; i < 6; i++)
		nr[i] = fill(&heap, 1 + i);
	assert_in_range(nr[0] * 3 * MAX_USER_FRAMES * 8, LIVE_HEAP_MAX_PROCESS_BYTES / 2,
			LIVE_HEAP_MAX_PROCESS_BYTES);
	assert_int_equal(nr[1], nr[0]);
	assert_in_range(nr[3], nr[0] - 4, nr[0]);
	assert_int_equal(nr[5], 0);
	assert_true(heap.nr_memory_bytes <= LIVE_HEAP_MAX_BYTES);
	live_heap_forget(&heap, 1);
	assert_int_equal(fill(&heap, 6), nr[0]);
}

static void what_has_no_room_leaves_nothing_behind(void **state)
{
	_cleanup_(live_heap_done) struct live_heap heap = { 0 };
	(void)state;

	for (uint32_t pid = 1; pid <= 5; pid++)
		(void)fill(&heap, pid);
	size_t nr_bytes = heap.nr_memory_bytes;
	uint64_t nr_live = heap.nr_live;
	assert_int_equal(fill(&heap, 9), 0);
	assert_int_equal(heap.nr_memory_bytes, nr_bytes);
	assert_int_equal(heap.nr_live, nr_live);
	assert_int_equal(sums_of(&heap, 9).nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_freed_is_not_in_use),
		cmocka_unit_test(each_stack_has_its_sum),
		cmocka_unit_test(threads_of_other_names_are_told_apart),
		cmocka_unit_test(processes_have_their_own_addresses),
		cmocka_unit_test(a_later_process_with_that_pid_is_another_one),
		cmocka_unit_test(an_address_has_one_allocation),
		cmocka_unit_test(processes_that_are_gone_are_forgotten),
		cmocka_unit_test(a_process_cannot_take_the_room_of_others),
		cmocka_unit_test(what_has_no_room_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
