/* SPDX-License-Identifier: Apache-2.0 */
/* Which debug file names a program, and whom else it names. */
#include "base/array.h"
#include "base/fileio.h"
#include "elf_cache_fixture.h"
#include "elf_cache_inside.h"
#include "torture.h"
#include "unit.h"
#include "xz_bytes.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OFFSET (FUNCTION_OFFSET + 0x10)
#define OTHER_ID "ff112233445566778899aabbccddeeff00112233"

static const struct fixture_file stripped = {
	.exported = "exported",
	.build_id = FIXTURE_BUILD_ID,
};

/* A debug file with one function. */
static struct fixture_file debug_file(const char *function, const char *build_id)
{
	return (struct fixture_file){ .function = function, .build_id = build_id };
}

static void make_debug_file(const struct elf_cache_fixture *fixture, enum fixture_root root,
			    const char *function)
{
	const struct fixture_file file = debug_file(function, FIXTURE_BUILD_ID);

	make_file(fixture, root, FIXTURE_DEBUG_PATH, &file);
}

static void without_a_debug_file_there_is_what_the_program_exports(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	assert_string_equal(elf_cache_build_ids(fixture->cache, id).gnu, FIXTURE_BUILD_ID);
	assert_int_equal(stats_of(fixture).nr_debug_files, 0);
}

static void a_debug_file_is_found_by_build_id(void **state)
{
	static const enum fixture_root roots[] = { ON_HOST, IN_ONE };
	struct elf_cache_fixture *fixture = *state;
	uint32_t id = 0;

	make_file(fixture, IN_ONE, "bin/a", &stripped);
	for (size_t i = 0; i < array_len(roots); i++) {
		elf_cache_fixture_start(fixture);
		make_debug_file(fixture, roots[i], i == 0 ? "by_host" : "by_container");
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
		assert_string_equal(outer_name(fixture, id, OFFSET),
				    i == 0 ? "by_host" : "by_container");
		assert_int_equal(stats_of(fixture).nr_debug_files, 1);
	}
}

static void without_a_host_nothing_is_looked_for(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	fixture->opts.debug_files.host_root_fd = -EBADF;
	elf_cache_fixture_start(fixture);
	make_debug_file(fixture, ON_HOST, "by_host");
	make_debug_file(fixture, IN_ONE, "by_container");
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
}

static void a_debug_file_of_another_build_is_refused(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	const struct fixture_file other = debug_file("by_other", OTHER_ID);
	const struct fixture_file nameless = debug_file("by_nameless", NULL);

	elf_cache_fixture_start(fixture);
	make_file(fixture, IN_ONE, FIXTURE_DEBUG_PATH, &other);
	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &nameless);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	assert_int_equal(stats_of(fixture).nr_debug_files, 0);
}

/* Of a container's debug file that is none the host's takes the place. */
static void a_bad_debug_file_gives_way_to_the_next(void **state)
{
	static const enum fixture_fate fates[] = { DIES, FAILS, TALKS_NONSENSE };
	struct elf_cache_fixture *fixture = *state;
	uint32_t id = 0;

	make_debug_file(fixture, ON_HOST, "by_host");
	make_file(fixture, IN_ONE, "bin/a", &stripped);
	for (size_t i = 0; i < array_len(fates); i++) {
		struct fixture_file bad = debug_file("by_container", FIXTURE_BUILD_ID);

		elf_cache_fixture_start(fixture);
		bad.table = fates[i];
		make_file(fixture, IN_ONE, FIXTURE_DEBUG_PATH, &bad);
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
		assert_string_equal(outer_name(fixture, id, OFFSET), "by_host");
		assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
	}
}

static void a_debug_file_that_a_link_names_needs_the_right_checksum(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	const struct fixture_file right = debug_file("by_link", NULL);
	const struct fixture_file wrong = debug_file("by_other", NULL);
	struct fixture_file program = { .exported = "exported", .link_name = "a.debug" };

	elf_cache_fixture_start(fixture);
	make_file(fixture, IN_ONE, "bin/a.debug", &wrong);
	program.link_crc = make_file(fixture, IN_ONE, "bin/.debug/a.debug", &right);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &program);
	assert_string_equal(outer_name(fixture, id, OFFSET), "by_link");

	program.link_crc ^= 1;
	id = add_file(fixture, IN_ONE, "bin/b", &program);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	assert_int_equal(stats_of(fixture).nr_debug_files, 1);
}

