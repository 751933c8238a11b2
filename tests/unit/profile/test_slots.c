/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/slots.h"

#include "unit.h"

#define SECOND_NS UINT64_C(1000000000)

static void a_time_belongs_to_its_part_of_the_second(void **state)
{
	struct slots slots = { { 0 } };
	(void)state;

	slots_add(&slots, 1795528800 * SECOND_NS, 3);
	slots_add(&slots, 1795528800 * SECOND_NS + SLOT_NS - 1, 1);
	slots_add(&slots, 1795528800 * SECOND_NS + SLOT_NS, 5);
	slots_add(&slots, 1795528801 * SECOND_NS - 1, 7);
	assert_int_equal(slots.counts[0], 4);
	assert_int_equal(slots.counts[1], 5);
	assert_int_equal(slots.counts[19], 7);
	assert_int_equal(slots_total(&slots), 16);
}

static void removing_keeps_the_sum_right_and_the_shape(void **state)
{
	struct slots slots = { { 0 } };
	(void)state;

	slots.counts[2] = 10;
	slots.counts[3] = 30;
	slots.counts[9] = 1;
	slots_remove(&slots, 20);
	assert_int_equal(slots_total(&slots), 21);
	assert_in_range(slots.counts[2], 4, 6);
	assert_in_range(slots.counts[3], 15, 16);
}

static void no_more_is_removed_than_there_is(void **state)
{
	struct slots slots = { { 0 } };
	(void)state;

	slots_remove(&slots, 5);
	assert_int_equal(slots_total(&slots), 0);
	slots.counts[19] = 4;
	slots_remove(&slots, 5);
	assert_int_equal(slots_total(&slots), 0);
}

static void large_counts_do_not_overflow(void **state)
{
	struct slots slots = { { 0 } };
	(void)state;

	slots.counts[0] = slots.counts[1] = UINT64_MAX / 2;
	slots_remove(&slots, UINT64_MAX / 2);
	assert_int_equal(slots_total(&slots), UINT64_MAX - 1 - UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_belongs_to_its_part_of_the_second),
		cmocka_unit_test(removing_keeps_the_sum_right_and_the_shape),
		cmocka_unit_test(no_more_is_removed_than_there_is),
		cmocka_unit_test(large_counts_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
