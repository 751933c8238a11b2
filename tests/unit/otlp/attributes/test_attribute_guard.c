/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_guard.h"

#include "unit.h"

#define MINUTE_NS (60 * NSEC_PER_SEC)

static const struct attribute_set_key a = { .resource = { 1, 2 }, .attribute = 1 };
static const struct attribute_set_key b = { .resource = { 1, 2 }, .attribute = 2 };

static struct attribute_guard *guard_of(uint32_t max_values)
{
	struct attribute_guard *guard = NULL;

	assert_int_equal(attribute_guard_new(max_values, &guard), 0);
	return guard;
}

static void a_set_has_so_many_places(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(2);
	(void)state;

	assert_int_equal(attribute_guard_add(guard, &a, 10, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &a, 11, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &a, 12, 0), 0);
	assert_true(attribute_guard_touch(guard, &a, 10, 0));
	assert_false(attribute_guard_touch(guard, &a, 12, 0));
}

static void sets_do_not_share_places(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(1);
	(void)state;

	assert_int_equal(attribute_guard_add(guard, &a, 10, 0), 1);
	assert_false(attribute_guard_touch(guard, &b, 10, 0));
	assert_int_equal(attribute_guard_add(guard, &b, 11, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &b, 10, 0), 0);
}

static void a_place_is_free_an_hour_after_it_was_used(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(2);
	(void)state;

	assert_int_equal(attribute_guard_add(guard, &a, 10, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &a, 11, 0), 1);
	assert_true(attribute_guard_touch(guard, &a, 10, 30 * MINUTE_NS));

	attribute_guard_expire(guard, 60 * MINUTE_NS - 1);
	assert_int_equal(attribute_guard_add(guard, &a, 12, 60 * MINUTE_NS - 1), 0);
	attribute_guard_expire(guard, 60 * MINUTE_NS);
	assert_false(attribute_guard_touch(guard, &a, 11, 60 * MINUTE_NS));
	assert_true(attribute_guard_touch(guard, &a, 10, 60 * MINUTE_NS));
	assert_int_equal(attribute_guard_add(guard, &a, 12, 60 * MINUTE_NS), 1);
	assert_int_equal(attribute_guard_add(guard, &a, 13, 60 * MINUTE_NS), 0);
}

static void sets_are_found_after_others_were_forgotten(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(1);
	(void)state;

	for (uint64_t i = 0; i < 1000; i++) {
		const struct attribute_set_key key = { .resource = { i, 0 } };

		assert_int_equal(attribute_guard_add(guard, &key, i, i % 3 ? MINUTE_NS : 0), 1);
	}
	attribute_guard_expire(guard, 60 * MINUTE_NS);
	for (uint64_t i = 0; i < 1000; i++) {
		const struct attribute_set_key key = { .resource = { i, 0 } };

		assert_int_equal(attribute_guard_touch(guard, &key, i, 60 * MINUTE_NS), i % 3 != 0);
	}
}

static void there_are_at_most_so_many_sets(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(1);
	struct attribute_set_key key = { 0 };
	(void)state;

	for (key.resource[0] = 0; key.resource[0] < ATTRIBUTE_GUARD_MAX_SETS; key.resource[0]++)
		assert_int_equal(attribute_guard_add(guard, &key, 1, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &key, 1, 0), 0);
	attribute_guard_expire(guard, 60 * MINUTE_NS);
	assert_int_equal(attribute_guard_add(guard, &key, 1, 0), 1);
}

static void there_are_at_most_so_many_values_in_all(void **state)
{
	_cleanup_(attribute_guard_freep) struct attribute_guard *guard = guard_of(UINT32_MAX);
	(void)state;

	for (size_t i = 0; i < ATTRIBUTE_GUARD_MAX_VALUES; i++)
		assert_int_equal(attribute_guard_add(guard, i % 2 ? &a : &b, i, 0), 1);
	assert_int_equal(attribute_guard_add(guard, &a, UINT64_MAX, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_so_many_places),
		cmocka_unit_test(sets_do_not_share_places),
		cmocka_unit_test(a_place_is_free_an_hour_after_it_was_used),
		cmocka_unit_test(sets_are_found_after_others_were_forgotten),
		cmocka_unit_test(there_are_at_most_so_many_sets),
		cmocka_unit_test(there_are_at_most_so_many_values_in_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
