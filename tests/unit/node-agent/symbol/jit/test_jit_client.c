/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that die, hang and lie. The worker is this program again. The first byte of a list makes
 * it misbehave; it reads all other lists correctly. */
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_client.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "jit_cache_fixture.h"
#include "jit_worker_main.h"
#include "worker/worker_lanes.h"
#include "worker/worker_server.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define MAX_BYTES ((size_t)64 << 20)
#define SECOND NSEC_PER_SEC
#define WAIT_NS (60 * NSEC_PER_SEC)

#define DEADLY "D"
#define HANGING "H"
#define LYING "L"
#define REFUSED "R"

static void answer_nonsense(struct strbuf *reply)
{
	struct jit_answer *answer = (struct jit_answer *)(void *)reply->data;

	answer->place.offset = UINT64_MAX;
}

static int answer_as_told(struct worker_call *call, struct strbuf *reply, void *data)
{
	volatile bool is_for_ever = true;
	char first = '\0';

	if (pread(call->fds[0], &first, 1, 0) < 0)
		return -EIO;
	if (first == DEADLY[0])
		_exit(1);
	while (first == HANGING[0] && is_for_ever)
		;
	if (first == REFUSED[0])
		return -EIO;
	int r = jit_worker_read(call, reply, data);
	if (r == 0 && first == LYING[0])
		answer_nonsense(reply);
	return r;
}

static int be_worker(void)
{
	const struct worker_server_opts opts = {
		.name = "the stand-in",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = sizeof(struct jit_request),
		.answer = answer_as_told,
	};

	return worker_server_run(&opts);
}

/* Makes a process in a cgroup of its own and samples it. */
static uint32_t put_process(const struct jit_cache_fixture *fixture, uint32_t pid, const char *map)
{
	jit_cache_fixture_put(fixture, pid, map);
	uint32_t id = jit_cache_open(fixture->cache, pid, 1, pid, NULL, SECOND);
	assert_int_not_equal(id, 0);
	return id;
}

static const char *name_of(const struct jit_cache_fixture *fixture, uint32_t id)
{
	struct symbol_frames frames;

	if (jit_cache_symbolize(fixture->cache, id, 0x1000, &frames) < 0)
		return "";
	return frames.lines[0].name;
}

/* Refreshes for a window in which these processes are sampled. */
static void refresh(const struct jit_cache_fixture *fixture, uint64_t now_ns, const uint32_t *pids,
		    size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		(void)jit_cache_open(fixture->cache, pids[i], 1, pids[i], NULL, now_ns);
	jit_cache_refresh(fixture->cache, now_ns, clock_mono_ns() + 100 * NSEC_PER_MSEC);
}

/* Takes answers until no request is in progress. */
static void finish(const struct jit_cache_fixture *fixture)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	while (jit_cache_work(fixture->cache)) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(10000);
	}
}

/* Checks a file about which every worker dies, refuses or lies. */
static void check_bad_file(const struct jit_cache_fixture *fixture, const char *kind,
			   uint64_t nr_deaths)
{
	static const uint32_t pids[] = { 10, 11 };
	char map[64];

	snprintf(map, sizeof(map), "%s\n1000 10 f\n", kind);
	uint32_t bad = put_process(fixture, pids[0], map);
	uint32_t good = put_process(fixture, pids[1], "1000 10 good\n");
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, good), "good");
	assert_string_equal(name_of(fixture, bad), "");
	struct jit_stats stats = jit_cache_get_stats(fixture->cache);
	assert_int_equal(stats.nr_failures, 1);
	assert_int_equal(stats.worker.nr_deaths, nr_deaths);

	/* The file is not read for a while, and then by the slow worker. */
	refresh(fixture, 2 * SECOND, pids, array_len(pids));
	finish(fixture);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_failures, 1);
	jit_cache_fixture_write(fixture, pids[0], "root/tmp/perf-7.map", "1000 10 mended\n");
	refresh(fixture, SECOND + JIT_RETRY_NS, pids, array_len(pids));
	finish(fixture);
	assert_string_equal(name_of(fixture, bad), "mended");
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_failures, 1);
}

static void a_worker_that_dies_costs_that_files_names(void **state)
{
	check_bad_file(*state, DEADLY, 1);
}

