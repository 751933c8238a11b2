/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping tables in real maps, read back as the kernel side would. */
#include "unwind/tables/mapping_tables.h"

#include "arena_fixture.h"
#include "process/mapped_file.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define PID 4711

struct fixture {
	struct arena_fixture maps;
	struct unwind_arena *arena;
	struct mapping_tables *tables;
	struct mapped_files files;
	struct mapped_file *program;
	struct mapped_file *library;
	struct mapping_list *list;
};

/* As the kernel side does when it samples a process. */
static void ask(const struct fixture *fixture, uint32_t pid)
{
	arena_fixture_set_binding(&fixture->maps, pid, 0);
}

static struct mapped_file *take_file(struct fixture *fixture, const char *path, uint32_t slot)
{
	const struct mapped_file_key key = { .inode = slot,
					     .path = path,
					     .path_len = strlen(path) };
	struct mapped_file *file;

	assert_int_equal(mapped_files_take(&fixture->files, &key, &file), 0);
	file->slot = slot;
	return file;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(arena_fixture_open(&fixture->maps), 0);
	assert_int_equal(
		unwind_arena_new(fixture->maps.memory, 2 * ARENA_CHUNK_BYTES, &fixture->arena), 0);
	assert_int_equal(mapping_tables_new(fixture->maps.memory, fixture->arena, &fixture->tables),
			 0);
	ask(fixture, PID);
	fixture->program = take_file(fixture, "/bin/program", 7);
	fixture->library = take_file(fixture, "/lib/library.so", 8);
	assert_int_equal(mapping_list_new(&fixture->files, &fixture->list), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	mapping_list_unref(fixture->list);
	mapped_file_unref(&fixture->files, fixture->program);
	mapped_file_unref(&fixture->files, fixture->library);
	mapped_files_done(&fixture->files);
	mapping_tables_free(fixture->tables);
	unwind_arena_close(fixture->arena);
	arena_fixture_close(&fixture->maps);
	test_free(fixture);
	return 0;
}

static void map(struct fixture *fixture, uint64_t start, uint64_t end, uint64_t file_offset,
		struct mapped_file *file)
{
	const struct mapping mapping = { start, end, file_offset, file };

	assert_int_equal(mapping_list_insert(fixture->list, &mapping), 0);
}

static uint64_t binding_of(const struct fixture *fixture, uint32_t pid)
{
	return arena_fixture_binding(&fixture->maps, pid);
}

/* What is at an offset of the bound list, by the maps alone. */
static void read_list(const struct fixture *fixture, uint64_t binding, size_t offset, void *buf,
		      size_t len)
{
	uint8_t bytes[1024];

	assert_in_range(offset + len, 1, sizeof(bytes));
	arena_fixture_read(&fixture->maps, MAPPING_BINDING_UNIT(binding), bytes, offset + len);
	memcpy(buf, bytes + offset, len);
}

static struct mapping_table head_of(const struct fixture *fixture, uint64_t binding)
{
	struct mapping_table head;

	read_list(fixture, binding, 0, &head, sizeof(head));
	return head;
}

static void expect_range(const struct fixture *fixture, uint64_t binding, uint32_t i,
			 uint64_t start, struct mapping_range expected)
{
	struct mapping_table head = head_of(fixture, binding);
	struct mapping_range range;
	uint64_t found;

	read_list(fixture, binding, MAPPING_TABLE_STARTS + i * sizeof(found), &found,
		  sizeof(found));
	read_list(fixture, binding, head.ranges_offset + i * sizeof(range), &range, sizeof(range));
	assert_int_equal(found, start);
	assert_memory_equal(&range, &expected, sizeof(range));
}

static void the_descriptors_of_runtimes_follow_the_ranges(void **state)
{
	const struct runtime_descriptor descriptors[] = {
		{ .process = { .kind = RUNTIME_CPYTHON, .words = { 1 } } },
		{ .process = { .kind = RUNTIME_V8, .words = { 2 } } },
		{ .process = { .kind = RUNTIME_HOTSPOT } },
	};
	struct runtime_descriptor found[2];
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0x1000, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	uint64_t before = binding_of(fixture, PID);
	assert_int_equal(head_of(fixture, before).nr_runtimes, 0);

	assert_int_equal(mapping_list_set_runtimes(fixture->list, descriptors, 3), -ENOSPC);
	assert_int_equal(mapping_list_set_runtimes(fixture->list, descriptors, 2), 0);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	uint64_t binding = binding_of(fixture, PID);
	assert_int_not_equal(binding, before);
	struct mapping_table head = head_of(fixture, binding);
	assert_int_equal(head.nr_runtimes, 2);
	assert_int_equal(head.runtimes_offset % ARENA_UNIT, 0);
	read_list(fixture, binding, head.runtimes_offset, found, sizeof(found));
	assert_memory_equal(found, descriptors, sizeof(found));
}

static void a_bound_process_has_its_mappings_and_the_holes_between_them(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0x1000, fixture->program);
	map(fixture, 0x7f0000000000, 0x7f0000010000, 0x5000, fixture->library);
	map(fixture, 0x7f0000010000, 0x7f0000020000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);

