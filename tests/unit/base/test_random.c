/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <string.h>

#include "unit.h"

static void bytes_differ_from_call_to_call(void **state)
{
	unsigned char first[16] = { 0 }, second[16] = { 0 }, none[16] = { 0 };
	(void)state;

	assert_int_equal(random_bytes(first, sizeof(first)), 0);
	assert_int_equal(random_bytes(second, sizeof(second)), 0);
	assert_memory_not_equal(first, second, sizeof(first));
	assert_memory_not_equal(first, none, sizeof(first));
	assert_memory_not_equal(first + 8, none, sizeof(first) - 8);
}

static void no_bytes_are_no_failure_and_nothing_else_is_written(void **state)
{
	unsigned char bytes[3] = { 1, 2, 3 };
	(void)state;

	assert_int_equal(random_bytes(bytes, 0), 0);
	assert_int_equal(bytes[0], 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(random_bytes(bytes + 1, 1), 0);
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[2], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_differ_from_call_to_call),
		cmocka_unit_test(no_bytes_are_no_failure_and_nothing_else_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
