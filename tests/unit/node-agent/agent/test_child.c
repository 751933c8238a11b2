/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/child.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define WAIT_NS (20 * NSEC_PER_SEC)
#define HOLD_US 50000 /* long enough for a command that is not held to be seen */

static char marker[] = "/tmp/test_child.XXXXXX";

/* A name that no file has. */
static int set_up(void **state)
{
	(void)state;
	snprintf(marker, sizeof(marker), "/tmp/test_child.XXXXXX");
	int fd = mkostemp(marker, O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
	unlink(marker);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(marker);
	return 0;
}

static bool has_run(void)
{
	struct stat st;

	return stat(marker, &st) == 0;
}

static int start(const char *const *args, struct child *ret_child)
{
	return child_start((char *const *)args, false, NULL, ret_child);
}

/* Starts a command that leaves the marker. */
static struct child start_marking(void)
{
	const char *args[] = { "touch", marker, NULL };
	struct child child = CHILD_NONE;

	assert_int_equal(start(args, &child), 0);
	assert_true(child.pid > 0);
	return child;
}

static int wait_for_status(struct child *child)
{
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;

	while (!child_has_exited(child) && clock_mono_ns() < deadline_ns)
		usleep(1000);
	assert_true(child_has_exited(child));
	return child->status;
}

static void a_command_is_held_until_it_is_released(void **state)
{
	struct child child = start_marking();
	(void)state;

	usleep(HOLD_US);
	assert_false(child_has_exited(&child));
	assert_false(has_run());
	assert_int_equal(child_release(&child), 0);
	assert_int_equal(wait_for_status(&child), 0);
	assert_true(has_run());
	child_done(&child);
	assert_int_equal(child.status, 0);
}

static void a_command_that_is_never_released_never_runs(void **state)
{
	struct child child = start_marking();
	(void)state;

	child_done(&child);
	assert_true(child_has_exited(&child));
	assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGKILL);
	assert_false(has_run());
	assert_int_equal(waitpid(child.pid, NULL, WNOHANG), -1); /* no zombie either */
	child_done(&child);
}

static void a_command_that_was_released_is_left_alone_at_the_end(void **state)
{
	struct child child = start_marking();
	(void)state;

	assert_int_equal(child_release(&child), 0);
	child_done(&child);
	assert_int_equal(wait_for_status(&child), 0);
	assert_true(has_run());
}

static void the_exit_status_is_the_commands(void **state)
{
	const char *args[] = { "/bin/sh", "-c", "exit 3", NULL };
	struct child child = CHILD_NONE;
	(void)state;

	assert_int_equal(start(args, &child), 0);
	assert_int_equal(child_release(&child), 0);
	int status = wait_for_status(&child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}

/* Starts a command with stderr going nowhere: its message is not the test's. */
static int start_silently(const char *const *args, struct child *ret_child)
{
	int real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(nowhere, STDERR_FILENO);
	int r = start(args, ret_child);
	dup2(real_stderr, STDERR_FILENO);
	close(nowhere);
	close(real_stderr);
	return r;
}

static void a_command_that_cannot_be_run_exits_as_in_a_shell(void **state)
{
	static const char *const commands[] = { "/no/such/program", "no-such-program-in-path",
						"/tmp" };
	(void)state;

	for (size_t i = 0; i < array_len(commands); i++) {
		const char *args[] = { commands[i], NULL };
		struct child child = CHILD_NONE;

		assert_int_equal(start_silently(args, &child), 0);
		assert_int_equal(child_release(&child), 0);
		int status = wait_for_status(&child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 127);
		assert_true(child_was_not_found(&child));
	}
}

/* The agent ignores SIGPIPE; `record -- seq 1000000 | head` must end all the same. */
static void a_command_does_not_ignore_sigpipe(void **state)
{
	const char *args[] = { "/bin/sh", "-c", "kill -PIPE $$", NULL };
	struct child child = CHILD_NONE;
	(void)state;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(start(args, &child), 0);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(child_release(&child), 0);
	int status = wait_for_status(&child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

static void a_command_inherits_no_descriptor_of_its_start(void **state)
{
	const char *args[] = { "/bin/sh", "-c", "test ! -e /proc/self/fd/$0", "10", NULL };
	char number[16];
	struct child first = start_marking();
	struct child child = CHILD_NONE;
	(void)state;

	snprintf(number, sizeof(number), "%d", first.hold_fd);
	args[3] = number;
	assert_int_equal(start(args, &child), 0);
	assert_int_equal(child_release(&child), 0);
	assert_int_equal(wait_for_status(&child), 0);
	child_done(&first);
}

static void without_a_command_nothing_has_exited(void **state)
{
	struct child child = CHILD_NONE;
	(void)state;

	assert_false(child_has_exited(&child));
	assert_int_equal(child_release(&child), 0);
	child_done(&child);
}

#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(a_command_is_held_until_it_is_released),
		CHILD_TEST(a_command_that_is_never_released_never_runs),
		CHILD_TEST(a_command_that_was_released_is_left_alone_at_the_end),
		CHILD_TEST(the_exit_status_is_the_commands),
		CHILD_TEST(a_command_that_cannot_be_run_exits_as_in_a_shell),
		CHILD_TEST(a_command_does_not_ignore_sigpipe),
		CHILD_TEST(a_command_inherits_no_descriptor_of_its_start),
		CHILD_TEST(without_a_command_nothing_has_exited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
