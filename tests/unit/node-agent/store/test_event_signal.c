/* SPDX-License-Identifier: Apache-2.0 */
/* Loads are made of pseudo-random numbers with a fixed seed, so that each run sees the same. */
#include "store/event_signal.h"
#include "unit.h"

#include <math.h>

#define START UINT64_C(1795528800)
#define STEP 0.01
#define FLOOR 0.4
#define HOUR_S 3600

struct run {
	struct event_signal signal;
	uint64_t second;
	uint64_t random;
	unsigned int nr_events;
	struct event_burst last; /* that ended */
};

static struct run run_begin(void)
{
	struct run run = { .second = START, .random = 88172645463325252U };

	event_signal_init(&run.signal, STEP, FLOOR, 0);
	return run;
}

static enum event_step push(struct run *run, double value)
{
	enum event_step step = EVENT_STEP_NONE;

	assert_int_equal(event_signal_push(&run->signal, run->second++, value, &step), 0);
	run->nr_events += step == EVENT_STEP_BEGINS;
	if (step == EVENT_STEP_ENDS)
		run->last = run->signal.burst;
	return step;
}

static void push_many(struct run *run, double value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		push(run, value);
}

/* From 0 to 1. */
static double random_part(struct run *run)
{
	run->random ^= run->random << 13;
	run->random ^= run->random >> 7;
	run->random ^= run->random << 17;
	return (double)(run->random >> 11) / 9007199254740992.0;
}

/* Of a normal distribution. */
static double random_normal(struct run *run)
{
	double sum = 0;

	for (unsigned int i = 0; i < 12; i++)
		sum += random_part(run);
	return sum - 6;
}

/* The CPU time of `threads` that each run with that probability at one of 19 samples. */
static double sampled_load(struct run *run, unsigned int threads, double busy)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < 19 * threads; i++)
		nr += random_part(run) < busy;
	return nr / 19.0;
}

static void two_seconds_of_one_cpu_are_found(void **state)
{
	(void)state;
	/* A burst may begin in the middle of a second. */
	for (unsigned int part = 0; part < 10; part++) {
		struct run run = run_begin();

		for (unsigned int i = 0; i < 900; i++)
			push(&run, sampled_load(&run, 1, 0.03));
		push(&run, part / 10.0);
		push(&run, 1);
		push(&run, 1 - part / 10.0);
		push_many(&run, 0.03, 20);
		assert_int_equal(run.nr_events, 1);
		assert_true(run.last.nr_high >= 2 && run.last.nr_high <= 3);
		assert_float_equal(run.last.peak, 1, 0.001);
		assert_true(run.last.usual < 0.1);
		assert_true(run.last.excess > 1.5 && run.last.excess < 2.1);
		event_signal_done(&run.signal);
	}
}

static void one_second_is_found_above_a_noisy_load(void **state)
{
	(void)state;
	struct run run = run_begin();

	for (unsigned int i = 0; i < 900; i++)
		push(&run, 1 + 0.1 * random_normal(&run));
	push(&run, 3);
	push_many(&run, 1, 20);
	assert_int_equal(run.nr_events, 1);
	assert_int_equal(run.last.nr_high, 1);
	assert_float_equal(run.last.usual, 1, 0.05);
	event_signal_done(&run.signal);
}

static void a_burst_is_reported_in_the_second_in_which_it_begins(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.1, 100);
	assert_int_equal(push(&run, 2), EVENT_STEP_BEGINS);
	assert_int_equal(run.signal.burst.first_s, START + 100);
	assert_int_equal(push(&run, 3), EVENT_STEP_PEAKS);
	assert_int_equal(push(&run, 2.5), EVENT_STEP_LASTS);
	event_signal_done(&run.signal);
}

static void a_burst_that_rises_is_found_in_a_short_history(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.08, 90);
	push_many(&run, 0.05, 80);
	push(&run, 0.43);
	assert_int_equal(push(&run, 0.95), EVENT_STEP_BEGINS);
	event_signal_done(&run.signal);
}

