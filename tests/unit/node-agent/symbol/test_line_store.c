/* SPDX-License-Identifier: Apache-2.0 */
/* No unit is read twice: not while its file is known, not when it was closed, and not after a
 * restart. */
#include "elf_cache_inside.h"
#include "lines_fixture.h"
#include "symbol/dwarf/lines_unit.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OFFSET LINES_FIXTURE_OFFSET

static char cache_dir[FIXTURE_PATH_BYTES];
static char lines_dir[FIXTURE_PATH_BYTES];

/* A cache whose lines are kept on disk. */
static void start(struct elf_cache_fixture *fixture)
{
	path_in(fixture, ON_HOST, "cache", cache_dir);
	path_in(fixture, ON_HOST, "cache/lines", lines_dir);
	fixture->opts.cache_dir = cache_dir;
	elf_cache_fixture_start(fixture);
}

static size_t nr_lines_at(struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset)
{
	struct symbol_frames frames;

	assert_int_equal(name_fully(fixture, id, offset, &frames), 0);
	return frames.nr_lines;
}

static struct name_table *table_with_lines(const struct elf_cache_fixture *fixture)
{
	for (struct name_table *table = inside_tables(fixture->cache); table; table = table->next)
		if (table->lines.nr_bytes > 0)
			return table;
	return NULL;
}

/* The only table on disk; false when there is none. */
static bool find_file(char ret_path[static PATH_MAX])
{
	_cleanup_closedir_ DIR *dir = opendir(lines_dir);
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".lines1")) {
			snprintf(ret_path, PATH_MAX, "%s/%s", lines_dir, entry->d_name);
			return true;
		}
	return false;
}

static void a_unit_is_read_once(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
		inside_forget_places(inside_store(fixture->cache));
	}
	assert_int_equal(nr_lines_at(fixture, id, OFFSET + 1), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 2);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 2);
	read_all(fixture);
	assert_int_equal(stats_of(fixture).tables.nr_line_tables, 1);
	assert_true(stats_of(fixture).tables.nr_line_bytes > 0);
}

static void after_a_restart_no_unit_is_read_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	for (int i = 0; i < 2; i++) {
		start(fixture);
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
		assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
		assert_int_equal(stats_of(fixture).lines.nr_units, 0);
		assert_int_equal(stats_of(fixture).lines.nr_resolved, 0);
		assert_int_equal(stats_of(fixture).lines.disk.nr_hits, 1);
	}
	assert_int_equal(nr_lines_at(fixture, id, OFFSET + 1), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 1);
	start(fixture);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET + 1), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 0);
}

/* Who gives a file another's build id does not get its lines. */
static void a_file_with_the_same_build_id_is_another_one(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = lines_fixture_file;

	file.build_id = FIXTURE_BUILD_ID;
	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	start(fixture);
	file.debug_number = 1;
	id = add_file(fixture, IN_ONE, "bin/b", &file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 1);
	assert_int_equal(stats_of(fixture).lines.disk.nr_hits, 0);
}

static void a_damaged_file_is_removed_and_made_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	char path[PATH_MAX];
	struct stat st;

	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	start(fixture);
	assert_true(find_file(path));
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "x", 1, st.st_size - 20), 1);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(stats_of(fixture).lines.disk.nr_bad_files, 1);
	assert_int_equal(stats_of(fixture).lines.nr_units, 1);
	assert_false(find_file(path));
}

/* A while after it was made, and not each time that something is added. */
static void what_was_made_is_written_after_a_while(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	char path[PATH_MAX];

	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	read_all(fixture);
	assert_false(find_file(path));
	table_with_lines(fixture)->unsaved_since_ns -= 5 * NSEC_PER_SEC;
	read_all(fixture);
	assert_true(find_file(path));
	assert_int_equal(table_with_lines(fixture)->unsaved_since_ns, 0);
}

static void a_separate_debug_file_is_known_by_its_content(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	const struct fixture_file program = { .function = "by_symbol",
					      .build_id = FIXTURE_BUILD_ID };
	struct fixture_file debug = lines_fixture_file;
	uint32_t id = 0;

	debug.build_id = FIXTURE_BUILD_ID;
	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &debug);
	start(fixture);
	id = add_file(fixture, IN_ONE, "bin/a", &program);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	start(fixture);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 0);

	debug.debug_number = 1;
	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &debug);
	start(fixture);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 1);
}

