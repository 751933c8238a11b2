/* SPDX-License-Identifier: Apache-2.0 */
/* process_table.c: which processes are looked for in /proc when their first thread has ended. Here
 * that shows a process of several threads whose first one is a zombie: who looks keeps the
 * entry. */
#include "process/process_table.h"

#include "base/clock.h"
#include "proc_fixture.h"
#include "unit.h"

#define START (1000 * NSEC_PER_SEC)
#define NOW (2000 * NSEC_PER_SEC)
#define PID 7

static int set_up(void **state)
{
	struct proc_fixture *fixture = test_calloc(1, sizeof(*fixture));

	proc_fixture_init(fixture, 8);
	proc_fixture_put_stat(fixture, PID, START, 'Z', 3);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	proc_fixture_done(*state);
	test_free(*state);
	return 0;
}

static void tell(const struct proc_fixture *fixture, enum proc_event_kind kind, uint64_t time_ns)
{
	process_table_handle(fixture->table, &(struct proc_event){ .kind = kind,
								   .pid = PID,
								   .parent_pid = 1,
								   .time_ns = time_ns });
}

static size_t end(const struct proc_fixture *fixture)
{
	tell(fixture, PROC_EXIT, NOW + 1);
	process_table_sweep(fixture->table, NOW + 1 + PROCESS_LINGER_NS);
	return process_table_get_stats(fixture->table).nr_processes;
}

static void a_process_that_made_no_thread_is_not_looked_for(void **state)
{
	tell(*state, PROC_EXEC, NOW);
	assert_int_equal(end(*state), 0);
}

static void a_process_that_made_a_thread_is_looked_for(void **state)
{
	tell(*state, PROC_EXEC, NOW);
	tell(*state, PROC_THREAD, NOW);
	assert_int_equal(end(*state), 1);
}

static void exec_leaves_one_thread(void **state)
{
	tell(*state, PROC_EXEC, NOW);
	tell(*state, PROC_THREAD, NOW);
	tell(*state, PROC_EXEC, NOW);
	assert_int_equal(end(*state), 0);
}

static void threads_of_before_may_not_have_been_told(void **state)
{
	const struct proc_fixture *fixture = *state;

	proc_fixture_put(fixture, PID, START, "1000-2000 r-xp 00000000 fe:00 1 /bin/a\n");
	proc_fixture_put_stat(fixture, PID, START, 'Z', 3);
	assert_non_null(process_table_get(fixture->table, PID, START, NOW));
	assert_int_equal(end(fixture), 1);
}

static void after_a_loss_nothing_is_certain(void **state)
{
	const struct proc_fixture *fixture = *state;

	tell(fixture, PROC_EXEC, NOW);
	process_table_lose_events(fixture->table, NOW + 1);
	assert_int_equal(end(fixture), 1);
}

static void a_thread_of_an_unknown_process_is_nothing(void **state)
{
	const struct proc_fixture *fixture = *state;

	tell(fixture, PROC_THREAD, NOW);
	assert_int_equal(process_table_get_stats(fixture->table).nr_processes, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_process_that_made_no_thread_is_not_looked_for),
		CASE(a_process_that_made_a_thread_is_looked_for),
		CASE(exec_leaves_one_thread),
		CASE(threads_of_before_may_not_have_been_told),
		CASE(after_a_loss_nothing_is_certain),
		CASE(a_thread_of_an_unknown_process_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
