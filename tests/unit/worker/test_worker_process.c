/* SPDX-License-Identifier: Apache-2.0 */
/* The workers are this program again, told by its first argument what to be. */
#include "worker/worker_process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define WAIT_NS (20 * NSEC_PER_SEC)
#define MAX_DATA_BYTES (UINT64_C(64) << 20)
#define LEFT_OPEN_FD 50

/* What a worker finds when it starts. */
struct surroundings {
	char name[16]; /* as the kernel has it */
	char stdin_path[64];
	char stdout_path[64];
	uint64_t nr_fds;
	uint64_t nr_variables;
	uint64_t nr_signals_ignored_or_blocked;
	uint64_t max_data_bytes;
	uint64_t max_core_bytes;
	uint64_t max_fds;
	int niceness;
	int oom_score;
	int parent_death_signal;
	int no_new_privs;
	pid_t session;
	bool has_left_open;
};

static void read_link(const char *path, char *to, size_t size)
{
	ssize_t n = readlink(path, to, size - 1);

	to[n < 0 ? 0 : n] = '\0';
}

static uint64_t count_fds(const char *path)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	uint64_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr - 3; /* ".", ".." and that of the directory */
}

static uint64_t count_unusual_signals(void)
{
	struct sigaction action;
	sigset_t blocked;
	uint64_t nr = 0;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int number = 1; number < NSIG; number++) {
		bool is_ignored = sigaction(number, NULL, &action) == 0 &&
				  action.sa_handler == SIG_IGN;
		nr += is_ignored || sigismember(&blocked, number) == 1;
	}
	return nr;
}

static uint64_t max_of(__rlimit_resource_t resource)
{
	struct rlimit limit = { 0 };

	getrlimit(resource, &limit);
	return limit.rlim_cur;
}

static int read_oom_score(void)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && strcmp(text, "1000\n") == 0 ? 1000 : 0;
}

static int tell_surroundings(void)
{
	struct surroundings found = {
		.nr_fds = count_fds("/proc/self/fd"),
		.nr_signals_ignored_or_blocked = count_unusual_signals(),
		.max_data_bytes = max_of(RLIMIT_DATA),
		.max_core_bytes = max_of(RLIMIT_CORE),
		.max_fds = max_of(RLIMIT_NOFILE),
		.niceness = getpriority(PRIO_PROCESS, 0),
		.oom_score = read_oom_score(),
		.no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
		.session = getsid(0),
		.has_left_open = fcntl(LEFT_OPEN_FD, F_GETFD) >= 0,
	};

	read_link("/proc/self/fd/0", found.stdin_path, sizeof(found.stdin_path));
	read_link("/proc/self/fd/1", found.stdout_path, sizeof(found.stdout_path));
	while (environ[found.nr_variables])
		found.nr_variables++;
	prctl(PR_GET_NAME, found.name, 0, 0, 0);
	prctl(PR_GET_PDEATHSIG, &found.parent_death_signal, 0, 0, 0);
	return write(WORKER_PROCESS_SOCKET_FD, &found, sizeof(found)) == sizeof(found) ? 0 : 1;
}

static int spin(void)
{
	static volatile uint64_t turns;

	while (turns++ < 1000 || clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) < 20 * NSEC_PER_MSEC)
		;
	return write(WORKER_PROCESS_SOCKET_FD, "", 1) == 1 ? pause() : 1;
}

/* An agent that starts a worker and tells its pid. */
static int be_agent(void)
{
	const struct worker_process_opts opts = { .command = "wait" };
	struct worker_process worker;

	if (worker_process_start(&opts, &worker) < 0)
		return 1;
	if (write(WORKER_PROCESS_SOCKET_FD, &worker.pid, sizeof(worker.pid)) < 0)
		return 1;
	return pause();
}

/* Returns the exit status, or -1 when this is not a worker. */
static int be_worker(const char *command)
{
	if (strcmp(command, "tell") == 0)
		return tell_surroundings();
	if (strcmp(command, "spin") == 0)
		return spin();
	if (strcmp(command, "agent") == 0)
		return be_agent();
	if (strcmp(command, "wait") == 0)
		return pause();
	return strcmp(command, "fail") == 0 ? 3 : -1;
}

static struct worker_process start(const char *command)
{
	const struct worker_process_opts opts = {
		.command = command,
		.max_data_bytes = MAX_DATA_BYTES,
	};
	struct worker_process worker = WORKER_PROCESS_NONE;

	assert_int_equal(worker_process_start(&opts, &worker), 0);
	assert_true(worker.pid > 0);
	assert_true(worker.socket >= 0);
	assert_true(fcntl(worker.socket, F_GETFD) & FD_CLOEXEC);
	return worker;
}

static void read_answer(const struct worker_process *worker, void *bytes, size_t len)
{
	struct pollfd wait = { .fd = worker->socket, .events = POLLIN };

	assert_int_equal(poll(&wait, 1, WAIT_NS / NSEC_PER_MSEC), 1);
	assert_int_equal(read(worker->socket, bytes, len), len);
}

static struct surroundings ask_surroundings(void)
{
	struct worker_process worker = start("tell");
	struct surroundings found;

	read_answer(&worker, &found, sizeof(found));
	assert_int_equal(found.session, worker.pid);
	assert_true(worker_process_stop(&worker, WAIT_NS));
	return found;
}

static void it_has_no_descriptors_but_its_own(void **state)
{
	(void)state;
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dup2(null_fd, LEFT_OPEN_FD), LEFT_OPEN_FD); /* not closed by execve() */

	struct surroundings found = ask_surroundings();
	close(LEFT_OPEN_FD);
	close(null_fd);
	assert_false(found.has_left_open);
	assert_int_equal(found.nr_fds, 4);
	assert_string_equal(found.stdin_path, "/dev/null");
	assert_string_equal(found.stdout_path, "/dev/null");
}

