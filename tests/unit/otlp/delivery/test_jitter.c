/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/jitter.h"
#include "unit.h"

static void numbers_stay_within_their_bounds_and_reach_both(void **state)
{
	struct jitter jitter = { .state = 1 };
	uint32_t seen = 0;
	(void)state;

	for (int i = 0; i < 1000; i++) {
		uint64_t value = jitter_between(&jitter, 10, 13);

		assert_in_range(value, 10, 13);
		seen |= 1U << (value - 10);
	}
	assert_int_equal(seen, 0xf);
}

static void a_range_of_one_number_gives_that(void **state)
{
	struct jitter jitter = { 0 };
	(void)state;

	assert_int_equal(jitter_between(&jitter, 7, 7), 7);
	assert_int_equal(jitter_between(&jitter, 0, 0), 0);
	assert_true(jitter_between(&jitter, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void the_range_of_all_numbers_is_one(void **state)
{
	struct jitter jitter = { 0 };
	(void)state;

	assert_true(jitter_between(&jitter, 0, UINT64_MAX) !=
		    jitter_between(&jitter, 0, UINT64_MAX));
}

static void numbers_are_spread_evenly(void **state)
{
	struct jitter jitter = { 0 };
	unsigned int nr_in[10] = { 0 };
	(void)state;

	for (int i = 0; i < 100000; i++)
		nr_in[(jitter_around(&jitter, 1000000) - 500000) * 10 / 1000001]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(nr_in[i], 9500, 10500);
}

static void equal_seeds_give_equal_numbers_and_others_do_not(void **state)
{
	struct jitter a = { .state = 5 }, b = { .state = 5 }, c = { .state = 6 };
	uint64_t first = jitter_between(&a, 0, UINT64_MAX);
	(void)state;

	assert_true(first == jitter_between(&b, 0, UINT64_MAX));
	assert_true(first != jitter_between(&c, 0, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay_within_their_bounds_and_reach_both),
		cmocka_unit_test(a_range_of_one_number_gives_that),
		cmocka_unit_test(the_range_of_all_numbers_is_one),
		cmocka_unit_test(numbers_are_spread_evenly),
		cmocka_unit_test(equal_seeds_give_equal_numbers_and_others_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
