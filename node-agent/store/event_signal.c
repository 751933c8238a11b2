/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_signal.h"

#include "base/minmax.h"

#include <math.h>
#include <stdlib.h>

#define BASELINE_MAX_AGE_S 10
#define NR_DEVIATIONS 6
#define RELATIVE_FLOOR 0.25 /* of the usual value */
#define TAIL 1.25 /* times as far from the usual value as what is high, or as usual bursts */
#define HIGH_SHARE 0.25 /* of the peak's excess */
#define HABIT_TOLERANCE 0.05 /* of the time between two bursts */
#define HABIT_TOLERANCE_S 3
#define HABIT_EXCESS 1.5 /* a burst that is so much larger than those before it is an event */
#define FORGET_S (6 * UINT64_C(3600))

void event_signal_init(struct event_signal *signal, double step, double floor, uint64_t nr_zeros)
{
	*signal = (struct event_signal){
		.step = step,
		.floor = floor,
		.nr_seconds = nr_zeros,
		.nr_zeros = nr_zeros,
	};
}

void event_signal_done(struct event_signal *signal)
{
	free(signal->history);
	signal->history = NULL;
}

double event_signal_usual(const struct event_signal *signal)
{
	return signal->baseline.median * signal->step;
}

bool event_signal_is_idle(const struct event_signal *signal)
{
	bool has_habits = signal->habits[0].first_s > 0;

	return !signal->is_bursting && !signal->history &&
	       signal->nr_zeros >= (has_habits ? FORGET_S : EVENT_HISTORY_S);
}

static void refresh_baseline(struct event_signal *signal)
{
	signal->baseline_age_s = 0;
	signal->baseline = signal->history ? event_history_baseline(signal->history)
					   : (struct event_baseline){ 0 };
}

/* Returns the value above which a burst begins. */
static double burst_threshold(const struct event_signal *signal)
{
	double usual = signal->baseline.median * signal->step;
	double noise = NR_DEVIATIONS * signal->baseline.spread * signal->step;

	return usual + fmax(signal->floor, fmax(noise, RELATIVE_FLOOR * usual));
}

static bool is_about(double one, double other)
{
	return fabs(one - other) <= fmax(HABIT_TOLERANCE_S, HABIT_TOLERANCE * fmax(one, other));
}

/* Returns the peak of the bursts before, if a burst that begins now comes as regularly as they did;
 * else 0. */
static double habitual_peak(const struct event_signal *signal, uint64_t second)
{
	double intervals[EVENT_NR_HABITS], peak = 0;
	uint64_t later = second;

	for (size_t i = 0; i < EVENT_NR_HABITS; i++) {
		const struct event_habit *habit = &signal->habits[i];

		if (habit->first_s == 0)
			return 0;
		intervals[i] = (double)(later - habit->first_s);
		if (i > 0 && !is_about(intervals[i], intervals[0]))
			return 0;
		later = habit->first_s;
		peak = fmax(peak, habit->peak);
	}
	return peak;
}

/* Returns the value above which a burst that begins now is an event. */
static double event_threshold(const struct event_signal *signal, uint64_t second)
{
	const struct event_baseline *baseline = &signal->baseline;
	double distance = fmax(baseline->high, baseline->bursts) - baseline->median;
	double tail = signal->step * (baseline->median + TAIL * distance);

	return fmax(tail, HABIT_EXCESS * habitual_peak(signal, second));
}

static void note_habit(struct event_signal *signal)
{
	for (size_t i = EVENT_NR_HABITS - 1; i > 0; i--)
		signal->habits[i] = signal->habits[i - 1];
	signal->habits[0] = (struct event_habit){ signal->burst.first_s, signal->burst.peak };
}

static void add_high_second(struct event_signal *signal, uint64_t second, double value)
{
	struct event_burst *burst = &signal->burst;

	burst->end_s = second + 1;
	burst->peak = fmax(burst->peak, value);
	burst->excess += value - burst->usual;
	burst->nr_high++;
}

