/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in a directory that stands for /proc. test_jit_live.c has real compilers. */
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_client.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "worker/worker_process.h"
#include "jit_cache_fixture.h"
#include "jit_worker_main.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND NSEC_PER_SEC
#define CGROUP 77

static uint32_t open_at(const struct jit_cache_fixture *fixture, uint32_t pid, uint64_t now_ns)
{
	return jit_cache_open(fixture->cache, pid, 1, CGROUP, NULL, now_ns);
}

static const char *name_of(const struct jit_cache_fixture *fixture, uint32_t id, uint64_t address)
{
	struct symbol_frames frames;

	if (jit_cache_symbolize(fixture->cache, id, address, &frames) < 0)
		return "";
	assert_int_equal(frames.nr_lines, 1);
	assert_int_equal(frames.address, address);
	return frames.lines[0].name;
}

static void a_function_is_named_once_its_file_was_read(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	jit_cache_fixture_put(fixture, 10,
			      "1000 10 JS:*add /app/math.js:12:5\n2000 10 py::f:/a.py\n");
	uint32_t id = open_at(fixture, 10, SECOND);
	assert_int_not_equal(id, 0);
	assert_string_equal(name_of(fixture, id, 0x1000), "");
	jit_cache_refresh(fixture->cache, 2 * SECOND, UINT64_MAX);
	assert_int_equal(jit_cache_symbolize(fixture->cache, id, 0x100f, &frames), 0);
	assert_string_equal(frames.lines[0].name, "*add");
	assert_string_equal(frames.lines[0].system_name, "JS:*add /app/math.js:12:5");
	assert_string_equal(frames.lines[0].filename, "/app/math.js");
	assert_int_equal(frames.lines[0].line, 12);
	assert_int_equal(frames.lines[0].start_line, 12);
	assert_int_equal(frames.language, LANGUAGE_V8JS);
	assert_int_equal(jit_cache_symbolize(fixture->cache, id, 0x2000, &frames), 0);
	assert_string_equal(frames.lines[0].name, "py::f:/a.py");
	assert_int_equal(frames.language, LANGUAGE_JIT);
	assert_int_equal(jit_cache_symbolize(fixture->cache, id, 0x3000, &frames), -ENOENT);
	assert_int_equal(jit_cache_symbolize(fixture->cache, id + 1, 0x1000, &frames), -ENOENT);
	assert_int_equal(jit_cache_symbolize(fixture->cache, 0, 0x1000, &frames), -ENOENT);

	struct jit_stats stats = jit_cache_get_stats(fixture->cache);
	assert_int_equal(stats.nr_processes, 1);
	assert_int_equal(stats.nr_functions, 2);
	assert_true(stats.nr_bytes > 0);
	assert_int_equal(stats.nr_refused + stats.nr_bad_lines + stats.nr_dropped, 0);
}

static void a_process_without_a_file_is_looked_at_again_later(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, NULL);
	assert_int_equal(open_at(fixture, 10, SECOND), 0);
	jit_cache_fixture_write(fixture, 10, "root/tmp/perf-7.map", "1000 10 f\n");
	assert_int_equal(open_at(fixture, 10, SECOND + JIT_REOPEN_NS - 1), 0);
	uint32_t id = open_at(fixture, 10, SECOND + JIT_REOPEN_NS);
	assert_int_not_equal(id, 0);
	jit_cache_refresh(fixture->cache, 7 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, id, 0x1000), "f");
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_refused, 0);
}

static void growth_and_replacement_are_noticed_under_the_same_id(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, "1000 10 f\n");
	uint32_t id = open_at(fixture, 10, SECOND);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	jit_cache_fixture_write(fixture, 10, "root/tmp/perf-7.map", "1000 10 f\n2000 10 g\n");
	assert_int_equal(open_at(fixture, 10, 2 * SECOND), id);
	jit_cache_refresh(fixture->cache, 2 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, id, 0x2000), "g");

	/* A new file is renamed over the old one, as careful writers do. */
	jit_cache_fixture_write(fixture, 10, "root/tmp/new", "3000 10 h\n");
	assert_int_equal(renameat(fixture->proc.proc_fd, "10/root/tmp/new", fixture->proc.proc_fd,
				  "10/root/tmp/perf-7.map"),
			 0);
	assert_int_equal(open_at(fixture, 10, 7 * SECOND), id);
	jit_cache_refresh(fixture->cache, 7 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, id, 0x3000), "h");
	assert_string_equal(name_of(fixture, id, 0x1000), "");
}