static void bursts_that_nearly_touch_are_one(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.1, 600);
	push_many(&run, 2, 2);
	push_many(&run, 0.1, EVENT_QUIET_S - 1);
	push_many(&run, 2, 2);
	push_many(&run, 0.1, EVENT_QUIET_S + 1);
	assert_int_equal(run.nr_events, 1);
	assert_int_equal(run.last.end_s - run.last.first_s, EVENT_QUIET_S + 3);
	assert_int_equal(run.last.nr_high, 4);
	push_many(&run, 2, 2);
	assert_int_equal(run.nr_events, 2);
	event_signal_done(&run.signal);
}

static void the_aftermath_of_a_large_burst_is_not_part_of_it(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.1, 600);
	push_many(&run, 8, 2);
	push_many(&run, 1, 60);
	assert_int_equal(run.last.end_s - run.last.first_s, 2);
	assert_int_equal(run.last.nr_high, 2);
	event_signal_done(&run.signal);
}

static void a_surge_that_lasts_becomes_usual(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.2, 600);
	push_many(&run, 3, HOUR_S);
	assert_int_equal(run.nr_events, 1);
	assert_int_equal(run.last.end_s - run.last.first_s, EVENT_MAX_S);
	assert_float_equal(event_signal_usual(&run.signal), 3, 0.01);
	push_many(&run, 6, 2);
	push_many(&run, 3, 20);
	assert_int_equal(run.nr_events, 2);
	event_signal_done(&run.signal);
}

static void nothing_is_reported_before_the_usual_is_known(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.1, EVENT_WARM_UP_S - 3);
	push_many(&run, 4, 2);
	assert_int_equal(run.nr_events, 0);
	push_many(&run, 0.1, EVENT_WARM_UP_S);
	push_many(&run, 8, 2);
	assert_int_equal(run.nr_events, 1);
	event_signal_done(&run.signal);
}

static void a_new_pod_has_been_silent_before(void **state)
{
	(void)state;
	struct run run = run_begin();

	event_signal_init(&run.signal, STEP, FLOOR, 2 * (uint64_t)HOUR_S);
	push_many(&run, 1, 3);
	assert_int_equal(run.nr_events, 1);
	assert_float_equal(run.signal.burst.usual, 0, 0.001);
	event_signal_done(&run.signal);
}

static void bursts_of_the_same_job_become_usual(void **state)
{
	(void)state;
	/* The fourth one is no event, whether the history has those before it or not. */
	static const unsigned int periods[] = { 20, 60, 130, 300, 900, HOUR_S };

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		struct run run = run_begin();

		push_many(&run, 0.05, 700);
		for (unsigned int burst = 0; burst < 20; burst++) {
			push_many(&run, 1.5, 3);
			push_many(&run, 0.05, periods[i] - 3 + burst % 3);
		}
		if (run.nr_events < 1 || run.nr_events > 5)
			fail_msg("a burst every %u s: %u events", periods[i], run.nr_events);
		event_signal_done(&run.signal);
	}
}

static void a_much_larger_burst_of_a_regular_job_is_an_event(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0.05, 700);
	for (unsigned int burst = 0; burst < 8; burst++) {
		push_many(&run, 1, 2);
		push_many(&run, 0.05, 298);
	}
	assert_int_equal(run.nr_events, 3);
	push(&run, 1);
	assert_int_equal(run.nr_events, 3);
	assert_int_equal(push(&run, 4), EVENT_STEP_BEGINS);
	assert_int_equal(run.signal.burst.nr_high, 2);
	event_signal_done(&run.signal);
}

static void irregular_bursts_stay_events(void **state)
{
	(void)state;
	static const unsigned int pauses[] = { 400, 900, 500, 1300, 700, 1000 };
	struct run run = run_begin();

	push_many(&run, 0.05, 700);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		push_many(&run, 1, 2);
		push_many(&run, 0.05, pauses[i]);
	}
	assert_int_equal(run.nr_events, sizeof(pauses) / sizeof(*pauses));
	event_signal_done(&run.signal);
}