static enum event_step begin_burst(struct event_signal *signal, uint64_t second, double value)
{
	double usual = event_signal_usual(signal);

	signal->event_level = event_threshold(signal, second);
	signal->is_bursting = true;
	signal->is_event = value > signal->event_level;
	signal->low = usual + (burst_threshold(signal) - usual) / 2;
	signal->burst = (struct event_burst){ .first_s = second, .usual = usual };
	add_high_second(signal, second, value);
	return signal->is_event ? EVENT_STEP_BEGINS : EVENT_STEP_NONE;
}

bool event_signal_stop(struct event_signal *signal)
{
	if (!signal->is_bursting)
		return false;
	note_habit(signal);
	signal->is_bursting = false;
	return signal->is_event;
}

static enum event_step end_burst(struct event_signal *signal)
{
	return event_signal_stop(signal) ? EVENT_STEP_ENDS : EVENT_STEP_NONE;
}

/* Returns the value below which a second is not part of the burst. It rises with the peak, so that
 * the aftermath of a large burst does not make it long. */
static double low_value(const struct event_signal *signal)
{
	const struct event_burst *burst = &signal->burst;

	return fmax(signal->low, burst->usual + HIGH_SHARE * (burst->peak - burst->usual));
}

static enum event_step continue_burst(struct event_signal *signal, uint64_t second, double value)
{
	bool is_peak = value > signal->burst.peak;

	if (value >= low_value(signal))
		add_high_second(signal, second, value);
	else if (second >= signal->burst.end_s + EVENT_QUIET_S)
		return end_burst(signal);
	if (second + 1 >= signal->burst.first_s + EVENT_MAX_S) {
		event_history_keep(signal->history, EVENT_MAX_S);
		refresh_baseline(signal);
		return end_burst(signal);
	}
	if (signal->is_event)
		return is_peak ? EVENT_STEP_PEAKS : EVENT_STEP_LASTS;
	signal->is_event = value > signal->event_level;
	return signal->is_event ? EVENT_STEP_BEGINS : EVENT_STEP_NONE;
}

static bool is_zero(const struct event_signal *signal, double value)
{
	return value < signal->step / 2;
}

/* Returns whether there is a history. It begins with the first value that is not 0. */
static int need_history(struct event_signal *signal, double value)
{
	if (signal->history)
		return 1;
	if (is_zero(signal, value))
		return 0;
	signal->history = calloc(1, sizeof(*signal->history));
	if (!signal->history)
		return -ENOMEM;
	event_history_reset(signal->history, signal->nr_seconds);
	return 1;
}

static enum event_step judge(struct event_signal *signal, uint64_t second, double value)
{
	if (signal->is_bursting)
		return continue_burst(signal, second, value);
	if (signal->nr_seconds < EVENT_WARM_UP_S || value <= burst_threshold(signal))
		return EVENT_STEP_NONE;
	refresh_baseline(signal);
	return value > burst_threshold(signal) ? begin_burst(signal, second, value)
					       : EVENT_STEP_NONE;
}

static void drop_empty_history(struct event_signal *signal)
{
	if (signal->is_bursting || signal->nr_zeros < EVENT_HISTORY_S)
		return;
	event_signal_done(signal);
	signal->baseline = (struct event_baseline){ 0 };
}

int event_signal_push(struct event_signal *signal, uint64_t second, double value,
		      enum event_step *ret_step)
{
	int r = need_history(signal, value);

	if (r < 0)
		return r;
	*ret_step = judge(signal, second, value);
	signal->nr_seconds++;
	signal->nr_zeros = is_zero(signal, value) ? signal->nr_zeros + 1 : 0;
	if (r == 0)
		return 0;
	event_history_push(signal->history, value / signal->step);
	if (++signal->baseline_age_s >= BASELINE_MAX_AGE_S)
		refresh_baseline(signal);
	drop_empty_history(signal);
	return 0;
}
