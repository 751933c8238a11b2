/* SPDX-License-Identifier: Apache-2.0 */
/* A process that fills and empties a spool is killed, at any time and at every system call. What it
 * was told to be saved is there afterwards, whole, in order, and nothing else is in the
 * directory. */
#include "spool_fixture.h"
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BODY_BYTES 3000
#define CANNOT_TRACE 77

/* What the victim has done, in memory that outlives it. Requests are numbered from 1. */
struct diary {
	volatile uint32_t nr_appended; /* begun */
	volatile uint32_t nr_saved; /* done */
	volatile uint32_t nr_popped; /* done */
	volatile uint32_t nr_pops; /* begun */
};

static struct diary *new_diary(void)
{
	struct diary *diary = mmap(NULL, sizeof(*diary), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(diary != MAP_FAILED);
	return diary;
}

/* Saves each request, and delivers two of three. */
static void work(struct spool_fixture *fixture, struct diary *diary, uint32_t last)
{
	spool_fixture_open(fixture);
	for (uint32_t number = diary->nr_appended + 1; number <= last; number++) {
		diary->nr_appended = number;
		spool_fixture_append(fixture, number, BODY_BYTES);
		if (spool_save(fixture->spool) < 0)
			abort();
		diary->nr_saved = number;
		if (number % 3 == 0)
			continue;
		diary->nr_pops++;
		spool_pop(fixture->spool);
		diary->nr_popped++;
	}
}

/* Every request is put at the end once, and the oldest are removed that are too many for the next
 * victim. */
static void check_what_is_left(struct spool_fixture *fixture, struct diary *diary,
			       uint32_t max_left)
{
	uint32_t first, nr_left;

	spool_fixture_open(fixture);
	nr_left = (uint32_t)spool_get_stats(fixture->spool).nr_requests;
	assert_int_equal(spool_get_stats(fixture->spool).nr_files_damaged, 0);
	assert_int_equal(spool_fixture_count(fixture, ""), nr_left);
	first = nr_left > 0 ? (uint32_t)spool_first(fixture->spool)->nr_samples
			    : diary->nr_pops + 1;

	assert_in_range(first, diary->nr_popped + 1, diary->nr_pops + 1);
	assert_in_range(first + nr_left - 1, diary->nr_saved, diary->nr_appended);
	for (uint32_t i = 0; i < nr_left; i++) {
		spool_fixture_assert_first(fixture, first + i, BODY_BYTES);
		spool_rotate(fixture->spool);
	}
	diary->nr_appended = diary->nr_saved = first + nr_left - 1;
	for (; nr_left > max_left; nr_left--, first++)
		spool_pop(fixture->spool);
	diary->nr_popped = diary->nr_pops = first - 1;
	spool_close(take_ptr(fixture->spool));
}

static void kill_and_wait(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	do
		assert_int_equal(waitpid(pid, &status, 0), pid);
	while (!WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void a_process_may_be_killed_at_any_time(void **state)
{
	struct spool_fixture *fixture = *state;
	struct diary *diary = new_diary();
	unsigned int seed = 1;

	for (int round = 0; round < 60; round++) {
		const struct timespec delay = { .tv_nsec = rand_r(&seed) % 4000000 };
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			work(fixture, diary, UINT32_MAX);
			_exit(1);
		}
		nanosleep(&delay, NULL);
		kill_and_wait(pid);
		check_what_is_left(fixture, diary, UINT32_MAX);
	}
	assert_true(diary->nr_saved > 60);
	munmap(diary, sizeof(*diary));
}

static pid_t start_traced(struct spool_fixture *fixture, struct diary *diary)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(CANNOT_TRACE);
	raise(SIGSTOP);
	work(fixture, diary, diary->nr_appended + 3);
	_exit(0);
}

/* Runs the victim to its n-th stop, at the entry or the exit of a system call, and kills it there.
 * Whether there was one. */
static bool kill_at_stop(struct spool_fixture *fixture, struct diary *diary, unsigned int n)
{
	pid_t pid = start_traced(fixture, diary);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_TRACE) {
		print_message("SKIP: ptrace() is not allowed here\n");
		skip();
	}
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		assert_true(WIFSTOPPED(status));
	}
	kill_and_wait(pid);
	return true;
}

static void a_process_may_be_killed_at_every_system_call(void **state)
{
	struct spool_fixture *fixture = *state;
	struct diary *diary = new_diary();
	unsigned int n = 1;

	while (kill_at_stop(fixture, diary, n)) {
		check_what_is_left(fixture, diary, 2);
		n++;
	}
	check_what_is_left(fixture, diary, 2);
	/* Three files, each opened, written, synced, closed, renamed: entries and exits. */
	assert_true(n > 3 * 5 * 2);
	munmap(diary, sizeof(*diary));
}

#define test(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, spool_fixture_setup, spool_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_process_may_be_killed_at_any_time),
		test(a_process_may_be_killed_at_every_system_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
