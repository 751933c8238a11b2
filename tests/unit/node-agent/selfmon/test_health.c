/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/health.h"

#include "base/err.h"
#include "unit.h"

#define START_NS (1000 * NSEC_PER_SEC)

static struct health started(void)
{
	struct health health;

	health_init(&health, START_NS);
	return health;
}

static void beat(struct health *health, uint64_t second, uint64_t nr_windows, uint64_t nr_finished)
{
	const struct health_beat beat = { .time_ns = START_NS + second * NSEC_PER_SEC,
					  .nr_windows = nr_windows,
					  .nr_finished = nr_finished };

	health_beat(health, &beat);
}

static const char *problem_at(const struct health *health, uint64_t second)
{
	return health_problem(health, START_NS + second * NSEC_PER_SEC);
}

static const char *unready_at(const struct health *health, uint64_t second)
{
	return health_unready(health, START_NS + second * NSEC_PER_SEC);
}

static void it_may_take_a_minute_to_start_and_is_not_ready_meanwhile(void **state)
{
	struct health health = started();
	(void)state;

	assert_null(problem_at(&health, 0));
	assert_null(problem_at(&health, 60));
	assert_non_null(problem_at(&health, 61));
	assert_string_equal(unready_at(&health, 1), "starting");
}

static void it_is_alive_and_ready_while_its_heart_beats(void **state)
{
	struct health health = started();
	(void)state;

	beat(&health, 1, 0, 0);
	assert_null(problem_at(&health, 1));
	assert_null(unready_at(&health, 1));
	assert_null(problem_at(&health, 11));
	assert_non_null(problem_at(&health, 12));
	assert_non_null(unready_at(&health, 12));
	beat(&health, 13, 0, 0);
	assert_null(problem_at(&health, 13));
}

static void a_beat_of_a_moment_later_than_now_is_young(void **state)
{
	struct health health = started();
	(void)state;

	beat(&health, 5, 1, 1);
	assert_null(problem_at(&health, 4));
}

static void beat_without(struct health *health, uint64_t second, const char *missing)
{
	const struct health_beat beat = { .time_ns = START_NS + second * NSEC_PER_SEC,
					  .missing = missing };

	health_beat(health, &beat);
}

static void what_is_missing_keeps_it_unready_but_alive(void **state)
{
	struct health health = started();
	(void)state;

	assert_null(health.missing);
	beat_without(&health, 0, "no kubelet");
	assert_null(problem_at(&health, 0));
	assert_string_equal(unready_at(&health, 0), "no kubelet");
	beat(&health, 1, 0, 0);
	assert_null(unready_at(&health, 1));
	assert_null(health.missing);
}

static void what_is_missing_is_waited_for_20_seconds_from_the_first_beat(void **state)
{
	struct health health = started();
	(void)state;

	for (uint64_t second = 50; second <= 70; second++) {
		beat_without(&health, second, "no kubelet");
		assert_string_equal(unready_at(&health, second), "no kubelet");
	}
	beat_without(&health, 71, "no kubelet");
	assert_null(unready_at(&health, 71));
	assert_string_equal(health.missing, "no kubelet");
	assert_non_null(unready_at(&health, 82)); /* and no beat since */
	beat(&health, 83, 0, 0);
	assert_null(unready_at(&health, 83));
	assert_null(health.missing);
}

static void a_symbolizer_that_finishes_nothing_for_a_minute_is_stuck(void **state)
{
	struct health health = started();
	(void)state;

	for (uint64_t second = 1; second <= 10; second++)
		beat(&health, second, second, second);
	for (uint64_t second = 11; second <= 70; second++) {
		beat(&health, second, second, 10);
		assert_null(problem_at(&health, second));
	}
	beat(&health, 71, 71, 10);
	assert_non_null(problem_at(&health, 71));
	beat(&health, 72, 72, 11);
	assert_null(problem_at(&health, 72));
}

static void a_symbolizer_without_work_is_not_stuck(void **state)
{
	struct health health = started();
	(void)state;

	for (uint64_t second = 1; second < 1000; second++) {
		beat(&health, second, 7, 3);
		assert_null(problem_at(&health, second));
	}
	beat(&health, 1000, 8, 3);
	assert_null(problem_at(&health, 1000));
	beat(&health, 1001, 9, 4);
	assert_null(problem_at(&health, 1001));
}

static void stopping_is_no_problem_but_not_ready(void **state)
{
	struct health health = started();
	(void)state;

	beat(&health, 1, 1, 1);
	health_stopping(&health);
	assert_null(problem_at(&health, 1000));
	assert_string_equal(unready_at(&health, 1), "stopping");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_may_take_a_minute_to_start_and_is_not_ready_meanwhile),
		cmocka_unit_test(it_is_alive_and_ready_while_its_heart_beats),
		cmocka_unit_test(a_beat_of_a_moment_later_than_now_is_young),
		cmocka_unit_test(what_is_missing_keeps_it_unready_but_alive),
		cmocka_unit_test(what_is_missing_is_waited_for_20_seconds_from_the_first_beat),
		cmocka_unit_test(a_symbolizer_that_finishes_nothing_for_a_minute_is_stuck),
		cmocka_unit_test(a_symbolizer_without_work_is_not_stuck),
		cmocka_unit_test(stopping_is_no_problem_but_not_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
