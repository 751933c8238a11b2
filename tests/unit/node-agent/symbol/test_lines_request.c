/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines are asked for in batches, at times when files are to be read as well, and what they
 * come from may be closed or turn out bad in between. */
#include "elf_cache_inside.h"
#include "lines_fixture.h"
#include "program_offset.h"
#include "torture.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OFFSET LINES_FIXTURE_OFFSET

static void expect_lines(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset)
{
	struct symbol_frames frames;

	assert_int_equal(name_fully(fixture, id, offset, &frames), 0);
	assert_int_equal(frames.nr_lines, 2);
	assert_string_equal(frames.lines[0].name, "src::inner");
	assert_string_equal(frames.lines[0].system_name, FIXTURE_INNER);
	assert_string_equal(frames.lines[0].filename, "/src/inner.h");
	assert_int_equal(frames.lines[0].line, offset - MAKER_TEXT_OFFSET + MAKER_TEXT_ADDRESS);
	assert_int_equal(frames.lines[0].start_line, 7);
	assert_string_equal(frames.lines[1].name, "src::outer");
	assert_int_equal(frames.lines[1].line, 20);
	assert_int_equal(frames.address, offset - MAKER_TEXT_OFFSET + MAKER_TEXT_ADDRESS);
}

/* One line, of the symbol table. */
static void expect_symbol(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset)
{
	struct symbol_frames frames;

	assert_int_equal(elf_cache_symbolize(fixture->cache, id, offset, &frames), 0);
	assert_int_equal(frames.nr_lines, 1);
	assert_string_equal(frames.lines[0].name, "by_symbol");
	assert_string_equal(frames.lines[0].filename, "");
	assert_int_equal(frames.lines[0].line, 0);
}

static void inlined_functions_and_lines_are_known(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	expect_lines(fixture, id, OFFSET);
	expect_lines(fixture, id, OFFSET + 1);
	expect_lines(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 2);
}

__attribute__((always_inline)) static inline unsigned int inlined_code(unsigned int value)
{
	return value * value + 1;
}

unsigned int code_with_inlined_code(volatile unsigned int *value);

__attribute__((noinline)) unsigned int code_with_inlined_code(volatile unsigned int *value)
{
	*value = inlined_code(*value);
	return *value;
}

/* This program itself, as its compiler describes it. */
static void inlined_functions_of_a_real_program_are_known(void **state)
{
	enum { MAX_CODE_BYTES = 256 };
	struct elf_cache_fixture *fixture = *state;
	uint64_t offset = program_offset((uintptr_t)code_with_inlined_code);
	char path[FIXTURE_PATH_BYTES];
	struct symbol_frames frames = { 0 };
	uint32_t id = 0;

	elf_cache_fixture_start(fixture);
	path_in(fixture, IN_ONE, "program", path);
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	assert_int_equal(open_mapped(fixture, IN_ONE, "program", &id), 0);
	for (size_t i = 0; i < MAX_CODE_BYTES && frames.nr_lines < 2; i++)
		(void)name_fully(fixture, id, offset + i, &frames);
	assert_int_equal(frames.nr_lines, 2);
	assert_string_equal(frames.lines[0].name, "inlined_code");
	assert_string_equal(frames.lines[1].name, "code_with_inlined_code");
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(strstr(frames.lines[i].filename, "test_lines_request.c"));
		assert_true(frames.lines[i].start_line > 0);
		assert_in_range(frames.lines[i].line, frames.lines[i].start_line,
				frames.lines[i].start_line + 5);
	}
	assert_true(frames.lines[0].start_line < frames.lines[1].start_line);
}

static void without_the_wish_there_are_no_lines(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	fixture->opts.wants_lines = false;
	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_string_equal(outer_name(fixture, id, OFFSET), "by_symbol");
	expect_symbol(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 0);
}

static void a_file_without_debug_information_is_not_asked_for_lines(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a",
			       &(struct fixture_file){ .function = "by_symbol", .lines = DIES });
	assert_string_equal(outer_name(fixture, id, OFFSET), "by_symbol");
	expect_symbol(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 0);
}

/* What was named before anybody asked for its lines gets them when somebody does. */
static void lines_come_for_what_was_named_before_it_was_asked_for(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	expect_symbol(fixture, id, OFFSET);
	expect_lines(fixture, id, OFFSET);
}

static void until_its_lines_come_there_is_the_symbol(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	assert_false(elf_cache_ask(fixture->cache, id, OFFSET));
	expect_symbol(fixture, id, OFFSET);
	assert_false(elf_cache_ask(fixture->cache, id, OFFSET));
	expect_lines(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 1);
}