static void a_worker_that_lies_costs_that_files_names(void **state)
{
	check_bad_file(*state, LYING, 0);
	assert_int_equal(
		jit_cache_get_stats(((struct jit_cache_fixture *)*state)->cache).worker.nr_started,
		3);
}

static void a_worker_that_refuses_costs_that_files_names(void **state)
{
	check_bad_file(*state, REFUSED, 0);
}

/* The bad file is read first. The other one waits once, for the time limit of the fast lane. */
static void a_worker_that_hangs_holds_nobody_else_up(void **state)
{
	static const uint32_t pids[] = { 10, 11 };
	const struct jit_cache_fixture *fixture = *state;
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	uint64_t now_ns = SECOND;
	uint64_t longest_ns = 0;

	uint32_t bad = put_process(fixture, pids[0], HANGING "\n1000 10 f\n");
	uint32_t good = put_process(fixture, pids[1], "1000 10 good\n");
	while (strcmp(name_of(fixture, good), "good") != 0) {
		uint64_t start_ns = clock_mono_ns();

		assert_true(start_ns < until_ns);
		refresh(fixture, now_ns++, pids, array_len(pids));
		if (clock_mono_ns() - start_ns > longest_ns)
			longest_ns = clock_mono_ns() - start_ns;
	}
	assert_true(longest_ns < SECOND); /* no refresh waits longer than requested */
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_failures, 0);

	/* While the slow worker hangs, functions of other processes get names at once. */
	jit_cache_fixture_write(fixture, pids[1], "root/tmp/perf-7.map",
				"1000 10 good\n1000 10 better\n");
	jit_cache_refresh(fixture->cache, now_ns++, UINT64_MAX);
	assert_true(jit_cache_work(fixture->cache));
	assert_string_equal(name_of(fixture, good), "better");

	finish(fixture);
	assert_string_equal(name_of(fixture, bad), "");
	struct jit_stats stats = jit_cache_get_stats(fixture->cache);
	assert_int_equal(stats.nr_failures, 1);
	assert_int_equal(stats.worker.nr_timeouts, 2);
	assert_int_equal(stats.worker.nr_deaths, 0);
}

struct rewriter {
	const struct jit_cache_fixture *fixture;
	bool is_done; /* atomic */
};

/* Grows, shrinks and overwrites a list as fast as possible. */
static void *rewrite(void *data)
{
	static const char *const texts[] = { "2000 10 other\n", "", "junk",
					     "1000 10 f\n3000 10 g\n" };
	struct rewriter *rewriter = data;
	char bytes[4096];

	_cleanup_close_ int fd = openat(rewriter->fixture->proc.proc_fd, "10/root/tmp/perf-7.map",
					O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	for (unsigned int i = 0; !__atomic_load_n(&rewriter->is_done, __ATOMIC_ACQUIRE); i++) {
		const char *text = texts[i % array_len(texts)];

		memset(bytes, (int)i, sizeof(bytes));
		assert_int_equal(pwrite(fd, text, strlen(text), i % 7), strlen(text));
		assert_int_equal(pwrite(fd, bytes, sizeof(bytes), i % 100000), sizeof(bytes));
		assert_int_equal(ftruncate(fd, i % 200000), 0);
	}
	return NULL;
}

static void a_list_that_never_rests_does_no_harm(void **state)
{
	struct rewriter rewriter = { .fixture = *state };
	const struct jit_cache_fixture *fixture = rewriter.fixture;
	static const uint32_t pids[] = { 10 };
	uint64_t now_ns = SECOND;
	pthread_t thread;

	uint32_t id = put_process(fixture, pids[0], "1000 10 f\n");
	assert_int_equal(pthread_create(&thread, NULL, rewrite, &rewriter), 0);
	for (unsigned int i = 0; i < 100; i++) {
		refresh(fixture, now_ns++, pids, array_len(pids));
		(void)name_of(fixture, id);
	}
	__atomic_store_n(&rewriter.is_done, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	jit_cache_fixture_write(fixture, pids[0], "root/tmp/perf-7.map", "1000 10 calm\n");
	refresh(fixture, now_ns, pids, array_len(pids));
	finish(fixture);
	refresh(fixture, now_ns, pids, array_len(pids));
	finish(fixture);
	assert_string_equal(name_of(fixture, id), "calm");
	struct jit_stats stats = jit_cache_get_stats(fixture->cache);
	assert_int_equal(stats.nr_failures + stats.worker.nr_deaths, 0);
}

/* An answer that arrives after its process has gone is ignored. */
static void an_answer_for_a_gone_process_is_dropped(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	uint32_t bad = put_process(fixture, 10, HANGING "\n1000 10 f\n");
	jit_cache_refresh(fixture->cache, SECOND, 0);
	assert_true(jit_cache_work(fixture->cache));
	proc_fixture_remove(&fixture->proc, 10);
	for (uint64_t i = 1; i <= 3; i++)
		jit_cache_refresh(fixture->cache, 100 * SECOND * i, 0);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_processes, 0);
	finish(fixture);
	assert_string_equal(name_of(fixture, bad), "");
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_failures, 0);

	/* Its cgroup has a penalty: a refresh does not wait for its next process. */
	uint32_t next = put_process(fixture, 10, "1000 10 f\n");
	jit_cache_refresh(fixture->cache, 400 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, next), "");
	finish(fixture);
	assert_string_equal(name_of(fixture, next), "f");
}

