/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/waker_edge.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"

#define RANKS_MAX 10

static void waits_are_summed_by_who_ended_them(void **state)
{
	static const struct wait_line lines[] = {
		{ "web", "main;lock;[woken by worker of db];unlock;wake_[k]", REASON_FUTEX, 50 },
		{ "web", "main;other;[woken by db];unlock", REASON_FUTEX, 5 },
		{ "web", "main;read;[woken by network];irq_[k]", REASON_NETWORK, 20 },
		{ "cron", "main;nap;[woken by timer]", REASON_SLEEP, 30 },
		{ "web", "main;lock;[woken by worker of db];unlock", REASON_RUN_QUEUE, 1000 },
		{ "web", "main;lock", REASON_FUTEX, 2000 }, /* it goes on */
		{ "web", "", REASON_FUTEX, 3000 },
	};
	static const struct rank expected[] = {
		{ "db>web", 55 },
		{ "timer>cron", 30 },
		{ "network>web", 20 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(lines,
									     array_len(lines));
	_cleanup_(ranking_done) struct ranking ranking = { 0 };
	struct rank ranks[RANKS_MAX];
	(void)state;

	assert_int_equal(waker_edge_rank(profile, ">", &ranking), 0);
	assert_int_equal(ranking_top(&ranking, RANKS_MAX, ranks), array_len(expected));
	for (size_t i = 0; i < array_len(expected); i++) {
		assert_string_equal(ranks[i].label, expected[i].label);
		assert_int_equal(ranks[i].count, expected[i].count);
	}
}

static void cpu_time_has_no_wakers(void **state)
{
	static const struct stack_line line = { "web", "main;[woken by timer];irq", 5 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(ranking_done) struct ranking ranking = { 0 };
	(void)state;

	assert_int_equal(waker_edge_rank(profile, ">", &ranking), 0);
	assert_int_equal(ranking_size(&ranking), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_summed_by_who_ended_them),
		cmocka_unit_test(cpu_time_has_no_wakers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
