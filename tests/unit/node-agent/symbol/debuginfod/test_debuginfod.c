/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod.h"

#include "base/clock.h"
#include "debuginfod_fixture.h"
#include "symbol/debuginfod/debuginfod_protocol.h"
#include "worker/worker_process.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/stat.h>

#define NEVER_LONGER_NS (500 * NSEC_PER_MSEC) /* for a call that does not wait, on a busy machine */

static uint64_t cache_bytes;

static int add_size(const char *path, const struct stat *st, int type)
{
	(void)path;
	if (type == FTW_F)
		cache_bytes += (uint64_t)st->st_size;
	return 0;
}

static uint64_t count_cache_bytes(const struct fixture *fixture)
{
	cache_bytes = 0;
	ftw(fixture->cache_dir, add_size, 8);
	return cache_bytes;
}

/* The worker is the child that is not the server. */
static pid_t find_worker(const struct fixture *fixture)
{
	_cleanup_fclose_ FILE *children = NULL;
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)gettid());
	children = fopen(path, "re");
	if (!children)
		skip(); /* a kernel without CONFIG_PROC_CHILDREN */
	while (fscanf(children, "%d", &pid) == 1) {
		if (pid != fixture->standin.pid)
			return pid;
	}
	return 0;
}

static void a_file_that_a_server_has_arrives(void **state)
{
	struct fixture *fixture = *state;
	struct stat st;

	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 11);
	assert_int_equal(debuginfod_ask(fixture->debuginfod, ID(STANDIN_FOUND, "01"), 12),
			 -EALREADY);
	expect_file(fixture, 11);
	assert_int_equal(stats_of(fixture).nr_found, 1);
	assert_int_equal(stat(fixture->cache_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(fixture->longest_ns < NEVER_LONGER_NS);
}

static void what_was_downloaded_needs_no_server_any_more(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
	debuginfod_standin_stop(&fixture->standin);
	ask(fixture, ID(STANDIN_FOUND, "01"), 2);
	expect_file(fixture, 2);
}

static void what_no_server_has_is_not_asked_for_again(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	ask(fixture, ID(STANDIN_MISSING, "01"), 1);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_missing, 1);
	assert_int_equal(stats_of(fixture).nr_failures, 0);
	assert_int_equal(debuginfod_ask(fixture->debuginfod, ID(STANDIN_MISSING, "01"), 1),
			 -EALREADY);
	assert_int_equal(stats_of(fixture).nr_asked, 1);
}

static void many_are_answered(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seen = 0;
	uint64_t cookie;
	char id[64];

	start(fixture);
	for (unsigned int i = 0; i < 60; i++) {
		const char *kind = i % 2 ? STANDIN_FOUND : STANDIN_MISSING;

		snprintf(id, sizeof(id), "%s%08x", kind, i);
		ask(fixture, id, i);
	}
	for (unsigned int i = 0; i < 30; i++) {
		int fd = wait_for_file(fixture, &cookie);

		assert_true(fd >= 0);
		seen |= UINT64_C(1) << cookie;
		close(fd);
	}
	expect_nothing(fixture);
	assert_int_equal(seen, UINT64_C(0x0aaaaaaaaaaaaaaa));
	assert_int_equal(stats_of(fixture).nr_missing, 30);
	assert_int_equal(stats_of(fixture).nr_started, 1);
}

static void without_a_server_it_fails(void **state)
{
	struct fixture *fixture = *state;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", free_port());
	fixture->opts.urls = url;
	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_failures, 1);
	assert_int_equal(stats_of(fixture).nr_missing, 0);
	assert_int_equal(debuginfod_ask(fixture->debuginfod, ID(STANDIN_FOUND, "01"), 1),
			 -EALREADY);
}

static void one_of_two_servers_is_enough(void **state)
{
	struct fixture *fixture = *state;
	char urls[160];

	snprintf(urls, sizeof(urls), "http://127.0.0.1:%u %s", free_port(), fixture->standin.url);
	fixture->opts.urls = urls;
	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
}

