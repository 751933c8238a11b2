/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"

#include "base/err.h"
#include "unit.h"

static const int items[] = { 1, 3, 3, 5, 9 };

static size_t count_below(int wanted)
{
	return search_count(array_len(items), i, items[i] < wanted);
}

static size_t count_up_to(int wanted)
{
	return search_count(array_len(items), i, items[i] <= wanted);
}

static void it_finds_the_first_item_behind(void **state)
{
	static const struct {
		int wanted;
		size_t nr_below, nr_up_to;
	} cases[] = {
		{ 0, 0, 0 }, { 1, 0, 1 }, { 2, 1, 1 },	{ 3, 1, 3 },
		{ 4, 3, 3 }, { 9, 4, 5 }, { 10, 5, 5 },
	};

	(void)state;
	for (size_t n = 0; n < array_len(cases); n++) {
		assert_int_equal(count_below(cases[n].wanted), cases[n].nr_below);
		assert_int_equal(count_up_to(cases[n].wanted), cases[n].nr_up_to);
	}
}

static void it_looks_at_nothing_where_there_is_nothing(void **state)
{
	const int *none = NULL;

	(void)state;
	assert_int_equal(search_count(0, i, none[i] < 1), 0);
}

static void it_looks_at_few_of_many_items(void **state)
{
	size_t nr_looks = 0;
	size_t found = search_count(SIZE_MAX, i, (nr_looks++, i < 12345));

	(void)state;
	assert_int_equal(found, 12345);
	assert_true(nr_looks <= 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_finds_the_first_item_behind),
		cmocka_unit_test(it_looks_at_nothing_where_there_is_nothing),
		cmocka_unit_test(it_looks_at_few_of_many_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
