/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_history.h"
#include "unit.h"

#define NOTHING 0.001

static void push(struct event_history *history, double value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		event_history_push(history, value);
}

static void an_empty_history_is_one_of_zeros(void **state)
{
	(void)state;
	struct event_history history = { 0 };
	struct event_baseline baseline = event_history_baseline(&history);

	assert_true(baseline.median + baseline.spread + baseline.high + baseline.bursts < NOTHING);
}

static void a_steady_value_has_no_spread(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 40, 1000);
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.median, 40, NOTHING);
	assert_float_equal(baseline.spread, 0, NOTHING);
	assert_float_equal(baseline.high, 40, NOTHING);
	assert_float_equal(baseline.bursts, 40, NOTHING);
}

static void values_of_all_sizes_are_put_in_order(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	for (unsigned int i = 0; i < EVENT_HISTORY_S; i++)
		push(&history, i * 7 % EVENT_HISTORY_S * 109, 1);
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.median, 299.5 * 109, NOTHING);
	assert_float_equal(baseline.high, 540 * 109, NOTHING);
	assert_float_equal(baseline.spread, 1.4826 * 150 * 109, 109);
}

static void one_burst_changes_nothing_that_is_usual(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 10, 300);
	push(&history, 500, 8);
	push(&history, 10, 292);
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.median, 10, NOTHING);
	assert_float_equal(baseline.high, 10, NOTHING);
	assert_float_equal(baseline.bursts, 10, NOTHING);
}

static void bursts_of_every_minute_are_usual(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	for (unsigned int i = 0; i < 10; i++) {
		push(&history, 0, 58);
		push(&history, 100, 2);
	}
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.median, 0, NOTHING);
	assert_float_equal(baseline.bursts, 100, NOTHING);
}

static void the_rise_of_a_burst_is_not_usual(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 8, 30);
	push(&history, 9, 140);
	push(&history, 43, 1);
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.bursts, 9, NOTHING);
}

static void only_the_newest_ten_minutes_count(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 700, 900);
	push(&history, 3, EVENT_HISTORY_S);
	struct event_baseline baseline = event_history_baseline(&history);
	assert_float_equal(baseline.median, 3, NOTHING);
	assert_float_equal(baseline.bursts, 3, NOTHING);
}

static void zeros_can_stand_before_the_first_value(void **state)
{
	(void)state;
	struct event_history history;

	event_history_reset(&history, 5 * EVENT_HISTORY_S);
	push(&history, 90, 200);
	assert_float_equal(event_history_baseline(&history).median, 0, NOTHING);
	event_history_reset(&history, 0);
	push(&history, 90, 200);
	assert_float_equal(event_history_baseline(&history).median, 90, NOTHING);
}

static void the_older_values_can_be_forgotten(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 1, 500);
	push(&history, 80, 250);
	event_history_keep(&history, 200);
	assert_float_equal(event_history_baseline(&history).median, 80, NOTHING);
	event_history_keep(&history, 1000);
	assert_int_equal(history.nr, 200);
}

static void values_beyond_the_unit_are_limited(void **state)
{
	(void)state;
	struct event_history history = { 0 };

	push(&history, 1e12, 100);
	assert_float_equal(event_history_baseline(&history).median, EVENT_HISTORY_MAX, NOTHING);
	push(&history, -5, 300);
	assert_float_equal(event_history_baseline(&history).median, 0, NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_history_is_one_of_zeros),
		cmocka_unit_test(a_steady_value_has_no_spread),
		cmocka_unit_test(values_of_all_sizes_are_put_in_order),
		cmocka_unit_test(one_burst_changes_nothing_that_is_usual),
		cmocka_unit_test(bursts_of_every_minute_are_usual),
		cmocka_unit_test(the_rise_of_a_burst_is_not_usual),
		cmocka_unit_test(only_the_newest_ten_minutes_count),
		cmocka_unit_test(zeros_can_stand_before_the_first_value),
		cmocka_unit_test(the_older_values_can_be_forgotten),
		cmocka_unit_test(values_beyond_the_unit_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