static void a_checksum_that_cannot_be_had_is_not_the_right_one(void **state)
{
	static const enum fixture_fate fates[] = { DIES, FAILS, TALKS_NONSENSE };
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file debug = debug_file("by_link", NULL);
	struct fixture_file program = { .exported = "exported", .link_name = "a.debug" };

	elf_cache_fixture_start(fixture);
	for (size_t i = 0; i < array_len(fates); i++) {
		debug.crc = fates[i];
		program.number = (unsigned int)i;
		program.link_crc = make_file(fixture, IN_ONE, "bin/a.debug", &debug);
		uint32_t id = add_file(fixture, IN_ONE, "bin/a", &program);
		assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	}
	assert_int_equal(stats_of(fixture).nr_debug_files, 0);
}

static void what_a_container_says_holds_for_that_container(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	make_debug_file(fixture, IN_ONE, "by_container");
	uint32_t one = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, one, OFFSET), "by_container");
	uint32_t other = add_file(fixture, IN_OTHER, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, other, OFFSET), "exported");
	assert_string_equal(outer_name(fixture, one, OFFSET), "by_container");
	assert_int_equal(stats_of(fixture).tables.nr_tables,
			 2 + (elf_cache_vdso(fixture->cache) != 0));
}

static void what_the_host_says_holds_for_all(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	make_debug_file(fixture, ON_HOST, "by_host");
	uint32_t one = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, one, OFFSET), "by_host");
	uint32_t other = add_file(fixture, IN_OTHER, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, other, OFFSET), "by_host");
	assert_int_equal(stats_of(fixture).nr_debug_files, 1);
	assert_int_equal(stats_of(fixture).tables.nr_tables,
			 1 + (elf_cache_vdso(fixture->cache) != 0));
}

/* Whoever opens a common table's files again has no say in what they are. */
static void a_container_cannot_exchange_what_others_have_in_common_with_it(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file debug = debug_file("by_host", FIXTURE_BUILD_ID);
	uint32_t other = 0;

	elf_cache_fixture_start(fixture);
	debug.has_debug_info = true;
	debug.lines = INVENTS;
	make_file(fixture, ON_HOST, FIXTURE_DEBUG_PATH, &debug);
	uint32_t one = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, one, OFFSET), "src::outer");
	inside_close_lines(fixture->cache, clock_mono_ns() - FILE_REGISTRY_REOPEN_NS);
	debug.function = "by_other";
	debug.lines = ANSWERS;
	make_file(fixture, IN_OTHER, FIXTURE_DEBUG_PATH, &debug);
	make_file(fixture, IN_OTHER, "bin/a", &stripped);
	assert_int_equal(open_mapped(fixture, IN_OTHER, "bin/a", &other), 0);
	assert_string_equal(outer_name(fixture, other, OFFSET + 1), "src::outer");
	assert_string_equal(outer_name(fixture, one, OFFSET + 2), "src::outer");
	assert_int_equal(stats_of(fixture).tables.nr_tables,
			 1 + (elf_cache_vdso(fixture->cache) != 0));
}

static void debug_information_of_a_container_holds_for_that_container(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file program = { .function = "by_symbol", .has_debug_info = true };

	elf_cache_fixture_start(fixture);
	program.lines = INVENTS;
	uint32_t one = add_file(fixture, IN_ONE, "bin/a", &program);
	assert_string_equal(outer_name(fixture, one, OFFSET), "src::outer");
	program.lines = FAILS;
	program.debug_number = 1;
	uint32_t other = add_file(fixture, IN_OTHER, "bin/a", &program);
	assert_string_equal(outer_name(fixture, other, OFFSET), "by_symbol");
	assert_string_equal(outer_name(fixture, one, OFFSET), "src::outer");
}