/* More than a table notes at once: the rest is asked for when there is room again. */
static void more_addresses_than_a_table_notes_get_their_lines_later(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct name_table *table;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	for (table = inside_tables(fixture->cache); table && table->lines_fd < 0;
	     table = table->next)
		;
	assert_non_null(table);
	for (size_t i = 0; i < NAME_TABLE_MAX_WANTED; i++)
		assert_int_equal(name_table_want_lines(table, FUNCTION_OFFSET), 0);
	assert_int_equal(name_table_want_lines(table, FUNCTION_OFFSET), -ENOSPC);
	assert_true(elf_cache_ask(fixture->cache, id, OFFSET));
	expect_symbol(fixture, id, OFFSET);
	read_all(fixture);
	expect_lines(fixture, id, OFFSET);
}

static void an_address_outside_of_the_code_has_no_lines(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	assert_int_equal(name_fully(fixture, id, 0x10, &frames), -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(frames.address, 0x10);
	assert_int_equal(stats_of(fixture).lines.nr_resolved, 0);
}

/* Debug information may know functions that the symbol tables do not. */
static void code_without_a_symbol_can_have_lines(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	expect_lines(fixture, id, FUNCTION_OFFSET + FUNCTION_BYTES + 0x10);
}

static void lines_that_cannot_be_had_cost_no_names(void **state)
{
	static const enum fixture_fate fates[] = { DIES, FAILS, TALKS_NONSENSE };
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		struct fixture_file bad = lines_fixture_file;
		char path[32];

		bad.lines = fates[i];
		bad.number = (unsigned int)i + 1;
		snprintf(path, sizeof(path), "bin/bad%zu", i);
		uint32_t id = add_file(fixture, IN_ONE, path, &bad);
		assert_string_equal(outer_name(fixture, id, OFFSET), "by_symbol");
		assert_true(elf_cache_ask(fixture->cache, id, OFFSET + 1));
		expect_symbol(fixture, id, OFFSET + 1);
	}
	uint32_t id = add_file(fixture, IN_ONE, "bin/good", &lines_fixture_file);
	expect_lines(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).worker.nr_deaths, 1);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
}

/* Those used least recently lose what their lines come from, when too many have it. */
static void source_files_that_were_closed_cost_lines_alone(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	uint32_t first = 0;

	elf_cache_fixture_start(fixture);
	for (unsigned int i = 0; i <= NAME_STORE_MAX_DEBUG_FILES; i++) {
		struct fixture_file file = lines_fixture_file;
		char path[32];

		file.number = i;
		snprintf(path, sizeof(path), "bin/a%u", i);
		uint32_t id = add_file(fixture, IN_ONE, path, &file);
		expect_lines(fixture, id, OFFSET);
		first = first ?: id;
	}
	expect_lines(fixture, first, OFFSET);
	assert_int_equal(name_fully(fixture, first, OFFSET + 1, &frames), 0);
	assert_int_equal(frames.nr_lines, 1);
	assert_string_equal(frames.lines[0].name, "by_symbol");
	assert_false(elf_cache_wants_file(fixture->cache, first));
}

/* The time of the closing is moved back, as nobody wants to wait a minute. */
static void closed_source_files_are_opened_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	uint32_t again = 0;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	expect_lines(fixture, id, OFFSET);
	inside_close_lines(fixture->cache, clock_mono_ns() - FILE_REGISTRY_REOPEN_NS);
	assert_true(elf_cache_ask(fixture->cache, id, OFFSET + 1));
	expect_symbol(fixture, id, OFFSET + 1);
	assert_true(elf_cache_wants_file(fixture->cache, id));
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	assert_int_equal(again, id);
	assert_false(elf_cache_wants_file(fixture->cache, id));
	expect_lines(fixture, id, OFFSET + 1);
	expect_lines(fixture, id, OFFSET);
	assert_int_equal(stats_of(fixture).tables.nr_tables,
			 1 + (elf_cache_vdso(fixture->cache) != 0));
}

/* As if nobody had asked for lines for long. */
static void let_time_pass(const struct elf_cache_fixture *fixture)
{
	size_t nr_open = 0;

	for (struct name_table *table = inside_tables(fixture->cache); table; table = table->next) {
		if (table->lines_fd < 0)
			continue;
		table->asked_ns -= NAME_STORE_IDLE_NS;
		nr_open++;
	}
	assert_int_equal(nr_open, 1);
}

/* A file that is open keeps the file system of a container that is gone. */
static void source_files_that_nobody_needs_are_closed(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	uint32_t again = 0;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
	read_all(fixture);
	size_t nr_open = count_descriptors();
	let_time_pass(fixture);
	expect_lines(fixture, id, OFFSET);
	assert_false(elf_cache_wants_file(fixture->cache, id));

	let_time_pass(fixture);
	read_all(fixture);
	assert_true(count_descriptors() < nr_open);
	assert_true(elf_cache_ask(fixture->cache, id, OFFSET + 1));
	assert_true(elf_cache_wants_file(fixture->cache, id));
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	expect_lines(fixture, again, OFFSET + 1);
}

