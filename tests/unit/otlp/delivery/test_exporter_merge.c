/* SPDX-License-Identifier: Apache-2.0 */
/* What an exporter merges before it sends it. */
#include "otlp/delivery/exporter.h"

#include "base/clock.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "exporter_fixture.h"
#include "unit.h"

#include <unistd.h>

#define NR_PROFILES 5

static void the_first_window_leaves_at_once(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
		"ok", 3600 * NSEC_PER_SEC);
	(void)state;

	exporter_fixture_push(exporter, 10);
	struct exporter_stats stats = exporter_fixture_settle(exporter);
	assert_int_equal(stats.nr_samples_sent, 20);
	exporter_fixture_push(exporter, 10);
	usleep(50000);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 1);
}

static void windows_are_merged_and_the_rest_is_sent_at_the_end(void **state)
{
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	for (uint32_t i = 0; i < NR_PROFILES; i++)
		exporter_fixture_push(exporter, 1 + i);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 1);
	assert_int_equal(
		exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS).nr_samples_sent,
		2 + 30);
	exporter_stop(exporter);
	exporter_fixture_assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 15\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 15\n");
}

/* More samples than a request takes, which differ in their times only. */
static void times_that_do_not_leave_keep_no_samples_apart(void **state)
{
	static struct otlp_sample samples[20000];
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	for (size_t i = 0; i < array_len(samples); i++)
		samples[i].numbers = (struct profile_sample){
			.time_ns = OTLP_SAMPLE_TIME_NS + i,
			.count = 1,
		};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	assert_non_null(profile);
	exporter_push(exporter, profile);
	struct exporter_stats stats = exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	assert_int_equal(stats.nr_samples_sent, 2 + array_len(samples));
	assert_int_equal(stats.nr_requests, 2);
	exporter_stop(exporter);
}

static void another_rate_begins_another_request(void **state)
{
	_cleanup_(profile_unrefp) struct profile *faster = exporter_fixture_profile_of(7);
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	faster->period /= 10;
	exporter_fixture_push(exporter, 1);
	exporter_push(exporter, faster);
	exporter_fixture_await_sent(exporter, 2 + 2);
	exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	exporter_stop(exporter);
	exporter_fixture_assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 7\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 7\n");
}

/* As merge_profile() sees it: off-CPU time has no period. */
static struct profile *waits_of(uint32_t ns)
{
	struct profile *profile = exporter_fixture_profile_of(ns);

	profile->type = PROFILE_OFF_CPU;
	profile->period = 0;
	return profile;
}

static void push_waits(struct exporter *exporter, uint32_t ns)
{
	_cleanup_(profile_unrefp) struct profile *profile = waits_of(ns);

	exporter_push(exporter, profile);
}

static void types_that_take_turns_are_merged_each_by_itself(void **state)
{
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	for (uint32_t i = 0; i < NR_PROFILES; i++) {
		push_waits(exporter, 1000);
		exporter_fixture_push(exporter, 1);
	}
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 1);
	struct exporter_stats stats = exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	assert_int_equal(stats.nr_requests, 1 + 2);
	exporter_stop(exporter);
	exporter_fixture_assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 5000\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 5000\n");
}

/* Their values are times. */
static void waits_count_as_often_as_they_were_taken(void **state)
{
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	for (uint32_t i = 0; i < NR_PROFILES; i++)
		push_waits(exporter, 1000000);
	struct exporter_stats stats = exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	assert_int_equal(stats.nr_samples_pushed, 2 + 2 * NR_PROFILES);
	assert_int_equal(stats.nr_samples_sent, 2 + 2 * NR_PROFILES);
	assert_int_equal(exporter_stats_dropped(&stats), 0);
	exporter_stop(exporter);
}

static void waits_that_are_not_sent_count_as_dropped(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
		"400", 20 * NSEC_PER_MSEC);
	(void)state;

	push_waits(exporter, 1000000);
	assert_int_equal(exporter_fixture_settle(exporter).nr_samples_dropped[EXPORT_DROP_REJECTED],
			 2);
}

static void another_rate_of_one_type_lets_the_other_wait(void **state)
{
	_cleanup_(profile_unrefp) struct profile *faster = exporter_fixture_profile_of(7);
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	faster->period /= 10;
	push_waits(exporter, 1000);
	exporter_fixture_push(exporter, 1);
	exporter_push(exporter, faster);
	exporter_fixture_await_sent(exporter, 2 + 2);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 2);
	exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	exporter_stop(exporter);
}

/* What is in use twice is not twice as much. */
static void snapshots_are_not_merged(void **state)
{
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	for (uint32_t i = 1; i <= NR_PROFILES; i++) {
		_cleanup_(profile_unrefp) struct profile *profile = exporter_fixture_profile_of(i);

		profile->type = PROFILE_INUSE_SPACE;
		profile->period = 1;
		exporter_push(exporter, profile);
	}
	struct exporter_stats stats = exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	assert_int_equal(stats.nr_requests, 1 + NR_PROFILES);
	exporter_stop(exporter);
	exporter_fixture_assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 5\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 5\n");
}

static void types_share_the_room_for_merging(void **state)
{
	_cleanup_(profile_unrefp) struct profile *large = waits_of(1000);
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	large->nr_bytes = (size_t)24 << 20;
	push_waits(exporter, 1000);
	exporter_fixture_push(exporter, 1);
	exporter_push(exporter, large);
	exporter_fixture_await_sent(exporter, 2 + 4);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 3);
	exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	exporter_stop(exporter);
}

static void a_large_profile_has_a_request_of_its_own(void **state)
{
	_cleanup_(profile_unrefp) struct profile *large = exporter_fixture_profile_of(7);
	struct exporter *exporter = exporter_fixture_start_merging();
	(void)state;

	large->nr_bytes = (size_t)24 << 20;
	exporter_fixture_push(exporter, 1);
	exporter_push(exporter, large);
	exporter_fixture_await_sent(exporter, 2 + 2);
	exporter_fixture_end(exporter, EXPORTER_FIXTURE_PATIENCE_NS);
	exporter_stop(exporter);
	exporter_fixture_assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 7\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_window_leaves_at_once),
		cmocka_unit_test(windows_are_merged_and_the_rest_is_sent_at_the_end),
		cmocka_unit_test(times_that_do_not_leave_keep_no_samples_apart),
		cmocka_unit_test(another_rate_begins_another_request),
		cmocka_unit_test(types_that_take_turns_are_merged_each_by_itself),
		cmocka_unit_test(waits_count_as_often_as_they_were_taken),
		cmocka_unit_test(waits_that_are_not_sent_count_as_dropped),
		cmocka_unit_test(another_rate_of_one_type_lets_the_other_wait),
		cmocka_unit_test(snapshots_are_not_merged),
		cmocka_unit_test(types_share_the_room_for_merging),
		cmocka_unit_test(a_large_profile_has_a_request_of_its_own),
	};

	return cmocka_run_group_tests(tests, exporter_fixture_start_server,
				      exporter_fixture_stop_server);
}