static void it_is_called_as_the_program_is(void **state)
{
	struct surroundings found = ask_surroundings();
	char path[PATH_MAX];
	(void)state;

	read_link("/proc/self/exe", path, sizeof(path));
	assert_int_equal(strncmp(found.name, strrchr(path, '/') + 1, sizeof(found.name) - 1), 0);
}

static void signals_are_as_for_any_new_program(void **state)
{
	sigset_t blocked;
	(void)state;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	struct surroundings found = ask_surroundings();
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(found.nr_signals_ignored_or_blocked, 0);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	assert_int_equal(sigismember(&blocked, SIGTERM), 1); /* ours are as they were */
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

static void it_is_limited_and_first_to_go(void **state)
{
	struct surroundings found = ask_surroundings();
	int niceness = getpriority(PRIO_PROCESS, 0);
	(void)state;

	assert_int_equal(found.nr_variables, 0);
	assert_int_equal(found.max_core_bytes, 0);
	assert_int_equal(found.max_fds, WORKER_PROCESS_MAX_FDS);
	if (!WORKER_PROCESS_IS_SANITIZED)
		assert_int_equal(found.max_data_bytes, MAX_DATA_BYTES);
	assert_int_equal(found.niceness, niceness > 14 ? 19 : niceness + 5);
	assert_int_equal(found.oom_score, 1000);
	assert_int_equal(found.parent_death_signal, SIGKILL);
	assert_int_equal(found.no_new_privs, 1);
}

static void a_program_that_cannot_be_run_is_told(void **state)
{
	static const struct {
		const char *program;
		int error;
	} cases[] = {
		{ "/no/such/program", -ENOENT },
		{ "/tmp", -EACCES },
		{ "/etc/passwd", -EACCES },
	};
	uint64_t nr_fds = count_fds("/proc/self/fd");
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct worker_process_opts opts = { .program = cases[i].program,
							  .command = "wait" };
		struct worker_process worker = WORKER_PROCESS_NONE;

		assert_int_equal(worker_process_start(&opts, &worker), cases[i].error);
		assert_int_equal(worker.pid, 0);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}
	assert_int_equal(count_fds("/proc/self/fd"), nr_fds);
}

static void one_that_is_stopped_leaves_nothing(void **state)
{
	uint64_t nr_fds = count_fds("/proc/self/fd");
	struct worker_process worker = start("wait");
	(void)state;

	assert_false(worker_process_has_ended(&worker));
	assert_true(worker_process_stop(&worker, WAIT_NS));
	assert_int_equal(worker.pid, 0);
	assert_int_equal(worker.socket, -EBADF);
	assert_true(WIFSIGNALED(worker.status) && WTERMSIG(worker.status) == SIGKILL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
	assert_int_equal(count_fds("/proc/self/fd"), nr_fds);
	assert_true(worker_process_stop(&worker, 0));
	assert_true(worker_process_has_ended(&worker));
}

static void one_that_ends_is_noticed_and_its_status_kept(void **state)
{
	struct worker_process worker = start("fail");
	char byte;
	(void)state;

	assert_int_equal(read(worker.socket, &byte, 1), 0);
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;
	while (!worker_process_has_ended(&worker) && clock_mono_ns() < deadline_ns)
		usleep(1000);
	assert_true(worker_process_has_ended(&worker));
	assert_true(WIFEXITED(worker.status) && WEXITSTATUS(worker.status) == 3);
	assert_true(worker_process_stop(&worker, 0));
}

static void what_it_uses_is_known_while_it_runs_and_afterwards(void **state)
{
	struct worker_process worker = start("spin");
	char byte;
	(void)state;

	read_answer(&worker, &byte, 1);
	struct worker_process_usage usage = worker_process_get_usage(&worker);
	assert_true(usage.cpu_ns >= 20 * NSEC_PER_MSEC);
	assert_true(usage.resident_bytes > 100000);
	assert_true(worker_process_stop(&worker, WAIT_NS));
	usage = worker_process_get_usage(&worker);
	assert_true(usage.cpu_ns >= 10 * NSEC_PER_MSEC);
	assert_int_equal(usage.resident_bytes, 0);
}

/* An orphan is a child of ours then, so that its end can be seen. */
static void it_dies_with_the_agent(void **state)
{
	struct worker_process agent = start("agent");
	pid_t pid;
	(void)state;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	read_answer(&agent, &pid, sizeof(pid));
	assert_int_equal(kill(pid, 0), 0);
	assert_true(worker_process_stop(&agent, WAIT_NS));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

static void without_a_worker_nothing_is_done(void **state)
{
	struct worker_process worker = WORKER_PROCESS_NONE;
	(void)state;

	assert_true(worker_process_has_ended(&worker));
	assert_true(worker_process_stop(&worker, 0));
	assert_int_equal(worker_process_get_usage(&worker).cpu_ns, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_no_descriptors_but_its_own),
		cmocka_unit_test(it_is_called_as_the_program_is),
		cmocka_unit_test(signals_are_as_for_any_new_program),
		cmocka_unit_test(it_is_limited_and_first_to_go),
		cmocka_unit_test(a_program_that_cannot_be_run_is_told),
		cmocka_unit_test(one_that_is_stopped_leaves_nothing),
		cmocka_unit_test(one_that_ends_is_noticed_and_its_status_kept),
		cmocka_unit_test(what_it_uses_is_known_while_it_runs_and_afterwards),
		cmocka_unit_test(it_dies_with_the_agent),
		cmocka_unit_test(without_a_worker_nothing_is_done),
	};
	int status = argc > 1 ? be_worker(argv[1]) : -1;

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
