/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "unit.h"

#include <stdlib.h>

struct numbers {
	uint64_t *items;
	size_t nr_items, cap_items;
};

static void elements_survive_growth(void **state)
{
	struct numbers numbers = { 0 };
	(void)state;

	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(
			array_grow(numbers.items, numbers.cap_items, numbers.nr_items + 1, 10000),
			0);
		numbers.items[numbers.nr_items++] = i * i;
	}
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(numbers.items[i], i * i);
	free(numbers.items);
}

static void capacity_never_exceeds_the_limit(void **state)
{
	struct numbers numbers = { 0 };
	(void)state;

	assert_int_equal(array_grow(numbers.items, numbers.cap_items, 17, 20), 0);
	assert_int_equal(numbers.cap_items, 20);
	assert_int_equal(array_grow(numbers.items, numbers.cap_items, 20, 20), 0);
	free(numbers.items);
}

static void failure_leaves_pointer_and_capacity_alone(void **state)
{
	struct numbers numbers = { 0 };
	(void)state;

	assert_int_equal(array_grow(numbers.items, numbers.cap_items, 4, 8), 0);
	const uint64_t *items = numbers.items;
	assert_int_equal(array_grow(numbers.items, numbers.cap_items, 9, 8), -ENOSPC);
	assert_ptr_equal(numbers.items, items);
	assert_int_equal(numbers.cap_items, 8);
	free(numbers.items);
}

static void sizes_that_overflow_are_out_of_memory(void **state)
{
	static const size_t needs[] = { SIZE_MAX, SIZE_MAX / 2 + 2,
					SIZE_MAX / sizeof(uint64_t) + 1 };
	struct numbers numbers = { 0 };
	(void)state;

	for (size_t i = 0; i < array_len(needs); i++) {
		assert_int_equal(array_grow(numbers.items, numbers.cap_items, needs[i], SIZE_MAX),
				 -ENOMEM);
		assert_null(numbers.items);
		assert_int_equal(numbers.cap_items, 0);
	}
}

static void needing_nothing_allocates_nothing(void **state)
{
	struct numbers numbers = { 0 };
	(void)state;

	assert_int_equal(array_grow(numbers.items, numbers.cap_items, 0, 0), 0);
	assert_null(numbers.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_survive_growth),
		cmocka_unit_test(capacity_never_exceeds_the_limit),
		cmocka_unit_test(failure_leaves_pointer_and_capacity_alone),
		cmocka_unit_test(sizes_that_overflow_are_out_of_memory),
		cmocka_unit_test(needing_nothing_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
