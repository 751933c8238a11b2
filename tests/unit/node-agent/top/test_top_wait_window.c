/* SPDX-License-Identifier: Apache-2.0 */
#include "top/wait_window.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"

static void add(struct wait_window *window, uint64_t time_ns, uint64_t duration_s)
{
	const struct wait_line line = { "a", "main;read", REASON_DISK, time_ns };
	_cleanup_(profile_unrefp) struct profile *waits = profile_of_waits(&line, 1);

	wait_window_add(window, waits, duration_s * NSEC_PER_SEC);
}

static void assert_merged(const struct wait_window *window, uint64_t time_ns, uint64_t duration_s)
{
	_cleanup_(profile_unrefp) struct profile *waits = NULL;

	assert_int_equal(wait_window_merge(window, &waits), 0);
	assert_int_equal(waits->type, PROFILE_OFF_CPU);
	assert_int_equal(profile_total(waits), time_ns);
	assert_int_equal(waits->duration_ns, duration_s * NSEC_PER_SEC);
}

static void the_last_ten_seconds_are_merged(void **state)
{
	_cleanup_(wait_window_done) struct wait_window window = { 0 };
	(void)state;

	assert_merged(&window, 0, 0);
	add(&window, 1, 4);
	add(&window, 10, 4);
	assert_merged(&window, 11, 8);
	wait_window_add(&window, NULL, 2 * NSEC_PER_SEC); /* nothing waited */
	assert_merged(&window, 11, 10);
	add(&window, 100, 1);
	assert_merged(&window, 110, 7);
}

static void a_part_that_is_longer_stands_alone(void **state)
{
	_cleanup_(wait_window_done) struct wait_window window = { 0 };
	(void)state;

	add(&window, 1, 1);
	add(&window, 10, 60);
	assert_merged(&window, 10, 60);
	add(&window, 100, 1);
	assert_merged(&window, 100, 1);
}

static void many_short_parts_are_limited(void **state)
{
	_cleanup_(wait_window_done) struct wait_window window = { 0 };
	(void)state;

	for (int i = 0; i < 50; i++)
		add(&window, 1, 0);
	assert_merged(&window, WAIT_WINDOW_PARTS, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_ten_seconds_are_merged),
		cmocka_unit_test(a_part_that_is_longer_stands_alone),
		cmocka_unit_test(many_short_parts_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
