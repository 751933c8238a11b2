/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "record_fixture.h"
#include "store/seconds.h"
#include "unit.h"

#define MAX_SECONDS 128

/* What was passed on. */
struct got {
	struct {
		uint64_t second, nr_series, total, user, nr_lost, throttled_ns;
	} items[MAX_SECONDS];
	size_t nr;
};

struct fixture {
	struct seconds seconds;
	struct dict dict;
	struct got got;
};

static void on_second(const struct store_second *second, void *data)
{
	struct got *got = data;

	assert_true(got->nr < MAX_SECONDS);
	got->items[got->nr].second = second->second;
	got->items[got->nr].nr_series = second->nr_series;
	got->items[got->nr].user = second->vitals.values[VITAL_USER];
	got->items[got->nr].nr_lost = second->nr_lost;
	for (size_t i = 0; i < second->nr_series; i++)
		got->items[got->nr].total += second->series[i].total;
	for (size_t i = 0; i < second->nr_throttlings; i++)
		got->items[got->nr].throttled_ns += second->throttlings[i].throttled_ns;
	got->nr++;
}

static void make(struct fixture *fixture)
{
	*fixture = (struct fixture){ .seconds = { .visit = on_second, .data = &fixture->got } };
	assert_int_equal(dict_init(&fixture->dict), 0);
}

static void done(struct fixture *fixture)
{
	seconds_done(&fixture->seconds);
	dict_done(&fixture->dict);
}

/* Samples of a second, `count` and one more. */
static void add_samples(struct fixture *fixture, uint64_t second, uint32_t count)
{
	struct profile *profile = record_second(second, count);
	struct second_sums sums;

	assert_int_equal(second_sums_make(&sums, profile, &fixture->dict), 0);
	seconds_add_sums(&fixture->seconds, second, &sums, &fixture->dict);
	second_sums_done(&sums);
	profile_unref(profile);
}

static void add_vitals(struct fixture *fixture, uint64_t second, uint64_t user)
{
	struct vitals vitals = { 0 };

	vitals_set(&vitals, VITAL_USER, user);
	seconds_add_vitals(&fixture->seconds, second, &vitals);
}

static void a_second_is_complete_when_the_next_ones_samples_come(void **state)
{
	struct fixture fixture;
	(void)state;

	make(&fixture);
	for (uint64_t second = 1000; second < 1010; second++)
		add_vitals(&fixture, second, second);
	add_samples(&fixture, 1000, 5);
	add_samples(&fixture, 1000, 7);
	assert_int_equal(fixture.got.nr, 0);
	add_samples(&fixture, 1001, 3);
	assert_int_equal(fixture.got.nr, 1);
	assert_int_equal(fixture.got.items[0].second, 1000);
	assert_int_equal(fixture.got.items[0].nr_series, 2);
	assert_int_equal(fixture.got.items[0].total, 14);
	assert_int_equal(fixture.got.items[0].user, 1000);
	add_samples(&fixture, 1004, 3);
	assert_int_equal(fixture.got.nr, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fixture.got.items[i].second, 1000 + i);
		assert_int_equal(fixture.got.items[i].user, 1000 + i);
	}
	assert_int_equal(fixture.got.items[2].nr_series, 0);
	done(&fixture);
}

static void seconds_without_samples_are_complete_after_a_while(void **state)
{
	struct fixture fixture;
	(void)state;

	make(&fixture);
	for (uint64_t second = 1000; second < 1010; second++)
		add_vitals(&fixture, second, 1);
	seconds_complete(&fixture.seconds, 1005, &fixture.dict);
	assert_int_equal(fixture.got.nr, 5);
	assert_int_equal(fixture.seconds.nr_late, 0);
	add_samples(&fixture, 1003, 5);
	assert_int_equal(fixture.seconds.nr_late, 6);
	seconds_complete(&fixture.seconds, 1060, &fixture.dict);
	assert_int_equal(fixture.got.nr, 10);
	assert_int_equal(fixture.got.items[9].second, 1009);
	done(&fixture);
}

static void losses_and_throttling_belong_to_their_second(void **state)
{
	const struct second_throttling throttling = { .cgroup_id = 7, .throttled_ns = 100 };
	struct fixture fixture;
	(void)state;

	make(&fixture);
	add_samples(&fixture, 1000, 5);
	seconds_add_loss(&fixture.seconds, 1000, 9);
	seconds_add_loss(&fixture.seconds, 999, 1);
	seconds_add_throttling(&fixture.seconds, 1001, &throttling);
	add_samples(&fixture, 1001, 5);
	add_samples(&fixture, 1002, 5);
	assert_int_equal(fixture.got.nr, 2);
	assert_int_equal(fixture.got.items[0].nr_lost, 9);
	assert_int_equal(fixture.got.items[0].throttled_ns, 0);
	assert_int_equal(fixture.got.items[1].nr_lost, 0);
	assert_int_equal(fixture.got.items[1].throttled_ns, 100);
	done(&fixture);
}

static void a_clock_that_goes_back_begins_anew(void **state)
{
	struct fixture fixture;
	(void)state;

	make(&fixture);
	add_samples(&fixture, 5000, 5);
	add_samples(&fixture, 1000, 6);
	assert_int_equal(fixture.got.nr, 1);
	assert_int_equal(fixture.got.items[0].second, 5000);
	add_samples(&fixture, 1001, 6);
	assert_int_equal(fixture.got.nr, 2);
	assert_int_equal(fixture.got.items[1].second, 1000);
	done(&fixture);
}

static void a_leap_of_days_is_no_work(void **state)
{
	struct fixture fixture;
	(void)state;

	make(&fixture);
	add_vitals(&fixture, 1000, 1);
	add_samples(&fixture, 1000, 5);
	add_samples(&fixture, UINT64_C(1) << 40, 5);
	assert_int_equal(fixture.got.nr, 1);
	seconds_restart(&fixture.seconds, &fixture.dict);
	assert_int_equal(fixture.got.nr, 2);
	assert_int_equal(fixture.got.items[1].total, 6);
	done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_is_complete_when_the_next_ones_samples_come),
		cmocka_unit_test(seconds_without_samples_are_complete_after_a_while),
		cmocka_unit_test(losses_and_throttling_belong_to_their_second),
		cmocka_unit_test(a_clock_that_goes_back_begins_anew),
		cmocka_unit_test(a_leap_of_days_is_no_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