	uint64_t binding = binding_of(fixture, PID);
	assert_int_equal(head_of(fixture, binding).id, MAPPING_BINDING_ID(binding));
	assert_int_equal(head_of(fixture, binding).nr_ranges, 5);
	expect_range(fixture, binding, 0, 0x401000,
		     (struct mapping_range){ .bias = 0x400000, .slot = 7 });
	expect_range(fixture, binding, 1, 0x402000, (struct mapping_range){ .is_hole = 1 });
	expect_range(fixture, binding, 2, 0x7f0000000000,
		     (struct mapping_range){ .bias = 0x7f0000000000 - 0x5000, .slot = 8 });
	expect_range(fixture, binding, 3, 0x7f0000010000,
		     (struct mapping_range){ .bias = 0x7f0000010000, .slot = 7 });
	expect_range(fixture, binding, 4, 0x7f0000020000, (struct mapping_range){ .is_hole = 1 });
}

static void processes_with_one_list_share_it_in_the_arena(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	ask(fixture, PID + 1);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID + 1, fixture->list), 0);
	assert_int_equal(binding_of(fixture, PID), binding_of(fixture, PID + 1));
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_tables, 1);
}

static void a_changed_list_is_a_new_one_and_the_old_one_is_void(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	uint64_t before = binding_of(fixture, PID);
	map(fixture, 0x500000, 0x501000, 0, fixture->library);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);

	uint64_t after = binding_of(fixture, PID);
	assert_int_not_equal(before, after);
	assert_int_equal(head_of(fixture, before).id, 0);
	assert_int_equal(head_of(fixture, after).id, MAPPING_BINDING_ID(after));
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_tables, 1);
}

static void a_dropped_list_is_void_and_gives_its_memory_back(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	uint64_t binding = binding_of(fixture, PID);
	mapping_tables_drop(fixture->tables, fixture->list);
	mapping_tables_drop(fixture->tables, fixture->list);
	assert_int_equal(head_of(fixture, binding).id, 0);
	unwind_arena_reclaim(fixture->arena);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_used, 0);
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_bytes, 0);
}

static void the_longest_list_fits(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < MAPPING_LIST_MAX; i++)
		map(fixture, 0x10000000 + i * 0x2000, 0x10001000 + i * 0x2000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	assert_int_equal(head_of(fixture, binding_of(fixture, PID)).nr_ranges,
			 2 * MAPPING_LIST_MAX);
}

/* Its head may be a list's that was there before, to a process that sleeps. */
static void a_row_table_is_not_taken_for_a_list(void **state)
{
	struct fixture *fixture = *state;
	const struct row_table table = { .first_page = UINT32_MAX / ROW_PAGE_BYTES };

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	for (int i = 0; i < 100; i++) {
		fixture->list->is_changed = true;
		assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
		assert_true(MAPPING_BINDING_ID(binding_of(fixture, PID)) > table.first_page);
	}
}

static void a_process_that_has_ended_is_not_bound(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID + 1, fixture->list), -ESRCH);
	assert_int_equal(binding_of(fixture, PID + 1), NO_BINDING);
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_failures, 0);
}

/* Its files' slots may be other files' by then. */
static void a_changed_list_that_does_not_fit_voids_the_old_one(void **state)
{
	struct fixture *fixture = *state;
	static char most[2 * ARENA_CHUNK_BYTES - 16 * ARENA_UNIT];
	uint32_t unit;

	map(fixture, 0x401000, 0x402000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), 0);
	uint64_t binding = binding_of(fixture, PID);
	assert_int_equal(unwind_arena_put(fixture->arena, most, sizeof(most), &unit), 0);
	for (uint64_t i = 0; i < 100; i++)
		map(fixture, 0x10000000 + i * 0x2000, 0x10001000 + i * 0x2000, 0, fixture->program);
	assert_int_equal(mapping_tables_bind(fixture->tables, PID, fixture->list), -ENOSPC);
	assert_int_equal(binding_of(fixture, PID), binding);
	assert_int_equal(head_of(fixture, binding).id, 0);
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_tables, 0);
	assert_int_equal(mapping_tables_get_stats(fixture->tables).nr_failures, 1);
	assert_true(fixture->list->is_changed);
}

#define LISTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LISTS_TEST(the_descriptors_of_runtimes_follow_the_ranges),
		LISTS_TEST(a_bound_process_has_its_mappings_and_the_holes_between_them),
		LISTS_TEST(processes_with_one_list_share_it_in_the_arena),
		LISTS_TEST(a_changed_list_is_a_new_one_and_the_old_one_is_void),
		LISTS_TEST(a_dropped_list_is_void_and_gives_its_memory_back),
		LISTS_TEST(the_longest_list_fits),
		LISTS_TEST(a_row_table_is_not_taken_for_a_list),
		LISTS_TEST(a_process_that_has_ended_is_not_bound),
		LISTS_TEST(a_changed_list_that_does_not_fit_voids_the_old_one),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
