/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_pace.h"

#include "base/clock.h"
#include "unit.h"

static void work_may_be_done_at_once_up_to_what_was_saved(void **state)
{
	(void)state;
	struct lines_pace pace;

	lines_pace_init(&pace, 20, 1000);
	for (int i = 0; i < 3; i++) {
		assert_true(lines_pace_allows(&pace, 1000));
		lines_pace_charge(&pace, NSEC_PER_SEC);
	}
	assert_false(lines_pace_allows(&pace, 1000));
}

static void over_time_it_is_a_share(void **state)
{
	(void)state;
	struct lines_pace pace;
	uint64_t spent_ns = 0;

	lines_pace_init(&pace, 20, 0);
	for (uint64_t second = 0; second < 1000; second++) {
		if (!lines_pace_allows(&pace, second * NSEC_PER_SEC))
			continue;
		lines_pace_charge(&pace, 300 * NSEC_PER_MSEC);
		spent_ns += 300 * NSEC_PER_MSEC;
	}
	assert_in_range(spent_ns, 20 * NSEC_PER_SEC, (20 + 4) * NSEC_PER_SEC);
}

static void long_work_is_paid_for_afterwards(void **state)
{
	(void)state;
	struct lines_pace pace;

	lines_pace_init(&pace, 20, 0);
	assert_true(lines_pace_allows(&pace, 0));
	lines_pace_charge(&pace, 5 * NSEC_PER_SEC);
	assert_false(lines_pace_allows(&pace, 99 * NSEC_PER_SEC));
	assert_true(lines_pace_allows(&pace, 101 * NSEC_PER_SEC));
}

static void no_more_is_saved_than_a_burst(void **state)
{
	(void)state;
	struct lines_pace pace;

	lines_pace_init(&pace, 20, 0);
	assert_true(lines_pace_allows(&pace, UINT64_MAX / 2));
	lines_pace_charge(&pace, LINES_PACE_BURST_NS);
	assert_false(lines_pace_allows(&pace, UINT64_MAX / 2));
}

static void clocks_and_costs_that_cannot_be_do_no_harm(void **state)
{
	(void)state;
	struct lines_pace pace;

	lines_pace_init(&pace, 20, NSEC_PER_SEC);
	assert_true(lines_pace_allows(&pace, 0));
	for (int i = 0; i < 10; i++)
		lines_pace_charge(&pace, UINT64_MAX);
	assert_false(lines_pace_allows(&pace, NSEC_PER_SEC));
	assert_true(pace.left_ns < 0);
}

static void without_a_share_there_is_no_bound(void **state)
{
	(void)state;
	struct lines_pace pace;

	lines_pace_init(&pace, 0, 0);
	lines_pace_charge(&pace, 1000 * NSEC_PER_SEC);
	assert_true(lines_pace_allows(&pace, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_may_be_done_at_once_up_to_what_was_saved),
		cmocka_unit_test(over_time_it_is_a_share),
		cmocka_unit_test(long_work_is_paid_for_afterwards),
		cmocka_unit_test(no_more_is_saved_than_a_burst),
		cmocka_unit_test(clocks_and_costs_that_cannot_be_do_no_harm),
		cmocka_unit_test(without_a_share_there_is_no_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
