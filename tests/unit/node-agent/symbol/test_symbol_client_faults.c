/* SPDX-License-Identifier: Apache-2.0 */
/* Files that break or hold up the worker, workers that cannot be had, memory that runs out: what
 * it costs, and whom. */
#include "base/array.h"
#include "elf_cache_fixture.h"
#include "elf_cache_inside.h"
#include "torture.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OFFSET (FUNCTION_OFFSET + 0x10)
#define SHORT_NS (50 * NSEC_PER_MSEC)
#define TIMEOUT_NS WORKER_LANES_FAST_NS /* not so long that the slow lane would do better */

static const struct fixture_file good = { .function = "good" };

/* A minute is long. */
static void pass_time(const struct elf_cache_fixture *fixture)
{
	inside_pass_time(fixture->cache, FILE_REGISTRY_REOPEN_NS);
}

/* Those that elf_cache_get_stats() tells are a little old. */
static struct worker_stats worker_stats(const struct elf_cache_fixture *fixture)
{
	return worker_lanes_get_stats(inside_lanes(fixture->cache));
}

static void be_impatient(const struct elf_cache_fixture *fixture)
{
	const struct worker_limits limits = { .timeout_ns = TIMEOUT_NS };

	inside_set_limits(inside_jobs(inside_client(fixture->cache)), &limits);
}

static void drop_all_names(const struct elf_cache_fixture *fixture)
{
	inside_drop_names(fixture->cache, clock_mono_ns());
}

static void a_file_that_breaks_the_worker_costs_its_own_names(void **state)
{
	static const struct {
		enum fixture_fate fate;
		int error;
	} cases[] = {
		{ DIES, -EPIPE },
		{ FAILS, -EIO },
		{ TALKS_NONSENSE, -EBADMSG },
	};
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	for (size_t i = 0; i < array_len(cases); i++) {
		elf_cache_fixture_start(fixture);
		uint32_t bad = add_file(
			fixture, IN_ONE, "bin/bad",
			&(struct fixture_file){ .function = "bad", .table = cases[i].fate });
		uint32_t id = add_file(fixture, IN_ONE, "bin/good", &good);
		assert_int_equal(name_fully(fixture, bad, OFFSET, &frames), cases[i].error);
		assert_int_equal(frames.nr_lines, 0);
		assert_int_equal(frames.address, OFFSET);
		assert_string_equal(outer_name(fixture, id, OFFSET), "good");
		assert_int_equal(stats_of(fixture).files.nr_bad_files, 1);
		assert_int_equal(worker_stats(fixture).nr_deaths, cases[i].fate == DIES);
		assert_string_equal(elf_cache_build_ids(fixture->cache, bad).gnu, "");
	}
}

static void a_file_that_holds_the_worker_up_is_given_up(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	elf_cache_fixture_start(fixture);
	be_impatient(fixture);
	uint32_t bad = add_file(
		fixture, IN_ONE, "bin/bad",
		&(struct fixture_file){ .function = "bad", .table = HANGS, .number = 1 });
	uint32_t id = add_file(fixture, IN_ONE, "bin/good", &good);
	assert_false(elf_cache_wait(fixture->cache, clock_mono_ns() + SHORT_NS));
	assert_int_equal(name_fully(fixture, bad, OFFSET, &frames), -ETIMEDOUT);
	assert_string_equal(outer_name(fixture, id, OFFSET), "good");
	assert_int_equal(worker_stats(fixture).nr_timeouts, 1);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 1);
}

