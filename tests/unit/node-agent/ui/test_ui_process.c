/* SPDX-License-Identifier: Apache-2.0 */
/* Each test is the parent of a server that does nothing but wait for the signal that ends it. The
 * parent is itself a child, as signals and their dispositions are the process's. */
#include "ui/ui_process.h"

#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS 7
#define WAIT_MS 20000

/* Descriptors of a pipe. Its last writer is the server, so it is readable when that has ended. */
static int ended[2];

static void serve(const struct ui_process *process)
{
	struct pollfd polled = { .fd = process->stop_fd, .events = POLLIN };

	_exit(poll(&polled, 1, WAIT_MS) == 1 ? STATUS : 1);
}

/* Returns in the parent. `ready` has a byte when the child runs. */
static void start(struct ui_process *process)
{
	if (ui_process_start(process) < 0)
		_exit(100);
	if (process->pid == 0)
		serve(process);
	close(ended[1]);
}

/* Runs in another process; returns its exit status. */
static int run_apart(int (*body)(void))
{
	int status = -1;

	assert_int_equal(pipe2(ended, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(body());
	assert_true(pid > 0);
	close(ended[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool has_server_ended(void)
{
	struct pollfd polled = { .fd = ended[0] };

	return poll(&polled, 1, WAIT_MS) == 1;
}

static int end_by(int number)
{
	struct ui_process process;
	struct ui_process_end end;

	start(&process);
	raise(number);
	ui_process_wait(&process, &end);
	ui_process_done(&process);
	return end.signal == 0 ? end.status : 200;
}

static int interrupt(void)
{
	return end_by(SIGINT);
}

static int terminate(void)
{
	return end_by(SIGTERM);
}

static int hang_up(void)
{
	return end_by(SIGHUP);
}

static void signals_are_passed_on(void **state)
{
	static int (*const bodies[])(void) = { interrupt, terminate, hang_up };
	(void)state;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		int status = run_apart(bodies[i]);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), STATUS);
		close(ended[0]);
	}
}

static int ignore_hang_up(void)
{
	signal(SIGHUP, SIG_IGN);
	struct ui_process process;
	struct ui_process_end end;

	start(&process);
	kill(process.pid, SIGHUP);
	raise(SIGHUP);
	raise(SIGTERM);
	ui_process_wait(&process, &end);
	return sigismember(&process.signals, SIGHUP) ? 1 : end.status;
}

static void a_hang_up_that_is_ignored_stays_ignored(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(run_apart(ignore_hang_up)), STATUS);
	close(ended[0]);
}

static int see_death(void)
{
	struct ui_process process;
	struct ui_process_end end;

	start(&process);
	kill(process.pid, SIGKILL);
	ui_process_wait(&process, &end);
	return end.signal == SIGKILL && end.status == 0 ? 0 : 1;
}

static void a_server_that_was_killed_is_reported(void **state)
{
	(void)state;
	assert_int_equal(run_apart(see_death), 0);
	close(ended[0]);
}

static int die(void)
{
	struct ui_process process;

	start(&process);
	return raise(SIGKILL);
}

static void no_server_outlives_its_parent(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(run_apart(die)), SIGKILL);
	assert_true(has_server_ended());
	close(ended[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_passed_on),
		cmocka_unit_test(a_hang_up_that_is_ignored_stays_ignored),
		cmocka_unit_test(a_server_that_was_killed_is_reported),
		cmocka_unit_test(no_server_outlives_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