static void a_silent_server_holds_nobody_up(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	ask(fixture, ID(STANDIN_SILENT, "01"), 1);
	ask(fixture, ID(STANDIN_FOUND, "01"), 2);
	uint64_t start_ns = clock_mono_ns();
	expect_file(fixture, 2);
	assert_true(clock_mono_ns() - start_ns < TIMEOUT_NS + DEBUGINFOD_GRACE_NS);
	assert_int_equal(stats_of(fixture).nr_failures, 1);
	assert_int_equal(stats_of(fixture).nr_started, 1); /* the worker noticed */
	assert_true(fixture->longest_ns < NEVER_LONGER_NS);
}

static void what_is_too_large_is_not_taken(void **state)
{
	static const char *const ids[] = { ID(STANDIN_ENDLESS, "01"), ID(STANDIN_LARGE, "01"),
					   ID(STANDIN_BOMB, "01") };
	struct fixture *fixture = *state;

	fixture->opts.timeout_ns = 20 * NSEC_PER_SEC;
	start(fixture);
	for (size_t i = 0; i < array_len(ids); i++) {
		ask(fixture, ids[i], i);
		expect_nothing(fixture);
		assert_int_equal(stats_of(fixture).nr_failures, i + 1);
		assert_true(count_cache_bytes(fixture) <= MAX_FILE_BYTES);
	}
	ask(fixture, ID(STANDIN_FOUND, "01"), 9);
	expect_file(fixture, 9);
	assert_int_equal(stats_of(fixture).nr_started, 1);
}

static void the_cache_stays_within_its_limit(void **state)
{
	struct fixture *fixture = *state;
	char id[64];

	fixture->opts.max_cache_bytes = 10 * STANDIN_FILE_BYTES;
	start(fixture);
	for (unsigned int i = 0; i < 30; i++) {
		snprintf(id, sizeof(id), STANDIN_FOUND "%08x", i);
		ask(fixture, id, i);
		expect_file(fixture, i);
		assert_true(count_cache_bytes(fixture) <= fixture->opts.max_cache_bytes);
	}
	assert_true(count_cache_bytes(fixture) >= 4 * STANDIN_FILE_BYTES);
}

static void a_worker_that_dies_is_replaced(void **state)
{
	struct fixture *fixture = *state;
	uint64_t cookie;
	int fd;

	start(fixture);
	ask(fixture, ID(STANDIN_SILENT, "01"), 1);
	ask(fixture, ID(STANDIN_FOUND, "01"), 2);
	assert_int_equal(next(fixture, &cookie, &fd), 0);
	pid_t worker = find_worker(fixture);
	assert_true(worker > 0);
	assert_int_equal(kill(worker, SIGKILL), 0);
	expect_file(fixture, 2);
	assert_int_equal(stats_of(fixture).nr_deaths, 1);
	assert_int_equal(stats_of(fixture).nr_started, 2);
	assert_int_equal(stats_of(fixture).nr_failures, 1); /* what it was at when it died */
	assert_int_equal(debuginfod_ask(fixture->debuginfod, ID(STANDIN_SILENT, "01"), 1),
			 -EALREADY);
}

static void a_worker_that_dies_without_work_costs_no_answer(void **state)
{
	struct fixture *fixture = *state;
	siginfo_t ended;

	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
	pid_t worker = find_worker(fixture);
	assert_true(worker > 0);
	assert_int_equal(kill(worker, SIGKILL), 0);
	/* Until its end of the socket is closed. */
	assert_int_equal(waitid(P_PID, (id_t)worker, &ended, WEXITED | WNOWAIT), 0);
	ask(fixture, ID(STANDIN_FOUND, "02"), 2);
	expect_file(fixture, 2);
	assert_int_equal(stats_of(fixture).nr_deaths, 1);
	assert_int_equal(stats_of(fixture).nr_failures, 0);
}