/* Whoever waits for names is told when only the slow worker is left to wait for. */
static void what_only_the_slow_worker_does_is_told(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	uint64_t until_ns = clock_mono_ns() + FIXTURE_WAIT_NS;

	elf_cache_fixture_start(fixture);
	struct elf_cache *cache = fixture->cache;
	assert_false(elf_cache_is_slow_only(cache));
	(void)add_file(fixture, IN_ONE, "bin/bad",
		       &(struct fixture_file){ .function = "bad", .table = HANGS, .number = 1 });
	assert_false(elf_cache_wait(cache, clock_mono_ns() + SHORT_NS));
	assert_false(elf_cache_is_slow_only(cache));
	while (!elf_cache_is_slow_only(cache) && clock_mono_ns() < until_ns)
		assert_false(elf_cache_wait(cache, clock_mono_ns() + SHORT_NS));
	assert_true(elf_cache_is_slow_only(cache));

	uint32_t id = add_file(fixture, IN_OTHER, "bin/good", &good);
	assert_false(elf_cache_ask(cache, id, OFFSET));
	while (!elf_cache_ask(cache, id, OFFSET) && clock_mono_ns() < until_ns)
		assert_false(elf_cache_wait(cache, clock_mono_ns() + SHORT_NS));
	assert_true(elf_cache_ask(cache, id, OFFSET));
	assert_true(elf_cache_is_slow_only(cache));
}

/* The search for a debug file ends with the first one that takes too long. */
static void a_debug_file_that_holds_the_worker_up_is_the_last_one_tried(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	const struct fixture_file bad = { .function = "bad",
					  .build_id = FIXTURE_BUILD_ID,
					  .table = HANGS };
	const struct fixture_file later = { .function = "later", .build_id = FIXTURE_BUILD_ID };

	elf_cache_fixture_start(fixture);
	be_impatient(fixture);
	make_file(fixture, IN_ONE, FIXTURE_DEBUG_PATH, &bad);
	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &later);
	uint32_t id = add_file(
		fixture, IN_ONE, "bin/a",
		&(struct fixture_file){ .exported = "exported", .build_id = FIXTURE_BUILD_ID });
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	assert_true(worker_stats(fixture).nr_timeouts >= 1);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
}

static void lines_that_take_too_long_are_not_asked_for_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	be_impatient(fixture);
	uint32_t id = add_file(
		fixture, IN_ONE, "bin/a",
		&(struct fixture_file){ .function = "f", .has_debug_info = true, .lines = HANGS });
	assert_string_equal(outer_name(fixture, id, OFFSET), "f");
	assert_string_equal(outer_name(fixture, id, OFFSET + 1), "f");
	assert_int_equal(worker_stats(fixture).nr_timeouts, 1);
}

static void a_file_that_could_not_be_read_is_tried_again_a_few_times(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	unsigned int nr_tries = 1;
	uint32_t again = 0;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/bad",
			       &(struct fixture_file){ .function = "bad", .table = DIES });
	for (;;) {
		assert_int_equal(name_fully(fixture, id, OFFSET, &frames), -EPIPE);
		assert_false(elf_cache_wants_file(fixture->cache, id));
		pass_time(fixture);
		if (!elf_cache_wants_file(fixture->cache, id))
			break;
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/bad", &again), 0);
		assert_int_equal(again, id);
		nr_tries++;
	}
	assert_int_equal(nr_tries, 3);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 3);
}

static void a_worker_that_was_killed_costs_names_for_a_while(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	uint32_t again = 0;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &good);
	read_all(fixture);
	inside_fail_file(fixture->cache, id, -EPIPE);
	assert_int_equal(name_fully(fixture, id, OFFSET, &frames), -EPIPE);
	pass_time(fixture);
	assert_true(elf_cache_wants_file(fixture->cache, id));
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	assert_string_equal(outer_name(fixture, id, OFFSET), "good");
}

static void a_damaged_file_is_not_tried_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(
		fixture, IN_ONE, "bin/bad",
		&(struct fixture_file){ .function = "bad", .table = TALKS_NONSENSE });
	assert_int_equal(name_fully(fixture, id, OFFSET, &frames), -EBADMSG);
	pass_time(fixture);
	assert_false(elf_cache_wants_file(fixture->cache, id));
}

static void names_that_were_dropped_come_back(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	uint32_t again = 0;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &good);
	read_all(fixture);
	drop_all_names(fixture);
	assert_false(elf_cache_wants_file(fixture->cache, id));
	assert_int_equal(name_fully(fixture, id, OFFSET, &frames), -ENOENT);
	assert_int_equal(frames.address, OFFSET - MAKER_TEXT_OFFSET + MAKER_TEXT_ADDRESS);
	pass_time(fixture);
	assert_true(elf_cache_wants_file(fixture->cache, id));
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	assert_int_equal(again, id);
	assert_string_equal(outer_name(fixture, id, OFFSET), "good");
}