static void a_refresh_without_time_gets_its_answer_later(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	uint32_t id = put_process(fixture, 10, "1000 10 f\n");

	jit_cache_refresh(fixture->cache, SECOND, 0);
	assert_string_equal(name_of(fixture, id), "");
	finish(fixture);
	assert_string_equal(name_of(fixture, id), "f");
	assert_int_equal(jit_cache_get_stats(fixture->cache).worker.nr_requests, 1);
}

/* Without anything to read, no worker is started. */
static void without_lists_there_is_no_worker(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_int_equal(jit_cache_get_stats(fixture->cache).worker.nr_started, 0);
	put_process(fixture, 10, "");
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_int_equal(jit_cache_get_stats(fixture->cache).worker.nr_started, 0);
}

static void a_program_that_is_not_there_costs_names_only(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	struct jit_cache_fixture other = *fixture;

	other.cache = jit_cache_fixture_new_cache(fixture, JIT_CACHE_FIXTURE_MAX_BYTES,
						  "/nonexistent/flamelet");
	uint32_t id = put_process(&other, 10, "1000 10 f\n");
	jit_cache_refresh(other.cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(&other, id), "");
	assert_int_equal(jit_cache_get_stats(other.cache).nr_failures, 1);
	jit_cache_free(other.cache);
}

/* The program itself reads a megabyte of names in its sandbox. */
static void the_real_worker_reads_lists(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	_cleanup_(strbuf_done) struct strbuf map = strbuf_with_max(MAX_BYTES);
	struct jit_cache_fixture other = *fixture;

	for (unsigned int i = 1; i <= 40000; i++)
		strbuf_appendf(&map, "%x000 10 JS:*function%u /a.js:%u:1\n", i, i, i);
	other.cache = jit_cache_fixture_new_cache(fixture, JIT_CACHE_FIXTURE_MAX_BYTES,
						  FLAMELET_PROGRAM);
	uint32_t id = put_process(&other, 10, strbuf_str(&map));
	jit_cache_refresh(other.cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(&other, id), "*function1");
	struct jit_stats stats = jit_cache_get_stats(other.cache);
	assert_int_equal(stats.nr_functions, 40000);
	assert_int_equal(stats.nr_failures + stats.nr_bad_lines, 0);
	assert_int_equal(stats.worker.nr_started, 1);
	assert_true(stats.worker.cpu_ns > 0 && stats.worker.resident_bytes > 0);
	jit_cache_free(other.cache);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, jit_cache_fixture_setup, jit_cache_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_worker_that_dies_costs_that_files_names),
		TEST(a_worker_that_lies_costs_that_files_names),
		TEST(a_worker_that_refuses_costs_that_files_names),
		TEST(a_worker_that_hangs_holds_nobody_else_up),
		TEST(a_list_that_never_rests_does_no_harm),
		TEST(an_answer_for_a_gone_process_is_dropped),
		TEST(a_refresh_without_time_gets_its_answer_later),
		TEST(without_lists_there_is_no_worker),
		TEST(a_program_that_is_not_there_costs_names_only),
		TEST(the_real_worker_reads_lists),
	};

	if (is_jit_worker(argc, argv))
		return be_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