static void a_worker_that_hangs_is_killed_and_replaced(void **state)
{
	struct fixture *fixture = *state;
	uint64_t cookie;
	int fd;

	start(fixture);
	ask(fixture, ID(STANDIN_SILENT, "01"), 1);
	ask(fixture, ID(STANDIN_FOUND, "01"), 2);
	assert_int_equal(next(fixture, &cookie, &fd), 0);
	pid_t worker = find_worker(fixture);
	assert_true(worker > 0);
	assert_int_equal(kill(worker, SIGSTOP), 0);
	expect_file(fixture, 2);
	assert_int_equal(stats_of(fixture).nr_killed, 1);
	assert_int_equal(stats_of(fixture).nr_deaths, 0);
	assert_int_equal(stats_of(fixture).nr_started, 2);
	assert_true(fixture->longest_ns < NEVER_LONGER_NS);
}

static void a_worker_without_work_is_ended(void **state)
{
	struct fixture *fixture = *state;
	uint64_t cookie;
	int fd;

	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
	uint64_t deadline_ns = clock_mono_ns() + DEBUGINFOD_IDLE_NS + PATIENCE_NS;
	assert_true(stats_of(fixture).resident_bytes > 0);
	while (stats_of(fixture).resident_bytes > 0) {
		assert_true(clock_mono_ns() < deadline_ns);
		assert_int_equal(next(fixture, &cookie, &fd), 0);
		sleep_a_step();
	}
	ask(fixture, ID(STANDIN_FOUND, "02"), 2);
	expect_file(fixture, 2);
	assert_int_equal(stats_of(fixture).nr_started, 2);
	assert_int_equal(stats_of(fixture).nr_deaths, 0);
	assert_true(stats_of(fixture).cpu_ns > 0);
}

static void without_a_worker_it_fails(void **state)
{
	struct fixture *fixture = *state;

	fixture->opts.program = "/nonexistent";
	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	ask(fixture, ID(STANDIN_FOUND, "02"), 2);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_failures, 2);
	assert_int_equal(stats_of(fixture).nr_started, 0);
}

/* One that says nothing. */
static void another_program_is_not_believed(void **state)
{
	static const char *const programs[] = { "/bin/true", "/bin/false" };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < array_len(programs); i++) {
		fixture->opts.program = programs[i];
		start(fixture);
		ask(fixture, ID(STANDIN_FOUND, "01"), 1);
		expect_nothing(fixture);
		assert_int_equal(stats_of(fixture).nr_failures, 1);
		/* The first may have died before anything was sent to it. */
		assert_in_range(stats_of(fixture).nr_deaths, 1, 2);
		debuginfod_free(fixture->debuginfod);
		fixture->debuginfod = NULL;
	}
}

/* Answers requests with an error each, and with two descriptors. */
static int be_hostile_worker(void)
{
	static const int fds[] = { STDIN_FILENO, STDIN_FILENO };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct debuginfod_reply reply = { .error = -ENOENT };
	struct debuginfod_request request;
	struct iovec bytes = { &reply, sizeof(reply) };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};

	control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fds)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	while (recv(WORKER_PROCESS_SOCKET_FD, &request, sizeof(request), MSG_WAITALL) > 0)
		if (sendmsg(WORKER_PROCESS_SOCKET_FD, &message, MSG_NOSIGNAL) < 0)
			return 1;
	return 0;
}

static size_t count_descriptors(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr;
}

static void descriptors_that_nobody_asked_for_are_not_kept(void **state)
{
	struct fixture *fixture = *state;

	fixture->opts.program = NULL; /* this one */
	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_nothing(fixture);
	size_t nr = count_descriptors();
	ask(fixture, ID(STANDIN_FOUND, "02"), 2);
	ask(fixture, ID(STANDIN_FOUND, "03"), 3);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_missing, 3);
	assert_int_equal(count_descriptors(), nr);
}