/* Its size and time are as before, so it seems to be the file it was. */
static void a_file_that_went_bad_since_is_not_read_every_second(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = good;
	char path[FIXTURE_PATH_BYTES];
	struct symbol_frames frames;
	uint32_t again = 0;
	struct stat st;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &file);
	read_all(fixture);
	drop_all_names(fixture);
	pass_time(fixture);

	path_in(fixture, IN_ONE, "bin/a", path);
	assert_int_equal(stat(path, &st), 0);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "no", 2, 0), 2);
	assert_int_equal(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	assert_int_equal(again, id);
	assert_int_equal(name_fully(fixture, id, OFFSET, &frames), -ENOENT);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 1);
	assert_false(elf_cache_wants_file(fixture->cache, id));
}

static void a_forgotten_file_is_wanted(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &good);
	assert_false(elf_cache_wants_file(fixture->cache, id));
	assert_true(elf_cache_wants_file(fixture->cache, id + FILE_INDEX_MAX));
}

static void without_a_worker_nobody_is_held_up_for_longer_than_he_wants(void **state)
{
	static const char *const programs[] = { "/nonexistent/flamelet", "/dev/null", "/" };
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	for (size_t i = 0; i < array_len(programs); i++) {
		fixture->opts.worker_program = programs[i];
		elf_cache_fixture_start(fixture);
		uint32_t id = add_file(fixture, IN_ONE, "bin/a", &good);
		uint64_t begin_ns = clock_mono_ns();
		(void)elf_cache_ask(fixture->cache, id, OFFSET);
		(void)elf_cache_wait(fixture->cache, begin_ns + SHORT_NS);
		assert_true(clock_mono_ns() - begin_ns < 20 * SHORT_NS);
		assert_true(elf_cache_symbolize(fixture->cache, id, OFFSET, &frames) < 0);
		assert_int_equal(frames.address, OFFSET);
		assert_int_equal(worker_stats(fixture).nr_started, 0);
	}
}

static void a_worker_that_ends_at_once_is_not_started_without_end(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	fixture->opts.worker_program = "/bin/true";
	elf_cache_fixture_start(fixture);
	for (unsigned int i = 0; i < 10; i++) {
		char path[32];
		struct fixture_file file = good;

		file.number = i;
		snprintf(path, sizeof(path), "bin/a%u", i);
		add_file(fixture, IN_ONE, path, &file);
	}
	(void)elf_cache_wait(fixture->cache, clock_mono_ns() + 500 * NSEC_PER_MSEC);
	(void)elf_cache_wait(fixture->cache, 0);
	assert_in_range(worker_stats(fixture).nr_started, 1, 4 * WORKER_NR_LANES);
}

/* A container may always have new files. */
static void lines_come_although_files_wait(void **state)
{
	enum { NR_FILES = 60 };
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = { .function = "f", .has_debug_info = true, .lines = INVENTS };
	char path[32];

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &file);
	read_all(fixture);
	assert_false(elf_cache_ask(fixture->cache, id, OFFSET));
	for (unsigned int i = 1; i <= NR_FILES; i++) {
		file.number = i;
		snprintf(path, sizeof(path), "bin/a%u", i);
		add_file(fixture, IN_ONE, path, &file);
	}
	while (stats_of(fixture).lines.nr_resolved == 0)
		(void)elf_cache_wait(fixture->cache, 0);
	assert_in_range(stats_of(fixture).files.nr_waiting, 1, NR_FILES);
	read_all(fixture);
}

