/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_slots.h"

#include "arena_fixture.h"
#include "base/clock.h"
#include "slots_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "unit.h"

static void a_file_gets_its_table(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = 70000 };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = slots_fixture_load(fixture, plan);
	slots_fixture_expect(fixture, slot, plan);
	struct table_slots_stats stats = slots_fixture_stats(fixture);
	assert_int_equal(stats.nr_slots, 3);
	assert_int_equal(stats.nr_tables, 2);
	assert_int_equal(stats.nr_rows, 20);
	assert_int_equal(stats.nr_built, 2);
	assert_int_equal(stats.nr_bytes, 70000 + 4096);
	assert_int_equal(stats.nr_bad_entries, 4);
	assert_int_equal(stats.nr_unsupported_rules, 6);
	assert_true(stats.build_ns > 0);
}

static void two_slots_are_there_from_the_start(void **state)
{
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	uint32_t without_cfi = table_slots_without_cfi(fixture->slots);
	uint32_t vdso = table_slots_vdso(fixture->slots);
	assert_int_not_equal(without_cfi, 0);
	assert_int_not_equal(vdso, without_cfi);
	table_slots_remove(fixture->slots, without_cfi);
	table_slots_remove(fixture->slots, vdso);
	assert_int_equal(slots_fixture_unit(fixture, without_cfi), TABLE_WITHOUT_CFI);
	slots_fixture_expect(fixture, vdso, (struct plan){ .key = VDSO_KEY, .nr_bytes = 4096 });
	assert_int_equal(slots_fixture_unit(fixture, 0), 0);
}

static void without_a_vdso_its_slot_is_that_without_cfi(void **state)
{
	struct slots_fixture *fixture = *state;

	rows_standin_set_vdso(false);
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	assert_int_equal(table_slots_vdso(fixture->slots), table_slots_without_cfi(fixture->slots));
	assert_int_equal(slots_fixture_stats(fixture).nr_built, 0);
}

static void the_most_wanted_file_is_read_first(void **state)
{
	static const uint64_t expected[] = { VDSO_KEY, 3, 2, 1, 4 };
	struct slots_fixture *fixture = *state;
	uint32_t slots[5];
	uint64_t keys[MAX_ORDER];

	rows_standin_shut(true);
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (uint64_t key = 1; key < 5; key++)
		slots[key] = slots_fixture_add(fixture,
					       (struct plan){ .key = key, .nr_bytes = 100 });
	assert_int_equal(slots_fixture_stats(fixture).nr_waiting, 5);
	assert_false(table_slots_want(fixture->slots, slots[3]));
	assert_false(table_slots_want(fixture->slots, slots[2]));
	assert_false(table_slots_want(fixture->slots, slots[3]));
	assert_false(table_slots_wait_idle(fixture->slots, clock_mono_ns() + NSEC_PER_MSEC));
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	assert_int_equal(rows_standin_order(keys), array_len(expected));
	assert_memory_equal(keys, expected, sizeof(expected));
}

static void files_with_the_same_key_share_a_table(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t first = slots_fixture_load(fixture, plan);
	uint32_t second = slots_fixture_load(fixture, plan);
	assert_int_not_equal(first, second);
	assert_int_equal(slots_fixture_unit(fixture, first), slots_fixture_unit(fixture, second));
	assert_int_equal(slots_fixture_stats(fixture).nr_shared, 1);
	assert_int_equal(slots_fixture_stats(fixture).nr_tables, 2);
	table_slots_remove(fixture->slots, first);
	assert_int_equal(slots_fixture_unit(fixture, first), TABLE_NOT_LOADED);
	slots_fixture_expect(fixture, second, plan);
}

static void a_table_outlives_its_slots(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = slots_fixture_load(fixture, plan);
	uint32_t unit = slots_fixture_unit(fixture, slot);
	table_slots_remove(fixture->slots, slot);
	slot = slots_fixture_load(fixture, plan);
	assert_int_equal(slots_fixture_unit(fixture, slot), unit);
	assert_int_equal(rows_standin_nr_built(), 2);
}