/* Loads that people would call normal. Each second of the hours below is a chance of a false
 * alarm. */
enum load { IDLE, RARE, STEADY, NOISY, DIURNAL, HEAVY_TAIL, PERIODIC, CRON, NR_LOADS };

static double load_at(struct run *run, enum load load, unsigned int second)
{
	switch (load) {
	case IDLE:
		return sampled_load(run, 1, 0.002);
	case RARE:
		return sampled_load(run, 1, 0.04);
	case STEADY:
		return sampled_load(run, 4, 0.5);
	case NOISY:
		return fmax(0, 3 + 0.6 * random_normal(run));
	case DIURNAL:
		return 4 + 3 * sin(second * 2 * 3.14159265 / 21600) + 0.2 * random_normal(run);
	case HEAVY_TAIL: /* of garbage collections, say */
		return 0.5 + 0.15 * exp(0.6 * random_normal(run));
	case PERIODIC:
		return second % 45 < 5 ? 2 + 0.2 * random_part(run) : 0.1;
	default: /* every five minutes, for three to five seconds */
		return second % 300 < 3 + second / 300 % 3 ? 1 : 0.02;
	}
}

static void ordinary_loads_raise_no_alarm(void **state)
{
	(void)state;
	/* In 24 hours. Bursts are new until they have been seen some times. */
	static const unsigned int limits[NR_LOADS] = {
		[HEAVY_TAIL] = 20,
		[PERIODIC] = 1,
		[CRON] = 4,
	};

	for (enum load load = IDLE; load < NR_LOADS; load++) {
		struct run run = run_begin();

		for (unsigned int i = 0; i < 24 * HOUR_S; i++)
			push(&run, load_at(&run, load, i));
		if (run.nr_events > limits[load])
			fail_msg("load %d: %u events in 24 h", load, run.nr_events);
		event_signal_done(&run.signal);
	}
}

static void a_silent_signal_needs_no_memory(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0, 100);
	assert_null(run.signal.history);
	push_many(&run, 0.2, 1);
	assert_non_null(run.signal.history);
	push_many(&run, 0, EVENT_HISTORY_S);
	assert_null(run.signal.history);
	assert_true(event_signal_is_idle(&run.signal));
	push_many(&run, 2, 1);
	assert_false(event_signal_is_idle(&run.signal));
	assert_int_equal(run.nr_events, 1);
	event_signal_done(&run.signal);
}

static void a_burst_can_be_ended_from_outside(void **state)
{
	(void)state;
	struct run run = run_begin();

	push_many(&run, 0, 100);
	assert_false(event_signal_stop(&run.signal));
	push_many(&run, 2, 2);
	assert_true(event_signal_stop(&run.signal));
	assert_false(event_signal_stop(&run.signal));
	assert_int_equal(run.signal.burst.end_s, START + 102);
	event_signal_done(&run.signal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_seconds_of_one_cpu_are_found),
		cmocka_unit_test(one_second_is_found_above_a_noisy_load),
		cmocka_unit_test(a_burst_is_reported_in_the_second_in_which_it_begins),
		cmocka_unit_test(a_burst_that_rises_is_found_in_a_short_history),
		cmocka_unit_test(bursts_that_nearly_touch_are_one),
		cmocka_unit_test(the_aftermath_of_a_large_burst_is_not_part_of_it),
		cmocka_unit_test(a_surge_that_lasts_becomes_usual),
		cmocka_unit_test(nothing_is_reported_before_the_usual_is_known),
		cmocka_unit_test(a_new_pod_has_been_silent_before),
		cmocka_unit_test(bursts_of_the_same_job_become_usual),
		cmocka_unit_test(a_much_larger_burst_of_a_regular_job_is_an_event),
		cmocka_unit_test(irregular_bursts_stay_events),
		cmocka_unit_test(ordinary_loads_raise_no_alarm),
		cmocka_unit_test(a_silent_signal_needs_no_memory),
		cmocka_unit_test(a_burst_can_be_ended_from_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
