/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/slot_map.h"

#include "base/cleanup.h"

#include <string.h>

#include "unit.h"

static struct table_slot shared[MAX_TABLE_SLOTS];

static int set_up(void **state)
{
	(void)state;
	memset(shared, 0, sizeof(shared));
	return 0;
}

static uint32_t take(struct slot_map *map)
{
	uint32_t slot = 0;

	assert_int_equal(slot_map_take(map, &slot), 0);
	map->slots[slot].state = SLOT_PENDING;
	return slot;
}

static void unwinders_see_what_is_set(void **state)
{
	_cleanup_(slot_map_done) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_init(&map, shared), 0);
	assert_int_equal(shared[0].used, slot_map_clock(&map));
	uint32_t slot = take(&map);
	slot_map_set_unit(&map, slot, 1234);
	slot_map_set_used(&map, slot, 5);
	assert_int_equal(shared[slot].unit, 1234);
	assert_int_equal(shared[slot].used, 5);
	slot_map_release(&map, slot);
	assert_int_equal(shared[slot].unit, TABLE_NOT_LOADED);
}

static void a_released_slot_is_not_taken_before_a_reclaim(void **state)
{
	_cleanup_(slot_map_done) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_init(&map, shared), 0);
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
	_cleanup_(slot_map_done) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_init(&map, shared), 0);
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
	_cleanup_(slot_map_done) struct slot_map map = { 0 };
	uint32_t slot = 77;
	(void)state;

	assert_int_equal(slot_map_init(&map, shared), 0);
	for (uint32_t i = 1; i < MAX_TABLE_SLOTS; i++)
		assert_int_equal(take(&map), i);
	assert_int_equal(slot_map_take(&map, &slot), -ENOSPC);
	assert_int_equal(slot, 77);
	assert_int_equal(map.nr_taken, MAX_TABLE_SLOTS - 1);
}

static void numbers_that_are_no_slots_are_known(void **state)
{
	_cleanup_(slot_map_done) struct slot_map map = { 0 };
	(void)state;

	assert_int_equal(slot_map_init(&map, shared), 0);
	uint32_t slot = take(&map);
	assert_true(slot_map_has(&map, slot));
	assert_false(slot_map_has(&map, 0));
	assert_false(slot_map_has(&map, slot + 1));
	assert_false(slot_map_has(&map, UINT32_MAX));
	slot_map_release(&map, slot);
	assert_false(slot_map_has(&map, slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(unwinders_see_what_is_set, set_up),
		cmocka_unit_test_setup(a_released_slot_is_not_taken_before_a_reclaim, set_up),
		cmocka_unit_test_setup(a_reclaim_that_failed_frees_nothing, set_up),
		cmocka_unit_test_setup(all_slots_but_the_clock_can_be_taken, set_up),
		cmocka_unit_test_setup(numbers_that_are_no_slots_are_known, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