static void a_removed_slot_becomes_another_files_after_a_reclaim(void **state)
{
	struct slots_fixture *fixture = *state;
	uint32_t other = 0;

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = slots_fixture_load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	/* The thread does not come to its chores meanwhile. */
	rows_standin_shut(true);
	slots_fixture_add(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	rows_standin_wait_until_inside();
	table_slots_remove(fixture->slots, slot);
	assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_NOT_LOADED);
	for (uint64_t key = 10; key < 20; key++)
		assert_int_not_equal(
			slots_fixture_add(fixture, (struct plan){ .key = key, .nr_bytes = 100 }),
			slot);
	rows_standin_shut(false);
	for (int i = 0; i < 200 && other != slot; i++) {
		usleep(20000);
		other = slots_fixture_add(fixture, (struct plan){ .key = 30, .nr_bytes = 100 });
	}
	assert_int_equal(other, slot);
}

static void a_slot_removed_while_its_file_is_read_stays_removed(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	rows_standin_shut(true);
	uint32_t slot = slots_fixture_add(fixture, plan);
	rows_standin_wait_until_inside();
	table_slots_remove(fixture->slots, slot);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_NOT_LOADED);
	assert_false(table_slots_want(fixture->slots, slot));
	assert_int_equal(slots_fixture_stats(fixture).nr_slots, 2);
	/* The work was not in vain. */
	slots_fixture_expect(fixture, slots_fixture_load(fixture, plan), plan);
	assert_int_equal(rows_standin_nr_built(), 2);
}

