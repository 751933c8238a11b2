/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/thread_stop.h"

#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child sleeps until it is killed. SIGUSR1 ends it with its own status. */
static void end_by_signal(int signal)
{
	(void)signal;
	_exit(7);
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* if an assertion ends this program */
		signal(SIGUSR1, end_by_signal);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static char state_of(pid_t pid)
{
	char path[64], state = '?';

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %*s %c", &state), 1);
	fclose(file);
	return state;
}

static void stop(struct thread_stop *stop, pid_t pid)
{
	assert_int_equal(thread_stop_add(stop, (uint32_t)pid), 0);
	while (thread_stop_wait(stop) > 0)
		usleep(1000);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_thread_stops_and_goes_on(void **state)
{
	struct thread_stop stopped = { 0 };
	pid_t pid = start_child();
	(void)state;

	stop(&stopped, pid);
	assert_true(thread_stop_has(&stopped, (uint32_t)pid));
	assert_int_equal(state_of(pid), 't');
	thread_stop_end(&stopped);
	assert_false(thread_stop_has(&stopped, (uint32_t)pid));
	while (state_of(pid) == 't')
		usleep(1000);
	end_child(pid);
}

static void a_signal_that_comes_meanwhile_is_delivered(void **state)
{
	struct thread_stop stopped = { 0 };
	pid_t pid = start_child();
	int status;
	(void)state;

	while (state_of(pid) != 'S')
		usleep(1000);
	kill(pid, SIGSTOP); /* so that the signal waits for its delivery */
	while (state_of(pid) != 'T')
		usleep(1000);
	kill(pid, SIGUSR1);
	stop(&stopped, pid);
	thread_stop_end(&stopped);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void a_process_that_was_stopped_before_stays_so(void **state)
{
	struct thread_stop stopped = { 0 };
	pid_t pid = start_child();
	(void)state;

	kill(pid, SIGSTOP);
	while (state_of(pid) != 'T')
		usleep(1000);
	stop(&stopped, pid);
	thread_stop_end(&stopped);
	while (state_of(pid) != 'T') /* else it runs on, and this does not end */
		usleep(1000);
	end_child(pid);
}

static void a_thread_that_ends_counts_as_stopped(void **state)
{
	struct thread_stop stopped = { 0 };
	pid_t pid = start_child();
	(void)state;

	stop(&stopped, pid);
	kill(pid, SIGKILL);
	thread_stop_end(&stopped);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_thread_that_is_not_there_is_an_error(void **state)
{
	struct thread_stop stopped = { 0 };
	(void)state;

	assert_int_equal(thread_stop_add(&stopped, 0x7fffffff), -ESRCH);
	assert_int_equal(thread_stop_wait(&stopped), 0);
	thread_stop_end(&stopped);
}

static void what_somebody_traces_is_refused(void **state)
{
	struct thread_stop first = { 0 }, second = { 0 };
	pid_t pid = start_child();
	(void)state;

	stop(&first, pid);
	assert_int_equal(thread_stop_add(&second, (uint32_t)pid), -EPERM);
	thread_stop_end(&second);
	thread_stop_end(&first);
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_stops_and_goes_on),
		cmocka_unit_test(a_signal_that_comes_meanwhile_is_delivered),
		cmocka_unit_test(a_process_that_was_stopped_before_stays_so),
		cmocka_unit_test(a_thread_that_ends_counts_as_stopped),
		cmocka_unit_test(a_thread_that_is_not_there_is_an_error),
		cmocka_unit_test(what_somebody_traces_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
