/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/cpu_budget.h"

#include "base/clock.h"
#include "unit.h"

static void saved_time_can_be_used_at_once(void **state)
{
	(void)state;
	struct cpu_budget budget;

	cpu_budget_init(&budget, 20, 1000);
	for (int i = 0; i < 3; i++) {
		assert_true(cpu_budget_allows(&budget, 1000));
		cpu_budget_charge(&budget, NSEC_PER_SEC);
	}
	assert_false(cpu_budget_allows(&budget, 1000));
}

static void over_time_work_gets_its_share(void **state)
{
	(void)state;
	struct cpu_budget budget;
	uint64_t spent_ns = 0;

	cpu_budget_init(&budget, 20, 0);
	for (uint64_t second = 0; second < 1000; second++) {
		if (!cpu_budget_allows(&budget, second * NSEC_PER_SEC))
			continue;
		cpu_budget_charge(&budget, 300 * NSEC_PER_MSEC);
		spent_ns += 300 * NSEC_PER_MSEC;
	}
	assert_in_range(spent_ns, 20 * NSEC_PER_SEC, (20 + 4) * NSEC_PER_SEC);
}

static void long_work_is_paid_for_afterwards(void **state)
{
	(void)state;
	struct cpu_budget budget;

	cpu_budget_init(&budget, 20, 0);
	assert_true(cpu_budget_allows(&budget, 0));
	cpu_budget_charge(&budget, 5 * NSEC_PER_SEC);
	assert_false(cpu_budget_allows(&budget, 99 * NSEC_PER_SEC));
	assert_true(cpu_budget_allows(&budget, 101 * NSEC_PER_SEC));
}

static void no_more_is_saved_than_a_burst(void **state)
{
	(void)state;
	struct cpu_budget budget;

	cpu_budget_init(&budget, 20, 0);
	assert_true(cpu_budget_allows(&budget, UINT64_MAX / 2));
	cpu_budget_charge(&budget, CPU_BUDGET_BURST_NS);
	assert_false(cpu_budget_allows(&budget, UINT64_MAX / 2));
}

static void impossible_clocks_and_costs_do_no_harm(void **state)
{
	(void)state;
	struct cpu_budget budget;

	cpu_budget_init(&budget, 20, NSEC_PER_SEC);
	assert_true(cpu_budget_allows(&budget, 0));
	for (int i = 0; i < 10; i++)
		cpu_budget_charge(&budget, UINT64_MAX);
	assert_false(cpu_budget_allows(&budget, NSEC_PER_SEC));
	assert_true(budget.left_ns < 0);
}

static void without_a_share_there_is_no_limit(void **state)
{
	(void)state;
	struct cpu_budget budget;

	cpu_budget_init(&budget, 0, 0);
	cpu_budget_charge(&budget, 1000 * NSEC_PER_SEC);
	assert_true(cpu_budget_allows(&budget, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_time_can_be_used_at_once),
		cmocka_unit_test(over_time_work_gets_its_share),
		cmocka_unit_test(long_work_is_paid_for_afterwards),
		cmocka_unit_test(no_more_is_saved_than_a_burst),
		cmocka_unit_test(impossible_clocks_and_costs_do_no_harm),
		cmocka_unit_test(without_a_share_there_is_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
