/* SPDX-License-Identifier: Apache-2.0 */
/* Each test in a process of its own: dispositions and the request to stop are the process's. */
#include "signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* How a process ended that set the signals up and ran this. */
static int status_of(void (*run)(int signal_number), int signal_number)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signals_setup();
		run(signal_number);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void ask_once(int signal_number)
{
	if (signals_stop_requested())
		_exit(1);
	raise(signal_number);
	if (!signals_stop_requested())
		_exit(2);
}

static void ask_twice(int signal_number)
{
	raise(signal_number);
	raise(signal_number);
}

static void raise_it(int signal_number)
{
	raise(signal_number);
	if (signals_stop_requested())
		_exit(1);
}

static void the_first_signal_asks_for_the_end(void **state)
{
	(void)state;
	assert_int_equal(status_of(ask_once, SIGINT), 0);
	assert_int_equal(status_of(ask_once, SIGTERM), 0);
	assert_int_equal(status_of(ask_once, SIGHUP), 0);
}

static void a_hang_up_that_is_ignored_stays_so(void **state)
{
	(void)state;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(status_of(raise_it, SIGHUP), 0);
	signal(SIGHUP, SIG_DFL);
}

static void hang_up_twice(int signal_number)
{
	signals_reload_on_hang_up();
	if (signals_take_reload())
		_exit(1);
	raise(signal_number);
	raise(signal_number);
	if (!signals_take_reload() || signals_take_reload() || signals_stop_requested())
		_exit(2);
	raise(signal_number);
	if (!signals_take_reload())
		_exit(3);
}

static void a_hang_up_may_ask_for_a_reload(void **state)
{
	(void)state;
	assert_int_equal(status_of(hang_up_twice, SIGHUP), 0);
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(status_of(hang_up_twice, SIGHUP), 0);
	signal(SIGHUP, SIG_DFL);
}

static void the_second_signal_ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(status_of(ask_twice, SIGINT)), SIGINT);
	assert_int_equal(WTERMSIG(status_of(ask_twice, SIGTERM)), SIGTERM);
}

static void a_closed_pipe_is_no_reason_to_end(void **state)
{
	(void)state;
	assert_int_equal(status_of(raise_it, SIGPIPE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_signal_asks_for_the_end),
		cmocka_unit_test(a_hang_up_that_is_ignored_stays_so),
		cmocka_unit_test(a_hang_up_may_ask_for_a_reload),
		cmocka_unit_test(the_second_signal_ends_the_process),
		cmocka_unit_test(a_closed_pipe_is_no_reason_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
