/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_budget.h"

#include "torture.h"
#include "unit.h"

#include <stdlib.h>

static void what_was_taken_is_bounded_and_can_be_given_back(void **state)
{
	struct elf_budget budget = { .max_bytes = 100 };
	(void)state;

	assert_int_equal(elf_budget_take(&budget, 60), 0);
	assert_int_equal(elf_budget_take(&budget, 41), -ENOSPC);
	assert_int_equal(elf_budget_take(&budget, UINT64_MAX), -ENOSPC);
	assert_int_equal(elf_budget_room(&budget, 7), 5);
	assert_int_equal(elf_budget_take(&budget, 40), 0);
	elf_budget_give(&budget, 60);
	assert_int_equal(budget.nr_bytes, 40);
}

static void no_budget_has_no_bound(void **state)
{
	(void)state;
	assert_int_equal(elf_budget_take(NULL, UINT64_MAX), 0);
	elf_budget_give(NULL, 1);
	assert_int_equal(elf_budget_room(NULL, 1), SIZE_MAX);
}

static void an_array_grows_into_what_is_left(void **state)
{
	struct elf_budget budget = { .max_bytes = 100 };
	uint32_t *items = NULL;
	size_t cap = 0;
	(void)state;

	assert_int_equal(elf_budget_grow(&budget, items, cap, 1, 1000), 0);
	assert_int_equal(budget.nr_bytes, cap * sizeof(*items));
	assert_int_equal(elf_budget_grow(&budget, items, cap, 25, 1000), 0);
	assert_int_equal(cap, 25);
	assert_int_equal(budget.nr_bytes, 100);
	assert_int_equal(elf_budget_grow(&budget, items, cap, 26, 1000), -ENOSPC);
	assert_int_equal(elf_budget_grow(&budget, items, cap, 25, 1000), 0);
	assert_int_equal(budget.nr_bytes, 100);
	free(items);
}

static void the_maximum_of_an_array_holds_as_well(void **state)
{
	struct elf_budget budget = { .max_bytes = 1000 };
	uint32_t *items = NULL;
	size_t cap = 0;
	(void)state;

	assert_int_equal(elf_budget_grow(&budget, items, cap, 3, 3), 0);
	assert_int_equal(elf_budget_grow(&budget, items, cap, 4, 3), -ENOSPC);
	assert_int_equal(budget.nr_bytes, 3 * sizeof(*items));
	free(items);
}

static void memory_that_runs_out_charges_nothing(void **state)
{
	struct elf_budget budget = { .max_bytes = 1000 };
	uint32_t *items = NULL;
	size_t cap = 0;
	(void)state;

	torture_begin(1);
	int r = elf_budget_grow(&budget, items, cap, 3, 3);
	assert_true(torture_end());
	assert_int_equal(r, -ENOMEM);
	assert_int_equal(budget.nr_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_taken_is_bounded_and_can_be_given_back),
		cmocka_unit_test(no_budget_has_no_bound),
		cmocka_unit_test(an_array_grows_into_what_is_left),
		cmocka_unit_test(the_maximum_of_an_array_holds_as_well),
		cmocka_unit_test(memory_that_runs_out_charges_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