static void tables_take_turns_with_their_lines(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = { .function = "f", .has_debug_info = true, .lines = INVENTS };
	uint64_t nr_before = 0;

	elf_cache_fixture_start(fixture);
	uint32_t modest = add_file(fixture, IN_ONE, "bin/modest", &file);
	file.number = 1;
	uint32_t greedy = add_file(fixture, IN_ONE, "bin/greedy", &file);
	read_all(fixture);
	const struct name_table *table = inside_table(fixture->cache, modest);
	assert_false(elf_cache_ask(fixture->cache, modest, OFFSET));
	for (uint64_t i = 0; i < MAKER_TEXT_BYTES; i++)
		(void)elf_cache_ask(fixture->cache, greedy, FUNCTION_OFFSET + i);
	while (table->nr_wanted > 0) {
		nr_before = stats_of(fixture).lines.nr_resolved;
		(void)elf_cache_wait(fixture->cache, 0);
		(void)elf_cache_ask(fixture->cache, greedy, FUNCTION_OFFSET);
	}
	assert_in_range(nr_before, 1, 2048);
	read_all(fixture);
}

static void make_programs_with_debug_files(const struct elf_cache_fixture *fixture)
{
	struct fixture_file debug = { .function = "by_debug_file",
				      .build_id = FIXTURE_BUILD_ID,
				      .has_debug_info = true,
				      .lines = INVENTS };
	struct fixture_file stripped = { .exported = "exported", .build_id = FIXTURE_BUILD_ID };
	struct fixture_file linked = { .exported = "exported", .link_name = "b.debug" };

	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &debug);
	debug.build_id = NULL;
	linked.link_crc = make_file(fixture, IN_ONE, "bin/.debug/b.debug", &debug);
	make_file(fixture, IN_ONE, "bin/a", &stripped);
	make_file(fixture, IN_ONE, "bin/b", &linked);
}

/* What cannot be said for want of memory is not said; nothing else happens. */
static void a_failed_allocation_costs_names_alone(void **state)
{
	static const char *const paths[] = { "bin/a", "bin/b" };
	struct elf_cache_fixture *fixture = *state;
	uint32_t ids[array_len(paths)] = { 0 };
	struct symbol_frames frames;
	bool has_failed = true;

	make_programs_with_debug_files(fixture);
	for (unsigned int n = 1; has_failed; n++) {
		elf_cache_fixture_start(fixture);
		size_t nr_before = count_descriptors();
		for (size_t i = 0; i < array_len(paths); i++)
			assert_int_equal(open_mapped(fixture, IN_ONE, paths[i], &ids[i]), 0);
		torture_begin(n);
		for (unsigned int round = 0; round < 3; round++) {
			for (size_t i = 0; i < array_len(paths); i++)
				(void)elf_cache_ask(fixture->cache, ids[i], OFFSET);
			(void)elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS);
		}
		has_failed = torture_end();
		for (size_t i = 0; i < array_len(paths); i++) {
			int r = name_fully(fixture, ids[i], OFFSET, &frames);
			assert_true(r == 0 || has_failed);
		}
		assert_true(elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS));
		assert_int_equal(stats_of(fixture).files.nr_waiting, 0);
		elf_cache_free(take_ptr(fixture->cache));
		assert_true(count_descriptors() <= nr_before);
	}
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, elf_cache_fixture_set_up, elf_cache_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_breaks_the_worker_costs_its_own_names),
		TEST(a_file_that_holds_the_worker_up_is_given_up),
		TEST(what_only_the_slow_worker_does_is_told),
		TEST(a_debug_file_that_holds_the_worker_up_is_the_last_one_tried),
		TEST(lines_that_take_too_long_are_not_asked_for_again),
		TEST(a_file_that_could_not_be_read_is_tried_again_a_few_times),
		TEST(a_worker_that_was_killed_costs_names_for_a_while),
		TEST(a_damaged_file_is_not_tried_again),
		TEST(names_that_were_dropped_come_back),
		TEST(a_file_that_went_bad_since_is_not_read_every_second),
		TEST(a_forgotten_file_is_wanted),
		TEST(without_a_worker_nobody_is_held_up_for_longer_than_he_wants),
		TEST(a_worker_that_ends_at_once_is_not_started_without_end),
		TEST(lines_come_although_files_wait),
		TEST(tables_take_turns_with_their_lines),
		TEST(a_failed_allocation_costs_names_alone),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