static void a_slot_removed_while_it_waits_is_not_read(void **state)
{
	struct slots_fixture *fixture = *state;
	uint64_t keys[MAX_ORDER];

	rows_standin_shut(true);
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	uint32_t slot = slots_fixture_add(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	table_slots_remove(fixture->slots, slot);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	assert_int_equal(rows_standin_order(keys), 1);
	assert_int_equal(keys[0], VDSO_KEY);
}

static void numbers_that_are_no_slots_are_ignored(void **state)
{
	static const uint32_t numbers[] = { 0, 3, 1000, MAX_TABLE_SLOTS, UINT32_MAX };
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	for (size_t i = 0; i < array_len(numbers); i++) {
		assert_false(table_slots_want(fixture->slots, numbers[i]));
		table_slots_remove(fixture->slots, numbers[i]);
		slots_fixture_reopen(fixture, numbers[i],
				     (struct plan){ .key = 1, .nr_bytes = 10 });
	}
	slots_fixture_settle(fixture);
	assert_int_equal(slots_fixture_stats(fixture).nr_slots, 2);
	assert_int_equal(rows_standin_nr_built(), 1);
}

static void a_file_that_nobody_asked_for_is_closed(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = slots_fixture_load(fixture, plan);
	int fd = rows_standin_file(&plan);
	int number = fd;
	table_slots_reopen(fixture->slots, slot, &fd, 0);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	slots_fixture_settle(fixture);
	assert_int_equal(slots_fixture_stats(fixture).nr_shared, 0);
}

static void only_so_many_files_may_wait(void **state)
{
	struct slots_fixture *fixture = *state;
	struct rlimit limit = { 4096, 4096 };
	struct plan plan = { .key = 1, .nr_bytes = 100 };
	uint32_t slot = 77;

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		skip();
	rows_standin_shut(true);
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (int i = 0; i < TABLE_QUEUE_MAX; i++)
		slots_fixture_add(fixture, plan);
	int fd = rows_standin_file(&plan);
	int number = fd;
	assert_int_equal(table_slots_add(fixture->slots, &fd, 0, &slot), -ENOSPC);
	assert_int_equal(fd, -EBADF);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	assert_int_equal(slot, 77);
	assert_int_equal(slots_fixture_stats(fixture).nr_no_slot, 1);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	assert_int_equal(slots_fixture_stats(fixture).nr_shared, TABLE_QUEUE_MAX - 1);
}

static size_t count_open_files(void)
{
	size_t nr_open = 0;

	for (int fd = 0; fd < 4096; fd++)
		nr_open += fcntl(fd, F_GETFD) >= 0;
	return nr_open;
}

static void the_end_closes_what_waits(void **state)
{
	struct slots_fixture *fixture = *state;

	assert_int_equal(unwind_memory_add_chunk(fixture->maps.memory, 0), 0);
	size_t before = count_open_files();
	rows_standin_shut(true);
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (uint64_t key = 1; key < 10; key++)
		slots_fixture_add(fixture, (struct plan){ .key = key, .nr_bytes = 100 });
	assert_int_equal(count_open_files(), before + 10 + 1); /* the last one wakes the thread */
	rows_standin_shut(false);
	slots_fixture_stop(fixture);
	assert_int_equal(count_open_files(), before);
}

static void a_file_in_one_lane_does_not_hold_up_another_owners(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan bad = { .key = 1, .nr_bytes = SIZE, .owner = SLOW_OWNER };
	struct plan good = { .key = 2, .nr_bytes = SIZE, .owner = 5 };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	rows_standin_shut_slow_lane(true);
	uint32_t bad_slot = slots_fixture_add(fixture, bad);
	rows_standin_wait_until_inside();
	uint32_t other_bad_slot = slots_fixture_add(fixture, bad);
	uint32_t slot = slots_fixture_add(fixture, good);
	for (int i = 0; i < 2000 && slots_fixture_unit(fixture, slot) == TABLE_NOT_LOADED; i++)
		usleep(10000);
	slots_fixture_expect(fixture, slot, good);
	assert_int_equal(slots_fixture_unit(fixture, bad_slot), TABLE_NOT_LOADED);
	assert_int_equal(slots_fixture_stats(fixture).nr_waiting, 2);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	slots_fixture_expect(fixture, bad_slot, bad);
	slots_fixture_expect(fixture, other_bad_slot, bad);
}

static void a_file_that_takes_too_long_is_read_again_in_the_slow_lane(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE, .is_too_slow = true };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_expect(fixture, slots_fixture_load(fixture, plan), plan);
	struct table_slots_stats stats = slots_fixture_stats(fixture);
	assert_int_equal(stats.nr_again, 1);
	assert_int_equal(stats.nr_failures, 0);
}

static void a_slot_removed_while_its_file_is_to_be_read_again_stays_removed(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE, .is_too_slow = true };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_settle(fixture);
	rows_standin_shut(true);
	uint32_t slot = slots_fixture_add(fixture, plan);
	rows_standin_wait_until_inside();
	table_slots_remove(fixture->slots, slot);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	assert_int_equal(slots_fixture_stats(fixture).nr_again, 0);
	assert_int_equal(slots_fixture_stats(fixture).nr_slots, 2);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, slots_fixture_set_up, slots_fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_gets_its_table),
		TEST(two_slots_are_there_from_the_start),
		TEST(without_a_vdso_its_slot_is_that_without_cfi),
		TEST(the_most_wanted_file_is_read_first),
		TEST(files_with_the_same_key_share_a_table),
		TEST(a_table_outlives_its_slots),
		TEST(a_removed_slot_becomes_another_files_after_a_reclaim),
		TEST(a_slot_removed_while_its_file_is_read_stays_removed),
		TEST(a_slot_removed_while_it_waits_is_not_read),
		TEST(numbers_that_are_no_slots_are_ignored),
		TEST(a_file_that_nobody_asked_for_is_closed),
		TEST(a_file_in_one_lane_does_not_hold_up_another_owners),
		TEST(a_file_that_takes_too_long_is_read_again_in_the_slow_lane),
		TEST(a_slot_removed_while_its_file_is_to_be_read_again_stays_removed),
		TEST(only_so_many_files_may_wait),
		TEST(the_end_closes_what_waits),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
