/* SPDX-License-Identifier: Apache-2.0 */
#include "process/proc_stat.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>

#define REST " 1 2 3 0 -1 4194304 97 0 0 0 0 0 0 0 20 -5 6 0 236324 3133440"

static void state_threads_and_start_are_read(void **state)
{
	static const char *const names[] = { "cat", "a b", "a) R 1 (b", ")", "", "x\ny" };
	(void)state;

	for (size_t i = 0; i < array_len(names); i++) {
		char text[256];
		struct proc_stat stat;

		snprintf(text, sizeof(text), "21384 (%s) S" REST "\n", names[i]);
		assert_int_equal(proc_stat_parse(text, strlen(text), &stat), 0);
		assert_int_equal(stat.state, 'S');
		assert_int_equal(stat.nr_threads, 6);
		assert_int_equal(stat.start_ticks, 236324);
	}
}

static void malformed_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"1",
		")",
		") ",
		"1 (a",
		"1 (a)",
		"1 (a) ",
		"1 (a) S",
		("1 (a)S" REST),
		("1 (a) 7" REST),
		("1 (a) SS" REST),
		"1 (a) S  1 2 3 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 6 0 236324",
		"1 (a) S 1 2 3 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 6 0",
		"1 (a) S 1 2 3 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 6 0 ",
		"1 (a) S 1 2 3 0 -1 x 97 0 0 0 0 0 0 0 20 0 6 0 236324",
		"1 (a) S 1 2 3 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 6 0 99999999999999999999",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		struct proc_stat stat;

		assert_int_equal(proc_stat_parse(texts[i], strlen(texts[i]), &stat), -EBADMSG);
	}
}

static void start_times_are_compared_in_ticks(void **state)
{
	const uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	const struct proc_stat stat = { .start_ticks = 1000 };
	(void)state;

	assert_true(proc_stat_started_at(&stat, 1000 * tick_ns));
	assert_true(proc_stat_started_at(&stat, 1001 * tick_ns - 1));
	assert_true(proc_stat_started_at(&stat, 999 * tick_ns));
	assert_true(proc_stat_started_at(&stat, 1002 * tick_ns - 1));
	assert_false(proc_stat_started_at(&stat, 999 * tick_ns - 1));
	assert_false(proc_stat_started_at(&stat, 1002 * tick_ns));
}

static void a_dead_leader_with_threads_is_no_zombie(void **state)
{
	(void)state;
	assert_true(proc_stat_is_zombie(&(struct proc_stat){ .state = 'Z', .nr_threads = 1 }));
	assert_false(proc_stat_is_zombie(&(struct proc_stat){ .state = 'Z', .nr_threads = 2 }));
	assert_true(proc_stat_is_leader_dead(&(struct proc_stat){ .state = 'Z', .nr_threads = 2 }));
	assert_false(proc_stat_is_zombie(&(struct proc_stat){ .state = 'S', .nr_threads = 1 }));
}

static void a_process_that_is_not_there_is_gone(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_stat stat;
	(void)state;

	assert_int_equal(proc_stat_read(proc_fd, (uint32_t)getpid(), &stat), 0);
	assert_int_equal(stat.nr_threads, 1);
	assert_int_equal(proc_stat_read(proc_fd, 0, &stat), -ESRCH);
	assert_int_equal(proc_stat_read(proc_fd, UINT32_MAX, &stat), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_threads_and_start_are_read),
		cmocka_unit_test(malformed_text_is_refused),
		cmocka_unit_test(start_times_are_compared_in_ticks),
		cmocka_unit_test(a_dead_leader_with_threads_is_no_zombie),
		cmocka_unit_test(a_process_that_is_not_there_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
