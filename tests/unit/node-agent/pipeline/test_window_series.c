/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of CPU time when the frequency changes. */
#include "pipeline/window_series.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "unit.h"

#define LONG_NS (50 * NSEC_PER_MSEC)
#define SHORT_NS (5 * NSEC_PER_MSEC)

/* Opens the window of a sample. The caller frees it. */
static struct window *open_window(struct window_series *series, uint64_t time_ns)
{
	series->window = NULL;
	assert_int_equal(window_series_open(series, time_ns), 0);
	return series->window;
}

static struct window_series make_series(void)
{
	return (struct window_series){ .type = PROFILE_CPU, .period_ns = LONG_NS };
}

static void a_window_has_the_period_of_its_series(void **state)
{
	struct window_series series = make_series();

	(void)state;
	_cleanup_(window_freep) struct window *window = open_window(&series, clock_mono_ns());
	assert_int_equal(window->period_ns, LONG_NS);
}

static void a_change_ends_the_window(void **state)
{
	struct window_series series = make_series();
	const uint64_t now_ns = clock_mono_ns();

	(void)state;
	_cleanup_(window_freep) struct window *window = open_window(&series, now_ns);
	const uint64_t second_ns = window->end_ns, change_ns = (now_ns + second_ns) / 2;
	window_series_set_period(&series, change_ns, SHORT_NS);
	assert_int_equal(window->end_ns, change_ns);
	assert_int_equal(window->period_ns, LONG_NS);

	series.last_end_ns = window->end_ns;
	_cleanup_(window_freep) struct window *next = open_window(&series, change_ns);
	assert_int_equal(next->start_ns, change_ns);
	assert_true(next->end_ns + NSEC_PER_MSEC > second_ns); /* clocks may be adjusted */
	assert_int_equal(next->period_ns, SHORT_NS);
}

/* Nothing was sampled since the last change, or the window is over and not closed yet. */
static void samples_before_a_change_keep_their_period(void **state)
{
	struct window_series series = make_series();
	const uint64_t change_ns = clock_mono_ns();

	(void)state;
	series.last_end_ns = change_ns - 3 * WINDOW_NS;
	window_series_set_period(&series, change_ns, SHORT_NS);
	_cleanup_(window_freep) struct window *old = open_window(&series, change_ns - 1);
	assert_int_equal(old->period_ns, LONG_NS);
	assert_int_equal(old->end_ns, change_ns);
	series.last_end_ns = change_ns;
	_cleanup_(window_freep) struct window *late = open_window(&series, change_ns - 2);
	assert_int_equal(late->period_ns, LONG_NS);
	assert_int_equal(late->end_ns, change_ns);
}

static void a_second_begins_anew_behind_a_change(void **state)
{
	struct window_series series = make_series();
	const uint64_t change_ns = clock_mono_ns();

	(void)state;
	series.last_end_ns = change_ns - 3 * WINDOW_NS;
	window_series_set_period(&series, change_ns, SHORT_NS);
	_cleanup_(window_freep) struct window *window = open_window(&series, change_ns + 1);
	assert_true(window->start_ns >= change_ns);
	assert_int_equal(window->period_ns, SHORT_NS);
}

static void it_can_change_again(void **state)
{
	struct window_series series = make_series();
	const uint64_t first_ns = clock_mono_ns(), last_ns = first_ns + 30 * WINDOW_NS;

	(void)state;
	window_series_set_period(&series, first_ns, SHORT_NS);
	window_series_set_period(&series, last_ns, LONG_NS);
	_cleanup_(window_freep) struct window *between = open_window(&series, last_ns - 1);
	assert_int_equal(between->period_ns, SHORT_NS);
	_cleanup_(window_freep) struct window *behind = open_window(&series, last_ns);
	assert_int_equal(behind->period_ns, LONG_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_has_the_period_of_its_series),
		cmocka_unit_test(a_change_ends_the_window),
		cmocka_unit_test(samples_before_a_change_keep_their_period),
		cmocka_unit_test(a_second_begins_anew_behind_a_change),
		cmocka_unit_test(it_can_change_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