static void a_new_program_under_the_pid_has_its_own_names(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, "1000 10 old\n");
	uint32_t old_id = open_at(fixture, 10, SECOND);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	jit_cache_fixture_write(fixture, 10, "root/tmp/new", "1000 10 new\n");
	assert_int_equal(renameat(fixture->proc.proc_fd, "10/root/tmp/new", fixture->proc.proc_fd,
				  "10/root/tmp/perf-7.map"),
			 0);
	uint32_t new_id = jit_cache_open(fixture->cache, 10, 2, CGROUP, NULL, SECOND);
	assert_int_not_equal(new_id, old_id);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, old_id, 0x1000), "old");
	assert_string_equal(name_of(fixture, new_id, 0x1000), "new");
}

static void a_process_that_ended_is_named_in_the_current_window(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, "1000 10 f\n");
	uint32_t id = open_at(fixture, 10, SECOND);
	proc_fixture_remove(&fixture->proc, 10);
	jit_cache_refresh(fixture->cache, 100 * SECOND, UINT64_MAX); /* a long window */
	assert_string_equal(name_of(fixture, id, 0x1000), "f");
	jit_cache_refresh(fixture->cache, 101 * SECOND, UINT64_MAX);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_processes, 1);
	jit_cache_refresh(fixture->cache, 102 * SECOND, UINT64_MAX);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_processes, 0);
	assert_string_equal(name_of(fixture, id, 0x1000), "");
	assert_int_equal(open_at(fixture, 10, 103 * SECOND), 0);
}

static void a_live_process_keeps_its_names_while_it_sleeps(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	uint64_t now_ns = SECOND;

	jit_cache_fixture_put(fixture, 10, "1000 10 f\n");
	uint32_t id = open_at(fixture, 10, now_ns);
	for (; now_ns < 300 * SECOND; now_ns += SECOND)
		jit_cache_refresh(fixture->cache, now_ns, UINT64_MAX);
	assert_int_equal(open_at(fixture, 10, now_ns), id);
	for (uint64_t end_ns = now_ns + 2 * JIT_IDLE_NS; now_ns < end_ns; now_ns += SECOND)
		jit_cache_refresh(fixture->cache, now_ns, UINT64_MAX);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_processes, 0);
	assert_int_equal(open_at(fixture, 10, now_ns), id + JIT_PROCESS_INDEX_MAX);
}

static void refused_files_are_counted_once(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, NULL);
	assert_int_equal(mkfifoat(fixture->proc.proc_fd, "10/root/tmp/perf-7.map", 0600), 0);
	for (uint64_t now_ns = SECOND; now_ns < 100 * SECOND; now_ns += JIT_REOPEN_NS)
		assert_int_equal(open_at(fixture, 10, now_ns), 0);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_refused, 1);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_processes, 0);
}

static void bad_lines_are_counted(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, "junk\n1000 0 x\n2000 10 f\n");
	uint32_t id = open_at(fixture, 10, SECOND);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, id, 0x2000), "f");
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_bad_lines, 2);
}

static void put_large_map(const struct jit_cache_fixture *fixture, uint32_t pid, int nr,
			  int name_len)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max((size_t)64 << 20);

	for (int i = 0; i < nr; i++)
		strbuf_appendf(&text, "%x 10 %0*d\n", i * 16, name_len, i);
	jit_cache_fixture_put(fixture, pid, strbuf_str(&text));
}

/* On a busy machine, a refresh gives up large files, and they are read after it. */
static void refresh_all(struct jit_cache *cache, uint64_t now_ns)
{
	jit_cache_refresh(cache, now_ns, UINT64_MAX);
	while (jit_cache_work(cache))
		usleep(1000);
}

static void the_least_recently_sampled_are_dropped_without_memory(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	struct jit_cache *cache = jit_cache_fixture_new_cache(fixture, (size_t)8 << 20, NULL);
	uint32_t ids[12];

	for (uint32_t i = 0; i < array_len(ids); i++) {
		put_large_map(fixture, 10 + i, 10000, 20);
		ids[i] = jit_cache_open(cache, 10 + i, 1, CGROUP, NULL, (1 + i) * SECOND);
		refresh_all(cache, (1 + i) * SECOND);
		assert_true(jit_cache_get_stats(cache).nr_bytes <= (size_t)8 << 20);
	}
	struct symbol_frames frames;
	assert_true(jit_cache_get_stats(cache).nr_evicted > 0);
	assert_int_equal(jit_cache_symbolize(cache, ids[0], 0x10, &frames), -ENOENT);
	assert_int_equal(jit_cache_symbolize(cache, ids[array_len(ids) - 1], 0x10, &frames), 0);

	/* Not read again at once, or two that do not fit together would evict each other for
	 * ever. */
	assert_int_equal(jit_cache_open(cache, 10, 1, CGROUP, NULL, 20 * SECOND), ids[0]);
	refresh_all(cache, 20 * SECOND);
	assert_int_equal(jit_cache_symbolize(cache, ids[0], 0x10, &frames), -ENOENT);
	assert_int_equal(jit_cache_open(cache, 10, 1, CGROUP, NULL, 80 * SECOND), ids[0]);
	refresh_all(cache, 80 * SECOND);
	assert_int_equal(jit_cache_symbolize(cache, ids[0], 0x10, &frames), 0);
	jit_cache_free(cache);
}