/* The strings of debug information may be in a file that several have in common. */
static void a_supplementary_file_of_a_container_holds_for_that_container(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	const struct fixture_file program = { .function = "by_symbol",
					      .has_debug_info = true,
					      .lines = INVENTS,
					      .alt_link = FIXTURE_BUILD_ID };

	elf_cache_fixture_start(fixture);
	make_debug_file(fixture, IN_ONE, "alternative");
	uint32_t one = add_file(fixture, IN_ONE, "bin/a", &program);
	uint32_t other = add_file(fixture, IN_OTHER, "bin/a", &program);
	assert_string_equal(outer_name(fixture, one, OFFSET), "src::outer");
	assert_string_equal(outer_name(fixture, other, OFFSET), "src::outer");
	assert_int_equal(stats_of(fixture).tables.nr_tables,
			 2 + (elf_cache_vdso(fixture->cache) != 0));
}

static void a_compressed_symbol_table_names_a_program(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	_cleanup_(strbuf_done) struct strbuf inner = strbuf_with_max(MAKER_MAX_BYTES);
	struct fixture_file program = { .exported = "exported_for_others" };
	char path[FIXTURE_PATH_BYTES];

	elf_cache_fixture_start(fixture);
	make_file(fixture, IN_ONE, "inner",
		  &(struct fixture_file){ .function = "_ZN4mini5debugEv" });
	path_in(fixture, IN_ONE, "inner", path);
	assert_int_equal(file_read_at(AT_FDCWD, path, &inner), 0);
	_cleanup_(strbuf_done) struct strbuf extra = xz_compress(inner.data, inner.len);
	program.extra = extra.data;
	program.extra_len = extra.len;
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &program);
	assert_string_equal(outer_name(fixture, id, OFFSET), "mini::debug");

	program.extra_len /= 2;
	id = add_file(fixture, IN_ONE, "bin/b", &program);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported_for_others");
}

/* Nobody could open it again. */
static void the_vdso_has_names_even_when_memory_is_short(void **state)
{
	enum { MAX_VDSO_BYTES = 16384 };
	struct elf_cache_fixture *fixture = *state;
	bool is_named = false;

	elf_cache_fixture_start(fixture);
	uint32_t vdso = elf_cache_vdso(fixture->cache);
	if (vdso == 0)
		skip(); /* none in this process */
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	read_all(fixture);
	inside_set_budget(inside_store(fixture->cache), 1);
	read_all(fixture);
	assert_int_equal(stats_of(fixture).tables.nr_evicted, 1);
	assert_string_equal(outer_name(fixture, id, OFFSET), "");
	for (uint64_t offset = 0; offset < MAX_VDSO_BYTES; offset += 16)
		is_named |= strstr(outer_name(fixture, vdso, offset), "vdso") != NULL;
	assert_true(is_named);
}

