/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/err.h"
#include "otlp/delivery/backoff.h"
#include "unit.h"

#include <stdbool.h>

#define NR_SEEDS 1000

static void waits_double_up_to_a_minute(void **state)
{
	static const uint64_t means[] = { 1, 2, 4, 8, 16, 32, 40, 40, 40 };
	(void)state;

	for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
		struct backoff backoff;

		backoff_init(&backoff, seed);
		for (size_t i = 0; i < array_len(means); i++) {
			uint64_t mean = means[i] * NSEC_PER_SEC;

			assert_in_range(backoff_next_ns(&backoff, 0), mean / 2, mean + mean / 2);
		}
	}
}

static void waits_stay_below_a_minute_for_ever(void **state)
{
	struct backoff backoff;
	(void)state;

	backoff_init(&backoff, 0);
	for (int i = 0; i < 100000; i++)
		assert_in_range(backoff_next_ns(&backoff, 0), 1, 60 * NSEC_PER_SEC);
}

static void a_success_begins_anew(void **state)
{
	struct backoff backoff;
	(void)state;

	backoff_init(&backoff, 3);
	for (int i = 0; i < 10; i++)
		backoff_next_ns(&backoff, 0);
	backoff_reset(&backoff);
	assert_in_range(backoff_next_ns(&backoff, 0), NSEC_PER_SEC / 2, 3 * NSEC_PER_SEC / 2);
}

static void a_wish_is_waited_for_and_a_little_more(void **state)
{
	static const struct {
		uint64_t wish_ns, from_ns, to_ns;
	} cases[] = {
		{ 5 * NSEC_PER_SEC, 5 * NSEC_PER_SEC, 5500 * NSEC_PER_MSEC },
		{ 3600 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC, 3960 * NSEC_PER_SEC },
		{ 3601 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC, 3960 * NSEC_PER_SEC },
		{ UINT64_MAX, 3600 * NSEC_PER_SEC, 3960 * NSEC_PER_SEC },
		/* Shorter than the agent's own wait. */
		{ 1, NSEC_PER_SEC / 2, 3 * NSEC_PER_SEC / 2 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
			struct backoff backoff;

			backoff_init(&backoff, seed);
			assert_in_range(backoff_next_ns(&backoff, cases[i].wish_ns),
					cases[i].from_ns, cases[i].to_ns);
		}
	}
}

static void a_wish_does_not_stop_the_doubling(void **state)
{
	struct backoff backoff;
	(void)state;

	backoff_init(&backoff, 3);
	for (int i = 0; i < 10; i++)
		backoff_next_ns(&backoff, NSEC_PER_SEC);
	assert_in_range(backoff_next_ns(&backoff, 0), 20 * NSEC_PER_SEC, 60 * NSEC_PER_SEC);
}

/* Agents that are told the same wait, and agents that are told none, come at different times. */
static void agents_spread(void **state)
{
	static const uint64_t wishes[] = { 0, 10 * NSEC_PER_SEC };
	(void)state;

	for (size_t i = 0; i < array_len(wishes); i++) {
		unsigned int nr_in[10] = { 0 };

		for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
			struct backoff backoff;
			uint64_t wait;

			backoff_init(&backoff, seed);
			wait = backoff_next_ns(&backoff, wishes[i]);
			wait -= wishes[i] ? wishes[i] : NSEC_PER_SEC / 2;
			nr_in[wait * 10 / (NSEC_PER_SEC + 1)]++;
		}
		for (int tenth = 0; tenth < 10; tenth++)
			assert_in_range(nr_in[tenth], 60, 140);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_double_up_to_a_minute),
		cmocka_unit_test(waits_stay_below_a_minute_for_ever),
		cmocka_unit_test(a_success_begins_anew),
		cmocka_unit_test(a_wish_is_waited_for_and_a_little_more),
		cmocka_unit_test(a_wish_does_not_stop_the_doubling),
		cmocka_unit_test(agents_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
