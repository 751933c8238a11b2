/* SPDX-License-Identifier: Apache-2.0 */
/* Each test in a process of its own: dispositions and the request to stop are the process's. */
#include "agent/signals.h"

#include "base/heartbeat.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define FORCED 9 /* the exit status of a process that was ended by force */
#define LATE_NS (3 * NSEC_PER_SEC) /* on a busy machine, and with sanitizers */

/* How a process ended that set the signals up and ran this. */
static int status_of(void (*run)(int signal_number), int signal_number)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (signals_setup("nothing", FORCED) < 0)
			_exit(100);
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

static void wait_for_ever(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static void ask_and_wait(int signal_number)
{
	kill(getpid(), signal_number);
	wait_for_ever();
}

/* As one that sleeps so deep that nothing wakes it. */
static void take_no_signal(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void ask_deaf_and_wait(int signal_number)
{
	take_no_signal();
	ask_and_wait(signal_number);
}

/* Nothing but its death wakes who waits for a child of vfork(2): the kernel
 * gives it the signal in vain. */
static void ask_asleep(int signal_number)
{
	pid_t parent = getpid();
	pid_t asker = fork();

	if (asker == 0) {
		poll(NULL, 0, 200);
		kill(parent, signal_number);
		_exit(0);
	}
	/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): it is
	 * the sleep that is wanted */
	pid_t sleeper = vfork();
	if (sleeper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		poll(NULL, 0, 20000);
		_exit(0);
	}
	/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
	wait_for_ever(); /* at once where a sanitizer makes it a fork(2) */
}

static void ask_deaf(int signal_number)
{
	take_no_signal();
	kill(getpid(), signal_number);
	for (int i = 0; i < 100 && !signals_stop_requested(); i++)
		poll(NULL, 0, 10);
	_exit(signals_stop_requested() ? 0 : 1);
}

static void ask_deaf_twice(int signal_number)
{
	take_no_signal();
	kill(getpid(), signal_number);
	while (!signals_stop_requested())
		poll(NULL, 0, 1);
	kill(getpid(), signal_number);
	wait_for_ever();
}

/* A line that nobody reads. */
static void ask_with_full_error_and_wait(int signal_number)
{
	char bytes[4096] = "";
	int fds[2];

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
		_exit(1);
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(fds[1], F_SETFL, 0);
	dup2(fds[1], STDERR_FILENO);
	ask_and_wait(signal_number);
}

static void finish_and_wait(int signal_number)
{
	(void)signal_number;
	signals_done(3);
	wait_for_ever();
}

static void another_thread_takes_signals_that_the_first_one_cannot(void **state)
{
	(void)state;
	assert_int_equal(status_of(ask_deaf, SIGTERM), 0);
	assert_int_equal(status_of(ask_deaf, SIGINT), 0);
	assert_int_equal(WTERMSIG(status_of(ask_deaf_twice, SIGTERM)), SIGTERM);
}

/* All at the same time. */
static void a_process_that_does_not_end_is_ended(void **state)
{
	static const struct {
		void (*run)(int signal_number);
		int status;
		uint64_t at_least_ns;
	} cases[] = {
		{ ask_and_wait, FORCED, SIGNALS_END_NS },
		{ ask_deaf_and_wait, FORCED, SIGNALS_END_NS },
		{ ask_with_full_error_and_wait, FORCED, SIGNALS_END_NS },
		{ ask_asleep, FORCED, SIGNALS_END_NS },
		{ finish_and_wait, 3, NSEC_PER_SEC },
	};
	pid_t pids[array_len(cases)];
	(void)state;

	uint64_t start_ns = clock_mono_ns();
	for (size_t i = 0; i < array_len(cases); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(status_of(cases[i].run, SIGTERM) >> 8);
	}
	for (size_t i = array_len(cases); i-- > 0;) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(WEXITSTATUS(status), cases[i].status);
		assert_in_range(clock_mono_ns() - start_ns, cases[i].at_least_ns,
				SIGNALS_END_NS + LATE_NS);
	}
}

static void see_time_go_by(int signal_number)
{
	struct heartbeat late;

	(void)signal_number;
	heartbeat_begin("first", HEARTBEAT_TICK_NS);
	for (int i = 0; i < 500 && !heartbeat_find_late(clock_mono_ns(), &late); i++)
		poll(NULL, 0, 10);
	_exit(heartbeat_find_late(clock_mono_ns(), &late) && strcmp(late.name, "first") == 0 ? 0
											     : 1);
}

static void threads_are_watched_from_then_on(void **state)
{
	(void)state;
	assert_int_equal(status_of(see_time_go_by, 0), 0);
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
		cmocka_unit_test(another_thread_takes_signals_that_the_first_one_cannot),
		cmocka_unit_test(a_process_that_does_not_end_is_ended),
		cmocka_unit_test(threads_are_watched_from_then_on),
		cmocka_unit_test(a_closed_pipe_is_no_reason_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
