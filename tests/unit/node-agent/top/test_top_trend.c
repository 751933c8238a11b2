/* SPDX-License-Identifier: Apache-2.0 */
#include "top/trend.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"

static int add(struct trend *trend, const char *comm, uint32_t count)
{
	const struct stack_line line = { comm, "main", count };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(tally_done) struct tally tally = { 0 };

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	return trend_add(trend, &tally);
}

/* In hundredths of a CPU. */
static int point(const struct trend *trend, const char *name, size_t age)
{
	const struct trend_line *line = trend_find(trend, name);

	assert_non_null(line);
	return (int)(line->cpus[TREND_POINTS - 1 - age] * 100.0f + 0.5f);
}

static void the_newest_point_is_the_last(void **state)
{
	_cleanup_(trend_done) struct trend trend = { 0 };
	(void)state;

	assert_int_equal(add(&trend, "a", 50), 0);
	assert_int_equal(add(&trend, "a", 70), 0);
	assert_int_equal(point(&trend, "a", 0), 70);
	assert_int_equal(point(&trend, "a", 1), 50);
	assert_int_equal(point(&trend, "a", 2), 0);
}

static void a_row_that_is_idle_for_a_while_stays(void **state)
{
	_cleanup_(trend_done) struct trend trend = { 0 };
	(void)state;

	assert_int_equal(add(&trend, "a", 50), 0);
	assert_int_equal(add(&trend, "b", 20), 0);
	assert_int_equal(point(&trend, "a", 0), 0);
	assert_int_equal(point(&trend, "a", 1), 50);
	assert_int_equal(point(&trend, "b", 0), 20);
}

static void a_row_that_is_gone_is_forgotten(void **state)
{
	_cleanup_(trend_done) struct trend trend = { 0 };
	(void)state;

	assert_int_equal(add(&trend, "a", 50), 0);
	for (size_t i = 1; i < TREND_POINTS; i++)
		assert_int_equal(add(&trend, "b", 20), 0);
	assert_int_equal(point(&trend, "a", TREND_POINTS - 1), 50);
	assert_int_equal(add(&trend, "b", 20), 0);
	assert_null(trend_find(&trend, "a"));
	assert_int_equal(trend.nr_lines, 1);
}

static void nothing_is_found_before_the_first_point(void **state)
{
	_cleanup_(trend_done) struct trend trend = { 0 };
	(void)state;

	assert_null(trend_find(&trend, "a"));
}

static void without_memory_nothing_changes(void **state)
{
	const struct stack_line line = { "b", "main", 1 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(tally_done) struct tally tally = { 0 };
	_cleanup_(trend_done) struct trend trend = { 0 };
	bool has_failed = true;
	(void)state;

	assert_int_equal(add(&trend, "a", 50), 0);
	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	for (unsigned int n = 1; has_failed; n++) {
		torture_begin(n);
		int r = trend_add(&trend, &tally);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(point(&trend, "a", has_failed ? 0 : 1), 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_point_is_the_last),
		cmocka_unit_test(a_row_that_is_idle_for_a_while_stays),
		cmocka_unit_test(a_row_that_is_gone_is_forgotten),
		cmocka_unit_test(nothing_is_found_before_the_first_point),
		cmocka_unit_test(without_memory_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
