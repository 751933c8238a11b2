/* SPDX-License-Identifier: Apache-2.0 */
#include "top/feed.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"

#define PERIOD_NS (10 * NSEC_PER_MSEC) /* as in the profiles */

/* A second that begins at that time. */
static struct profile *second_of(const char *comm, uint32_t count, uint64_t begin_ns)
{
	const struct stack_line line = { comm, "main", count };
	struct profile *profile = profile_of_stacks(&line, 1);

	profile->time_unix_ns = begin_ns;
	return profile;
}

static void add_second(struct feed *feed, uint32_t count, uint64_t begin_s)
{
	_cleanup_(profile_unrefp) struct profile *profile = second_of("a", count,
								      begin_s * NSEC_PER_SEC);

	feed_add(feed, profile);
}

static void assert_taken(struct feed *feed, uint64_t until_s, uint64_t total, uint64_t begin_s,
			 uint64_t duration_s)
{
	uint64_t nr_lost = 0;
	_cleanup_(profile_unrefp) struct profile *taken = feed_take(feed, until_s * NSEC_PER_SEC,
								    &nr_lost);

	assert_non_null(taken);
	assert_int_equal(profile_total(taken), total);
	assert_int_equal(taken->time_unix_ns, begin_s * NSEC_PER_SEC);
	assert_int_equal(taken->duration_ns, duration_s * NSEC_PER_SEC);
	assert_int_equal(taken->period, PERIOD_NS);
	assert_int_equal(nr_lost, 0);
}

static void what_arrived_is_taken_as_one_profile(void **state)
{
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	uint64_t nr_lost = 0;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	assert_int_equal(feed_waiting_ns(&feed), 0);
	assert_null(feed_take(&feed, 0, &nr_lost));
	add_second(&feed, 3, 100);
	add_second(&feed, 4, 101);
	assert_int_equal(feed_waiting_ns(&feed), 2 * NSEC_PER_SEC);
	assert_taken(&feed, 0, 7, 100, 2);
	assert_int_equal(feed_waiting_ns(&feed), 0);
	assert_null(feed_take(&feed, 0, &nr_lost));
}

static void seconds_without_samples_count_as_time(void **state)
{
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	add_second(&feed, 3, 104);
	assert_int_equal(feed_waiting_ns(&feed), 5 * NSEC_PER_SEC);
	assert_taken(&feed, 0, 3, 100, 5);
	add_second(&feed, 3, 105);
	assert_taken(&feed, 110, 3, 105, 5);
	assert_int_equal(feed_age_ns(&feed, 112 * NSEC_PER_SEC), 2 * NSEC_PER_SEC);
}

static void without_any_samples_the_profile_is_empty(void **state)
{
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	uint64_t nr_lost = 0;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	assert_taken(&feed, 107, 0, 100, 7);
	assert_null(feed_take(&feed, 107, &nr_lost));
	assert_null(feed_take(&feed, 50, &nr_lost));
}

static void a_clock_that_is_set_back_leaves_seconds_their_own_time(void **state)
{
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	add_second(&feed, 3, 40);
	assert_int_equal(feed_waiting_ns(&feed), NSEC_PER_SEC);
	assert_taken(&feed, 0, 3, 40, 1);
	add_second(&feed, 4, 41);
	assert_taken(&feed, 0, 4, 41, 1);
}

static void a_profile_of_another_period_is_counted_as_lost(void **state)
{
	_cleanup_(profile_unrefp) struct profile *other = second_of("b", 3, 101 * NSEC_PER_SEC);
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	uint64_t nr_lost = 1;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	other->period /= 2;
	add_second(&feed, 3, 100);
	feed_add(&feed, other);
	_cleanup_(profile_unrefp) struct profile *taken = feed_take(&feed, 0, &nr_lost);
	assert_int_equal(profile_total(taken), 3);
	assert_int_equal(nr_lost, 4);
}

static void waits_are_taken_apart(void **state)
{
	static const struct wait_line line = { "a", "main;read", REASON_DISK, 1000 };
	_cleanup_(profile_unrefp) struct profile *waits = profile_of_waits(&line, 1);
	_cleanup_(feed_done) struct feed feed = FEED_EMPTY;
	(void)state;

	feed_begin(&feed, 100 * NSEC_PER_SEC, PERIOD_NS);
	assert_null(feed_take_waits(&feed));
	feed_add(&feed, waits);
	feed_add(&feed, waits);
	assert_int_equal(feed_waiting_ns(&feed), 0);
	add_second(&feed, 3, 100);
	assert_taken(&feed, 0, 3, 100, 1);
	_cleanup_(profile_unrefp) struct profile *taken = feed_take_waits(&feed);
	assert_int_equal(profile_total(taken), 2000);
	assert_int_equal(taken->type, PROFILE_OFF_CPU);
	assert_null(feed_take_waits(&feed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_arrived_is_taken_as_one_profile),
		cmocka_unit_test(seconds_without_samples_count_as_time),
		cmocka_unit_test(without_any_samples_the_profile_is_empty),
		cmocka_unit_test(a_clock_that_is_set_back_leaves_seconds_their_own_time),
		cmocka_unit_test(a_profile_of_another_period_is_counted_as_lost),
		cmocka_unit_test(waits_are_taken_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
