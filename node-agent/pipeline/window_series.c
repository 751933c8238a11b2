/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/window_series.h"

#include "base/clock.h"
#include "base/minmax.h"

#define CLOCK_DRIFT_NS (10 * NSEC_PER_MSEC)

/* A sample that comes late may be older than the present period. */
static void choose_period(const struct window_series *series, uint64_t time_ns)
{
	struct window *window = series->window;

	window->period_ns = series->period_ns;
	if (time_ns >= series->period_from_ns)
		return;
	window->period_ns = series->old_period_ns;
	window->end_ns = min_u64(window->end_ns, series->period_from_ns);
}

int window_series_open(struct window_series *series, uint64_t time_ns)
{
	uint64_t unix_ns = clock_mono_to_real_ns(time_ns), last_end_ns = series->last_end_ns;
	uint64_t in_second_ns = min_u64(unix_ns % WINDOW_NS, time_ns);
	uint64_t start_ns = max_u64(time_ns - in_second_ns, last_end_ns);

	if (time_ns >= series->period_from_ns)
		start_ns = max_u64(start_ns, series->period_from_ns);

	if (last_end_ns == 0)
		start_ns = time_ns;
	uint64_t start_unix_ns = unix_ns - (time_ns - start_ns);
	/* While the clock is adjusted, a window may end a little before its second. */
	if (start_ns == last_end_ns && start_unix_ns % WINDOW_NS > WINDOW_NS - CLOCK_DRIFT_NS)
		start_unix_ns += WINDOW_NS - start_unix_ns % WINDOW_NS;
	int r = window_new(start_ns, start_unix_ns, series->type, &series->window);
	if (r == 0)
		choose_period(series, time_ns);
	return r;
}

void window_series_set_period(struct window_series *series, uint64_t from_ns, uint64_t period_ns)
{
	series->old_period_ns = series->period_ns;
	series->period_ns = period_ns;
	series->period_from_ns = from_ns;
	window_series_end(series, from_ns);
}

void window_series_end(struct window_series *series, uint64_t now_ns)
{
	struct window *window = series->window;

	if (window && now_ns > window->start_ns && now_ns < window->end_ns)
		window->end_ns = now_ns;
}
