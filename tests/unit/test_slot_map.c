/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/slot_map.h"

#include "arena_fixture.h"
#include "base/cleanup.h"

#include <stdio.h>

#include <bpf/bpf.h>

#include "unit.h"

static uint32_t take(struct slot_map *map)
{
	uint32_t slot = 0;

	assert_int_equal(slot_map_take(map, &slot), 0);
	map->slots[slot].state = SLOT_WAITING;
	return slot;
}

static struct table_slot look_up(int fd, uint32_t slot)
{
	struct table_slot value;

	assert_int_equal(bpf_map_lookup_elem(fd, &slot, &value), 0);
	return value;
}

static void programs_see_what_is_set(void **state)
{
	_cleanup_close_ int fd = arena_fixture_tables();
	_cleanup_(slot_map_close) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_open(&map, fd), 0);
	assert_int_equal(look_up(fd, 0).used, slot_map_clock(&map));
	uint32_t slot = take(&map);
	slot_map_set_unit(&map, slot, 1234);
	slot_map_set_used(&map, slot, 5);
	assert_int_equal(look_up(fd, slot).unit, 1234);
	assert_int_equal(look_up(fd, slot).used, 5);
	slot_map_release(&map, slot);
	assert_int_equal(look_up(fd, slot).unit, TABLE_NOT_LOADED);
}

static void a_released_slot_is_not_taken_before_a_reclaim(void **state)
{
	_cleanup_close_ int fd = arena_fixture_tables();
	_cleanup_(slot_map_close) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_open(&map, fd), 0);
	uint32_t early = take(&map);
	uint32_t late = take(&map);
	assert_false(slot_map_begin_reclaim(&map));
	slot_map_set_used(&map, early, 9);
	slot_map_release(&map, early);
	assert_int_not_equal(take(&map), early);
	assert_true(slot_map_begin_reclaim(&map));
	slot_map_release(&map, late);
	assert_int_not_equal(take(&map), early);
	slot_map_end_reclaim(&map, true);
	assert_int_equal(take(&map), early);
	assert_int_equal(map.slots[early].generation, 1);
	assert_int_equal(slot_map_get_used(&map, early), 0);
	assert_int_not_equal(take(&map), late);
}

static void a_reclaim_that_failed_frees_nothing(void **state)
{
	_cleanup_close_ int fd = arena_fixture_tables();
	_cleanup_(slot_map_close) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_open(&map, fd), 0);
	uint32_t slot = take(&map);
	slot_map_release(&map, slot);
	assert_true(slot_map_begin_reclaim(&map));
	slot_map_end_reclaim(&map, false);
	assert_int_not_equal(take(&map), slot);
	assert_true(slot_map_begin_reclaim(&map));
	slot_map_end_reclaim(&map, true);
	assert_int_equal(take(&map), slot);
}

static void all_slots_but_the_clock_can_be_taken(void **state)
{
	_cleanup_close_ int fd = arena_fixture_tables();
	_cleanup_(slot_map_close) struct slot_map map = { 0 };
	uint32_t slot = 77;
	(void)state;

	assert_int_equal(slot_map_open(&map, fd), 0);
	for (uint32_t i = 1; i < MAX_TABLE_SLOTS; i++)
		assert_int_equal(take(&map), i);
	assert_int_equal(slot_map_take(&map, &slot), -ENOSPC);
	assert_int_equal(slot, 77);
	assert_int_equal(map.nr_taken, MAX_TABLE_SLOTS - 1);
}

static void numbers_that_are_no_slots_are_known(void **state)
{
	_cleanup_close_ int fd = arena_fixture_tables();
	_cleanup_(slot_map_close) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_open(&map, fd), 0);
	uint32_t slot = take(&map);
	assert_true(slot_map_has(&map, slot));
	assert_false(slot_map_has(&map, 0));
	assert_false(slot_map_has(&map, slot + 1));
	assert_false(slot_map_has(&map, UINT32_MAX));
	slot_map_release(&map, slot);
	assert_false(slot_map_has(&map, slot));
}

static void a_map_that_is_none_is_an_error(void **state)
{
	struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_open(&map, -EBADF), -EBADF);
	assert_null(map.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_see_what_is_set),
		cmocka_unit_test(a_released_slot_is_not_taken_before_a_reclaim),
		cmocka_unit_test(a_reclaim_that_failed_frees_nothing),
		cmocka_unit_test(all_slots_but_the_clock_can_be_taken),
		cmocka_unit_test(numbers_that_are_no_slots_are_known),
		cmocka_unit_test(a_map_that_is_none_is_an_error),
	};
	_cleanup_close_ int fd = arena_fixture_tables();

	if (fd < 0) {
		fputs("SKIP: no privilege to make BPF maps\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