#define NR_GREEDY 64
#define GREEDY_LINES 100000

static size_t peak_bytes(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (size_t)usage.ru_maxrss << 10;
}

/* A short line takes twenty times its length in memory. */
static void many_large_files_do_not_take_more_memory_at_once(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	const size_t max_bytes = (size_t)8 << 20;
	struct jit_cache *cache = jit_cache_fixture_new_cache(fixture, max_bytes, NULL);
	_cleanup_(strbuf_done) struct strbuf map = strbuf_with_max((size_t)8 << 20);

	for (unsigned int i = 0; i < GREEDY_LINES; i++)
		strbuf_appendf(&map, "%x0 8 f\n", i + 1);
	for (uint32_t pid = 10; pid < 10 + NR_GREEDY; pid++) {
		jit_cache_fixture_put(fixture, pid, strbuf_str(&map));
		assert_int_not_equal(jit_cache_open(cache, pid, 1, CGROUP, NULL, SECOND), 0);
	}
	size_t before = peak_bytes();
	for (unsigned int i = 0; i < 8; i++)
		refresh_all(cache, SECOND);
	if (!WORKER_PROCESS_IS_SANITIZED)
		assert_true(peak_bytes() - before < 4 * max_bytes);
	assert_true(jit_cache_get_stats(cache).nr_bytes <= max_bytes);
	assert_true(jit_cache_get_stats(cache).nr_evicted > 0);
	jit_cache_free(cache);
}

#define WORKER_SOCKETS 1

static size_t count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void descriptors_are_bounded(void **state)
{
	enum { NR = JIT_REGISTRY_MAX_OPEN + 20 };
	const struct jit_cache_fixture *fixture = *state;
	static uint32_t ids[NR];
	size_t before = count_descriptors();

	for (uint32_t i = 0; i < NR; i++) {
		jit_cache_fixture_put(fixture, 10 + i, "1000 10 f\n");
		ids[i] = open_at(fixture, 10 + i, SECOND);
	}
	assert_int_equal(count_descriptors() - before, JIT_REGISTRY_MAX_OPEN);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_refused, 20);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_int_equal(count_descriptors() - before, JIT_REGISTRY_MAX_OPEN / 2 + WORKER_SOCKETS);
	for (uint32_t i = 0; i < JIT_REGISTRY_MAX_OPEN; i++)
		assert_string_equal(name_of(fixture, ids[i], 0x1000), "f");

	/* Processes that came too late, and one whose file was closed and has grown. */
	jit_cache_fixture_write(fixture, 10, "root/tmp/perf-7.map", "1000 10 f\n2000 10 g\n");
	for (uint32_t i = 0; i < NR; i += NR - 1)
		ids[i] = open_at(fixture, 10 + i, 7 * SECOND);
	jit_cache_refresh(fixture->cache, 7 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, ids[0], 0x2000), "g");
	assert_string_equal(name_of(fixture, ids[NR - 1], 0x1000), "f");
}

static void slots_are_bounded_and_reused(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	for (uint32_t pid = 1; pid <= JIT_PROCESS_INDEX_MAX; pid++)
		assert_int_equal(open_at(fixture, 1000 + pid, SECOND), 0);
	jit_cache_fixture_put(fixture, 10, "1000 10 f\n");
	assert_int_equal(open_at(fixture, 10, SECOND), 0);
	assert_int_equal(jit_cache_get_stats(fixture->cache).nr_without_place, 1);
	jit_cache_refresh(fixture->cache, 20 * SECOND, UINT64_MAX);
	jit_cache_refresh(fixture->cache, 21 * SECOND, UINT64_MAX);
	uint32_t id = open_at(fixture, 10, 22 * SECOND);
	assert_int_equal(id, JIT_PROCESS_INDEX_MAX + 1);
	jit_cache_refresh(fixture->cache, 22 * SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, id, 0x1000), "f");
	assert_int_equal(open_at(fixture, 1001, 22 * SECOND), 0);
}

/* On a busy machine, the cgroup becomes late, so that answers also arrive between refreshes. */
static void refresh_until_named(const struct jit_cache_fixture *fixture, uint32_t id,
				uint64_t address)
{
	uint64_t until_ns = clock_mono_ns() + 60 * NSEC_PER_SEC;

	while (strcmp(name_of(fixture, id, address), "") == 0) {
		assert_true(clock_mono_ns() < until_ns);
		jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
		while (jit_cache_work(fixture->cache))
			usleep(1000);
	}
}