enum { NR_COMMON = 12 };

/* What the reader's thread does. */
static void *open_again_and_again(void *opaque)
{
	struct elf_cache_fixture *fixture = opaque;
	struct elf_cache *cache = fixture->cache;
	char path[32];
	uint32_t id = 0;

	for (unsigned int i = 0; i < 40 * NR_COMMON; i++) {
		snprintf(path, sizeof(path), "bin/a%u", i % NR_COMMON);
		if (elf_cache_wants_file(cache, i % NR_COMMON + 1) || i < NR_COMMON)
			(void)open_mapped(fixture, i % 2 ? IN_ONE : IN_OTHER, path, &id);
		(void)elf_cache_build_ids(cache, id).gnu;
		(void)elf_cache_size(cache, id);
		(void)elf_cache_get_stats(cache);
		usleep(500);
	}
	return NULL;
}

static void files_are_opened_while_lines_are_read(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;
	pthread_t thread;
	char path[32];

	for (unsigned int i = 0; i < NR_COMMON; i++) {
		struct fixture_file file = lines_fixture_file;

		file.number = i / 2;
		snprintf(path, sizeof(path), "bin/a%u", i);
		make_file(fixture, i % 2 ? IN_ONE : IN_OTHER, path, &file);
	}
	elf_cache_fixture_start(fixture);
	assert_int_equal(pthread_create(&thread, NULL, open_again_and_again, fixture), 0);
	for (uint64_t i = 0; i < 2000; i++) {
		for (uint32_t id = 1; id <= NR_COMMON + 1; id++) {
			(void)elf_cache_ask(fixture->cache, id, OFFSET + i % 1024);
			if (elf_cache_symbolize(fixture->cache, id, OFFSET + i % 1024, &frames) ==
			    0)
				assert_in_range(frames.nr_lines, 1, 2);
		}
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + NSEC_PER_MSEC / 10);
		for (struct name_table *table = inside_tables(fixture->cache); table;
		     table = table->next)
			if (i % 20 == 0)
				table->asked_ns = 0; /* its files are closed */
	}
	pthread_join(thread, NULL);
	read_all(fixture);
}

static void many_files_with_lines_keep_to_the_budget(void **state)
{
	enum { NR_FILES = 40, NR_OFFSETS = 200, BUDGET = 1 << 18 };
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	fixture->opts.max_bytes = BUDGET;
	elf_cache_fixture_start(fixture);
	for (unsigned int i = 0; i < NR_FILES; i++) {
		uint32_t id = lines_fixture_add(fixture, i, NR_OFFSETS);

		for (uint64_t k = 0; k < NR_OFFSETS; k++)
			assert_int_equal(
				elf_cache_symbolize(fixture->cache, id, OFFSET + k, &frames), 0);
		read_all(fixture);
		assert_true(stats_of(fixture).tables.nr_bytes <= BUDGET);
		assert_true(elf_cache_wait(fixture->cache, 0));
	}
}

static void an_address_whose_lines_found_no_memory_is_done_with(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	bool has_failed = true;

	for (unsigned int n = 1; has_failed; n++) {
		elf_cache_fixture_start(fixture);
		uint32_t id = add_file(fixture, IN_ONE, "bin/a", &lines_fixture_file);
		read_all(fixture);
		torture_begin(n);
		(void)elf_cache_ask(fixture->cache, id, OFFSET);
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS);
		has_failed = torture_end();
		const char *name = outer_name(fixture, id, OFFSET);
		assert_true(strcmp(name, "by_symbol") == 0 || strcmp(name, "src::outer") == 0);
	}
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, elf_cache_fixture_set_up, elf_cache_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(inlined_functions_and_lines_are_known),
		TEST(inlined_functions_of_a_real_program_are_known),
		TEST(without_the_wish_there_are_no_lines),
		TEST(a_file_without_debug_information_is_not_asked_for_lines),
		TEST(lines_come_for_what_was_named_before_it_was_asked_for),
		TEST(until_its_lines_come_there_is_the_symbol),
		TEST(more_addresses_than_a_table_notes_get_their_lines_later),
		TEST(an_address_outside_of_the_code_has_no_lines),
		TEST(code_without_a_symbol_can_have_lines),
		TEST(lines_that_cannot_be_had_cost_no_names),
		TEST(source_files_that_were_closed_cost_lines_alone),
		TEST(closed_source_files_are_opened_again),
		TEST(source_files_that_nobody_needs_are_closed),
		TEST(files_are_opened_while_lines_are_read),
		TEST(many_files_with_lines_keep_to_the_budget),
		TEST(an_address_whose_lines_found_no_memory_is_done_with),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
