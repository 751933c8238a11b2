/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/perf_targets.h"

#include <string.h>

#include "unit.h"

static bool wants_comms(const struct perf_targets *targets, const char *thread, const char *process)
{
	struct sample_event event = { .pid = 1 };

	memcpy(event.thread_comm, thread, strlen(thread) + 1);
	memcpy(event.process_comm, process, strlen(process) + 1);
	return perf_targets_want_comms(targets, &event);
}

static void without_targets_everything_is_wanted(void **state)
{
	const struct capture_opts opts = { .frequency_hz = 1 };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	assert_true(perf_targets_want_ids(&targets, 1, 1));
	assert_true(wants_comms(&targets, "a", "b"));
	perf_targets_done(&targets);
}

static void kinds_narrow_each_other_and_several_of_a_kind_widen_it(void **state)
{
	static const uint32_t pids[] = { 7, 8 }, tids[] = { 7, 90 };
	static const char *const comms[] = { "java", "a-name-that-is-long" };
	const struct capture_opts opts = { .pids = pids,
					   .nr_pids = 2,
					   .tids = tids,
					   .nr_tids = 2,
					   .comms = comms,
					   .nr_comms = 2 };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	assert_true(perf_targets_want_ids(&targets, 7, 7));
	assert_true(perf_targets_want_ids(&targets, 8, 90));
	assert_false(perf_targets_want_ids(&targets, 7, 8));
	assert_false(perf_targets_want_ids(&targets, 9, 7));
	assert_true(wants_comms(&targets, "java", "x"));
	assert_true(wants_comms(&targets, "x", "java"));
	assert_true(wants_comms(&targets, "a-name-that-is-", "x"));
	assert_false(wants_comms(&targets, "jav", "javac"));
	perf_targets_done(&targets);
}

static void children_are_followed_where_that_is_wanted(void **state)
{
	static const uint32_t pid = 7;
	struct capture_opts opts = { .pids = &pid, .nr_pids = 1 };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	perf_targets_fork(&targets, 7, 8, 50);
	assert_false(perf_targets_want_ids(&targets, 8, 8));
	perf_targets_done(&targets);

	opts.follow_forks = true;
	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	perf_targets_fork(&targets, 7, 8, 50);
	perf_targets_fork(&targets, 8, 9, 50);
	perf_targets_fork(&targets, 5, 6, 50);
	assert_true(perf_targets_want_ids(&targets, 9, 9));
	assert_false(perf_targets_want_ids(&targets, 6, 6));
	perf_targets_done(&targets);

	/* A command is added when it was started; before, nothing is wanted. */
	opts.nr_pids = 0;
	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	assert_false(perf_targets_want_ids(&targets, 1, 1));
	assert_int_equal(perf_targets_add_pid(&targets, 5), 0);
	assert_int_equal(perf_targets_add_pid(&targets, 5), 0);
	assert_true(perf_targets_want_ids(&targets, 5, 6));
	perf_targets_done(&targets);
}

static void a_number_that_is_anothers_is_forgotten(void **state)
{
	const struct capture_opts opts = { .follow_forks = true };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	for (uint32_t pid = 1; pid <= 5; pid++)
		assert_int_equal(perf_targets_add_pid(&targets, pid), 0);
	perf_targets_exit(&targets, 2);
	assert_true(perf_targets_want_ids(&targets, 2, 2));
	perf_targets_fork(&targets, 100, 2, 50);
	perf_targets_fork(&targets, 100, 5, 50);
	perf_targets_fork(&targets, 100, 6, 50);
	assert_false(perf_targets_want_ids(&targets, 2, 2));
	assert_false(perf_targets_want_ids(&targets, 5, 5));
	assert_true(perf_targets_want_ids(&targets, 1, 1));
	assert_true(perf_targets_want_ids(&targets, 3, 3));
	assert_true(perf_targets_want_ids(&targets, 4, 4));
	targets.asked_ns = 51;
	perf_targets_fork(&targets, 100, 4, 50);
	perf_targets_fork(&targets, 4, 2, 50);
	assert_true(perf_targets_want_ids(&targets, 2, 2));
	perf_targets_done(&targets);
}

static void what_has_ended_makes_room(void **state)
{
	const struct capture_opts opts = { .follow_forks = true };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	for (uint32_t pid = 1; pid <= PERF_TARGETS_MAX; pid++)
		assert_int_equal(perf_targets_add_pid(&targets, pid), 0);
	perf_targets_exit(&targets, 10);
	perf_targets_exit(&targets, 11);
	perf_targets_exec(&targets, 11);
	perf_targets_fork(&targets, 1, PERF_TARGETS_MAX + 1, 50);
	assert_true(perf_targets_want_ids(&targets, PERF_TARGETS_MAX + 1, 1));
	assert_false(perf_targets_want_ids(&targets, 10, 10));
	assert_true(perf_targets_want_ids(&targets, 11, 11));
	assert_true(perf_targets_want_ids(&targets, PERF_TARGETS_MAX, 1));
	assert_int_equal(targets.nr_refused, 0);
	perf_targets_done(&targets);
}

static void there_are_not_more_than_so_many(void **state)
{
	const struct capture_opts opts = { .follow_forks = true };
	struct perf_targets targets;
	(void)state;

	assert_int_equal(perf_targets_init(&targets, &opts), 0);
	for (uint32_t pid = 1; pid <= PERF_TARGETS_MAX; pid++)
		assert_int_equal(perf_targets_add_pid(&targets, pid), 0);
	assert_int_equal(perf_targets_add_pid(&targets, PERF_TARGETS_MAX + 1), -ENOSPC);
	assert_int_equal(perf_targets_add_pid(&targets, 1), 0);
	perf_targets_fork(&targets, 1, PERF_TARGETS_MAX + 1, 50);
	assert_int_equal(targets.nr_refused, 1);
	assert_false(perf_targets_want_ids(&targets, PERF_TARGETS_MAX + 1, 1));
	perf_targets_done(&targets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_targets_everything_is_wanted),
		cmocka_unit_test(kinds_narrow_each_other_and_several_of_a_kind_widen_it),
		cmocka_unit_test(children_are_followed_where_that_is_wanted),
		cmocka_unit_test(a_number_that_is_anothers_is_forgotten),
		cmocka_unit_test(what_has_ended_makes_room),
		cmocka_unit_test(there_are_not_more_than_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
