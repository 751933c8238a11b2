/* SPDX-License-Identifier: Apache-2.0 */
#include "store/budget.h"
#include "unit.h"

#define MIDNIGHT (UINT64_C(20000) * 86400)
#define NOON (MIDNIGHT + 43200)
#define PER_DAY UINT64_C(24000000) /* an hour's worth is 1,000,000 */

static void without_a_limit_nothing_is_folded(void **state)
{
	(void)state;
	struct budget budget = { 0 };

	budget_spend(&budget, NOON, UINT64_MAX / 2);
	assert_int_equal(budget_next_min_count(&budget, NOON), 1);
	assert_int_equal(budget_min_count(&budget), 1);
}

static void the_threshold_rises_while_too_much_is_written(void **state)
{
	(void)state;
	struct budget budget = { .per_day = PER_DAY };

	budget_spend(&budget, MIDNIGHT, 2000000);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT), 2);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT + 60), 3);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT + 120), 4);
	assert_int_equal(budget_min_count(&budget), 4);
}

static void it_has_a_highest_value(void **state)
{
	(void)state;
	struct budget budget = { .per_day = PER_DAY };

	budget_spend(&budget, NOON, 100 * PER_DAY);
	for (int i = 0; i < 100; i++)
		(void)budget_next_min_count(&budget, NOON);
	assert_int_equal(budget_next_min_count(&budget, NOON), 128);
}

static void it_falls_when_there_is_room_again(void **state)
{
	(void)state;
	struct budget budget = { .per_day = PER_DAY };

	budget_spend(&budget, MIDNIGHT, 2000000);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT), 2);
	/* Neither too much nor much less: it stays. */
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT + 4500), 2);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT + 9000), 1);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT + 9060), 1);
}

static void a_day_begins_with_an_hours_worth(void **state)
{
	(void)state;
	struct budget budget = { .per_day = PER_DAY };

	budget_spend(&budget, MIDNIGHT - 1, PER_DAY);
	budget_spend(&budget, MIDNIGHT, 999999);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT), 1);
	budget_spend(&budget, MIDNIGHT, 2);
	assert_int_equal(budget_next_min_count(&budget, MIDNIGHT), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_nothing_is_folded),
		cmocka_unit_test(the_threshold_rises_while_too_much_is_written),
		cmocka_unit_test(it_has_a_highest_value),
		cmocka_unit_test(it_falls_when_there_is_room_again),
		cmocka_unit_test(a_day_begins_with_an_hours_worth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