static void one_refresh_reads_a_limited_number_of_bytes(void **state)
{
	const struct jit_cache_fixture *fixture = *state;
	uint32_t ids[8];

	/* 5 MB each. */
	for (uint32_t i = 0; i < array_len(ids); i++) {
		put_large_map(fixture, 10 + i, 20000, 250);
		ids[i] = open_at(fixture, 10 + i, SECOND);
	}
	jit_cache_refresh(fixture->cache, SECOND, UINT64_MAX);
	assert_string_equal(name_of(fixture, ids[7], 0x10), "");
	for (size_t i = 0; i < array_len(ids); i++)
		refresh_until_named(fixture, ids[i], 19999 * 16);
}

static void an_unfinished_line_is_asked_for_once_a_refresh(void **state)
{
	const struct jit_cache_fixture *fixture = *state;

	jit_cache_fixture_put(fixture, 10, "1000 10 f\n2000 10 unfini");
	jit_cache_fixture_put(fixture, 11, "1000 10 g\n");
	uint32_t id = open_at(fixture, 10, SECOND);
	uint32_t next_id = open_at(fixture, 11, SECOND);
	jit_cache_refresh(fixture->cache, SECOND, clock_mono_ns() + 10 * SECOND);
	assert_string_equal(name_of(fixture, id, 0x1000), "f");
	assert_string_equal(name_of(fixture, id, 0x2000), "");
	assert_string_equal(name_of(fixture, next_id, 0x1000), "g");
	assert_int_equal(jit_cache_get_stats(fixture->cache).worker.nr_requests, 2);

	jit_cache_fixture_write(fixture, 10, "root/tmp/perf-7.map",
				"1000 10 f\n2000 10 unfinished\n");
	assert_int_equal(open_at(fixture, 10, 2 * SECOND), id);
	jit_cache_refresh(fixture->cache, 2 * SECOND, clock_mono_ns() + 10 * SECOND);
	assert_string_equal(name_of(fixture, id, 0x2000), "unfinished");
	assert_int_equal(jit_cache_get_stats(fixture->cache).worker.nr_requests, 3);
}

struct reader {
	const struct jit_cache_fixture *fixture;
	bool is_done;
};

static void *open_all_the_time(void *data)
{
	struct reader *reader = data;

	for (uint64_t now_ns = SECOND; !__atomic_load_n(&reader->is_done, __ATOMIC_ACQUIRE);
	     now_ns += SECOND)
		for (uint32_t pid = 10; pid < 20; pid++)
			(void)jit_cache_open(reader->fixture->cache, pid, now_ns / (20 * SECOND),
					     CGROUP, NULL, now_ns);
	return NULL;
}

static void reader_and_loader_do_not_disturb_each_other(void **state)
{
	struct reader reader = { .fixture = *state };
	struct symbol_frames frames;
	unsigned int nr_named = 0;
	pthread_t thread;

	for (uint32_t pid = 10; pid < 20; pid++)
		jit_cache_fixture_put(reader.fixture, pid, "1000 10 f\n");
	assert_int_equal(pthread_create(&thread, NULL, open_all_the_time, &reader), 0);
	for (uint64_t i = 0; i < 100 || nr_named == 0; i++) {
		jit_cache_refresh(reader.fixture->cache, i * 100 * SECOND, UINT64_MAX);
		for (uint32_t id = 1; id < 50; id++)
			nr_named += jit_cache_symbolize(reader.fixture->cache, id, 0x1000,
							&frames) == 0;
		(void)jit_cache_get_stats(reader.fixture->cache);
	}
	__atomic_store_n(&reader.is_done, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, jit_cache_fixture_setup, jit_cache_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_function_is_named_once_its_file_was_read),
		TEST(a_process_without_a_file_is_looked_at_again_later),
		TEST(growth_and_replacement_are_noticed_under_the_same_id),
		TEST(a_new_program_under_the_pid_has_its_own_names),
		TEST(a_process_that_ended_is_named_in_the_current_window),
		TEST(a_live_process_keeps_its_names_while_it_sleeps),
		TEST(refused_files_are_counted_once),
		TEST(bad_lines_are_counted),
		TEST(the_least_recently_sampled_are_dropped_without_memory),
		TEST(many_large_files_do_not_take_more_memory_at_once),
		TEST(descriptors_are_bounded),
		TEST(slots_are_bounded_and_reused),
		TEST(one_refresh_reads_a_limited_number_of_bytes),
		TEST(an_unfinished_line_is_asked_for_once_a_refresh),
		TEST(reader_and_loader_do_not_disturb_each_other),
	};

	if (is_jit_worker(argc, argv))
		return jit_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