static void the_worker_has_no_privileges(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_fclose_ FILE *status = NULL;
	unsigned long long mask;
	unsigned int nr_seen = 0;
	char path[64];
	char line[256];

	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)find_worker(fixture));
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status)) {
		if (sscanf(line, "CapPrm: %llx", &mask) == 1 ||
		    sscanf(line, "CapEff: %llx", &mask) == 1) {
			assert_int_equal(mask, 0);
			nr_seen++;
		}
	}
	assert_int_equal(nr_seen, 2);
}

static void a_directory_of_somebody_elses_is_not_used(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkdir(fixture->cache_dir, 0700), 0);
	assert_int_equal(chmod(fixture->cache_dir, 0777), 0);
	start(fixture);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_failures, 1);
	assert_int_equal(count_cache_bytes(fixture), 0);
}

static void only_so_many_wait(void **state)
{
	struct fixture *fixture = *state;
	char id[64];

	fixture->opts.timeout_ns =
		PATIENCE_NS; /* one of a thousand may be late on a busy machine */
	start(fixture);
	for (unsigned int i = 0; i < DEBUGINFOD_MAX_QUEUE; i++) {
		snprintf(id, sizeof(id), STANDIN_MISSING "%08x", i);
		ask(fixture, id, i);
	}
	assert_int_equal(debuginfod_ask(fixture->debuginfod, ID(STANDIN_FOUND, "01"), 1), -ENOSPC);
	assert_int_equal(stats_of(fixture).nr_refused, 1);
	assert_int_equal(stats_of(fixture).nr_waiting, DEBUGINFOD_MAX_QUEUE);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_missing, DEBUGINFOD_MAX_QUEUE);
	ask(fixture, ID(STANDIN_FOUND, "01"), 1);
	expect_file(fixture, 1);
}

static void what_is_no_build_id_is_refused(void **state)
{
	static const char *const ids[] = { "",	   "0",	       "012",	  "AABB",
					   "aa/b", "../../aa", "aabb ",	  "aabb\n",
					   "gggg", "aabbccd",  "%2e%2e/", "aabb?x" };
	struct fixture *fixture = *state;
	char long_id[131];

	start(fixture);
	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(debuginfod_ask(fixture->debuginfod, ids[i], 0), -EINVAL);
	memset(long_id, 'a', sizeof(long_id) - 1);
	long_id[sizeof(long_id) - 1] = '\0';
	assert_int_equal(debuginfod_ask(fixture->debuginfod, long_id, 0), -EINVAL);
	assert_int_equal(debuginfod_ask(fixture->debuginfod, long_id + 2, 0), 0);
	assert_int_equal(stats_of(fixture).nr_asked, 1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], DEBUGINFOD_WORKER_COMMAND) == 0)
		return be_hostile_worker();
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, debuginfod_fixture_setup, debuginfod_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_a_server_has_arrives),
		TEST(what_was_downloaded_needs_no_server_any_more),
		TEST(what_no_server_has_is_not_asked_for_again),
		TEST(many_are_answered),
		TEST(without_a_server_it_fails),
		TEST(one_of_two_servers_is_enough),
		TEST(a_silent_server_holds_nobody_up),
		TEST(what_is_too_large_is_not_taken),
		TEST(the_cache_stays_within_its_limit),
		TEST(a_worker_that_dies_is_replaced),
		TEST(a_worker_that_dies_without_work_costs_no_answer),
		TEST(a_worker_that_hangs_is_killed_and_replaced),
		TEST(a_worker_without_work_is_ended),
		TEST(without_a_worker_it_fails),
		TEST(another_program_is_not_believed),
		TEST(descriptors_that_nobody_asked_for_are_not_kept),
		TEST(the_worker_has_no_privileges),
		TEST(a_directory_of_somebody_elses_is_not_used),
		TEST(only_so_many_wait),
		TEST(what_is_no_build_id_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