/* Files of half a window's programs must not be dropped before anybody asked for their names. */
static void new_names_do_not_make_room_for_newer_ones(void **state)
{
	enum { NR_OLD = 40, NR_NEW = 20 };
	struct elf_cache_fixture *fixture = *state;
	char name[3000];
	struct fixture_file file = { .function = name };
	uint32_t ids[NR_OLD + NR_NEW];
	char path[32];

	memset(name, 'f', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	elf_cache_fixture_start(fixture);
	for (unsigned int i = 0; i < NR_OLD + NR_NEW; i++) {
		if (i == NR_OLD)
			inside_set_budget(inside_store(fixture->cache),
					  stats_of(fixture).tables.nr_bytes);
		file.number = i;
		snprintf(path, sizeof(path), "bin/a%u", i);
		ids[i] = add_file(fixture, IN_ONE, path, &file);
		if (i < NR_OLD)
			assert_string_equal(outer_name(fixture, ids[i], OFFSET), name);
		else
			assert_false(elf_cache_ask(fixture->cache, ids[i], OFFSET));
	}
	read_all(fixture);
	for (unsigned int i = NR_OLD; i < NR_OLD + NR_NEW; i++)
		assert_string_equal(outer_name(fixture, ids[i], OFFSET), name);
	assert_true(stats_of(fixture).tables.nr_evicted > 0);
}

/* Two tables of half the budget each would be all of it. */
static void a_debug_file_has_what_the_program_leaves_of_the_budget(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	char name[3000];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	fixture->opts.max_bytes = 10000;
	elf_cache_fixture_start(fixture);
	make_debug_file(fixture, ON_HOST, name);
	uint32_t id = add_file(
		fixture, IN_ONE, "bin/a",
		&(struct fixture_file){ .exported = name, .build_id = FIXTURE_BUILD_ID });
	assert_string_equal(outer_name(fixture, id, OFFSET), name);
	assert_int_equal(stats_of(fixture).nr_debug_files, 0);
	assert_true(stats_of(fixture).tables.nr_bytes <= 10000);
}

static void keys_of_tables_may_start_over(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file file = { .has_debug_info = true, .lines = INVENTS };
	uint32_t ids[8];
	char name[32];
	char path[32];

	elf_cache_fixture_start(fixture);
	read_all(fixture);
	/* The kernel's file has key 2. */
	inside_set_last_key(inside_store(fixture->cache), NAME_STORE_MAX_KEY - 4);
	for (unsigned int i = 0; i < array_len(ids); i++) {
		snprintf(name, sizeof(name), "f%u", i);
		snprintf(path, sizeof(path), "bin/a%u", i);
		file.function = name;
		file.number = i;
		ids[i] = add_file(fixture, IN_ONE, path, &file);
		assert_string_equal(outer_name(fixture, ids[i], OFFSET), "src::outer");
	}
	assert_int_equal(inside_nr_wraps(inside_store(fixture->cache)), 1);
	for (struct name_table *a = inside_tables(fixture->cache); a; a = a->next)
		for (struct name_table *b = a->next; b; b = b->next)
			assert_true(a->key != b->key);
	for (unsigned int i = 0; i < array_len(ids); i++)
		assert_string_equal(outer_name(fixture, ids[i], OFFSET + 1), "src::outer");
}

static void nothing_stays_open(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct fixture_file debug = debug_file("by_link", NULL);
	struct fixture_file program = { .exported = "exported", .link_name = "a.debug" };
	size_t nr_before = count_descriptors();

	program.link_crc = make_file(fixture, IN_ONE, "bin/.debug/a.debug", &debug);
	make_file(fixture, IN_ONE, "bin/a.debug", &stripped);
	make_debug_file(fixture, IN_ONE, "by_container");
	make_file(fixture, IN_ONE, "bin/other", &stripped);
	make_file(fixture, IN_ONE, "bin/a", &program);
	for (unsigned int i = 0; i < 40; i++) {
		uint32_t id;

		elf_cache_fixture_start(fixture);
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &id), 0);
		assert_int_equal(open_mapped(fixture, IN_ONE, "bin/other", &id), 0);
		/* Ends at whatever it is doing then. */
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + i * 100 * NSEC_PER_USEC);
		elf_cache_free(take_ptr(fixture->cache));
		assert_int_equal(count_descriptors(), nr_before);
	}
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, elf_cache_fixture_set_up, elf_cache_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_debug_file_there_is_what_the_program_exports),
		TEST(a_debug_file_is_found_by_build_id),
		TEST(without_a_host_nothing_is_looked_for),
		TEST(a_debug_file_of_another_build_is_refused),
		TEST(a_bad_debug_file_gives_way_to_the_next),
		TEST(a_debug_file_that_a_link_names_needs_the_right_checksum),
		TEST(a_checksum_that_cannot_be_had_is_not_the_right_one),
		TEST(what_a_container_says_holds_for_that_container),
		TEST(what_the_host_says_holds_for_all),
		TEST(a_container_cannot_exchange_what_others_have_in_common_with_it),
		TEST(debug_information_of_a_container_holds_for_that_container),
		TEST(a_supplementary_file_of_a_container_holds_for_that_container),
		TEST(a_compressed_symbol_table_names_a_program),
		TEST(the_vdso_has_names_even_when_memory_is_short),
		TEST(new_names_do_not_make_room_for_newer_ones),
		TEST(a_debug_file_has_what_the_program_leaves_of_the_budget),
		TEST(keys_of_tables_may_start_over),
		TEST(nothing_stays_open),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