/* Lines stay known while their file is closed and opened again. */
static void a_file_that_is_opened_again_is_not_read_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	inside_close_lines(fixture->cache, clock_mono_ns() - FILE_REGISTRY_REOPEN_NS);
	inside_forget_places(inside_store(fixture->cache));
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);

	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET + 1), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, 2);
}

static void lines_are_the_first_to_go(void **state)
{
	enum { NR_FILES = 30, NR_OFFSETS = 80, BUDGET = 1 << 20 };
	struct elf_cache_fixture *fixture = *state;

	fixture->opts.max_bytes = BUDGET;
	start(fixture);
	for (unsigned int i = 0; i < NR_FILES; i++) {
		uint32_t id = lines_fixture_add(fixture, i, NR_OFFSETS);

		assert_int_equal(nr_lines_at(fixture, id, OFFSET + NR_OFFSETS - 1), 2);
		assert_true(stats_of(fixture).tables.nr_line_bytes <= BUDGET / 4);
	}
	assert_true(stats_of(fixture).tables.nr_line_tables_dropped > 0);
	assert_int_equal(stats_of(fixture).tables.nr_evicted, 0);
	assert_int_equal(stats_of(fixture).lines.nr_units, NR_FILES * NR_OFFSETS);

	/* What was dropped is on disk. */
	inside_forget_places(inside_store(fixture->cache));
	assert_int_equal(nr_lines_at(fixture, 2, OFFSET), 2);
	assert_int_equal(stats_of(fixture).lines.nr_units, NR_FILES * NR_OFFSETS);
}

/* Of a file that has too many, the rest has names. */
static void the_lines_of_one_file_are_bounded(void **state)
{
	enum { NR_OFFSETS = 250, BUDGET = 1 << 18 };
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	size_t nr_with_lines = 0;

	fixture->opts.max_bytes = BUDGET;
	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	for (uint64_t k = 0; k < NR_OFFSETS; k++) {
		assert_int_equal(name_fully(fixture, id, OFFSET + k, &frames), 0);
		nr_with_lines += frames.nr_lines == 2;
	}
	assert_true(table_with_lines(fixture)->lines.nr_bytes <= BUDGET / 8);
	assert_in_range(nr_with_lines, 10, NR_OFFSETS - 10);
	assert_true(stats_of(fixture).lines.nr_missed > 0);
}

/* Names come first; lines when there is CPU time for them again. */
static void without_cpu_time_there_are_names(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	fixture->opts.lines_permille = 20;
	elf_cache_fixture_start(fixture);
	struct cpu_budget *budgets = inside_lines_budgets(
		inside_jobs(inside_client(fixture->cache)));
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		cpu_budget_charge(&budgets[lane], 1000 * NSEC_PER_SEC);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	assert_false(elf_cache_ask(fixture->cache, id, OFFSET));
	assert_true(elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS));
	assert_int_equal(elf_cache_symbolize(fixture->cache, id, OFFSET, &frames), 0);
	assert_string_equal(frames.lines[0].name, "by_symbol");
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 0);

	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		budgets[lane].left_ns = 1;
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
}

static void nonsense_ends_the_worker(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = lines_fixture_file;
	struct symbol_frames frames;

	file.lines = TALKS_NONSENSE;
	start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &file);
	assert_int_equal(name_fully(fixture, id, OFFSET, &frames), 0);
	assert_string_equal(frames.lines[0].name, "by_symbol");
	assert_int_equal(stats_of(fixture).lines.nr_missed, 1);
	assert_int_equal(stats_of(fixture).lines.nr_units, 0);
	assert_null(table_with_lines(fixture));
}

static void a_directory_that_cannot_be_used_costs_time_only(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	fixture->opts.cache_dir = "/proc/self/status";
	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(nr_lines_at(fixture, id, OFFSET), 2);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, elf_cache_fixture_set_up, elf_cache_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_unit_is_read_once),
		TEST(after_a_restart_no_unit_is_read_again),
		TEST(a_file_with_the_same_build_id_is_another_one),
		TEST(a_damaged_file_is_removed_and_made_again),
		TEST(what_was_made_is_written_after_a_while),
		TEST(a_separate_debug_file_is_known_by_its_content),
		TEST(a_file_that_is_opened_again_is_not_read_again),
		TEST(lines_are_the_first_to_go),
		TEST(the_lines_of_one_file_are_bounded),
		TEST(without_cpu_time_there_are_names),
		TEST(nonsense_ends_the_worker),
		TEST(a_directory_that_cannot_be_used_costs_time_only),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
