/* SPDX-License-Identifier: Apache-2.0 */
/* All of it together, over the maps of the kernel; the file it reads is this program. */
#include "unwind/unwind_tables.h"

#include "arena_fixture.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/log.h"
#include "rows_worker_main.h"
#include "torture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remove_tree.h"
#include "unit.h"

#define PID 4711
#define MAX_BYTES ((size_t)16 << 20)
#define PATIENCE_NS (60 * NSEC_PER_SEC)

struct fixture {
	struct arena_fixture maps;
	char dir[64];
	struct unwind_tables *tables;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(arena_fixture_open(&fixture->maps), 0);
	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test_unwind_tables.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	log_set_level(LOG_LEVEL_ERROR);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unwind_tables_stop(fixture->tables);
	remove_tree(fixture->dir);
	arena_fixture_close(&fixture->maps);
	test_free(fixture);
	return 0;
}

static struct unwind_tables_opts opts_of(const struct fixture *fixture)
{
	return (struct unwind_tables_opts){
		.memory = fixture->maps.memory,
		.max_bytes = MAX_BYTES,
	};
}

/* Waits until the vDSO is read. */
static void start(struct fixture *fixture, const struct unwind_tables_opts *opts)
{
	assert_int_equal(unwind_tables_start(opts, &fixture->tables), 0);
	assert_true(table_slots_wait_idle(fixture->tables->slots, clock_mono_ns() + PATIENCE_NS));
}

static void stop(struct fixture *fixture)
{
	unwind_tables_stop(fixture->tables);
	fixture->tables = NULL;
}

static struct unwind_tables_stats stats_of(const struct fixture *fixture)
{
	return unwind_tables_get_stats(fixture->tables);
}

/* Returns its slot. */
static uint32_t add_this_program(struct fixture *fixture)
{
	uint32_t slot = 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(table_slots_add(fixture->tables->slots, &fd, 0, &slot), 0);
	assert_true(table_slots_wait_idle(fixture->tables->slots, clock_mono_ns() + PATIENCE_NS));
	return slot;
}

static struct table_slot slot_of(const struct fixture *fixture, uint32_t slot)
{
	return fixture->maps.memory->tables[slot];
}

static void files_and_lists_come_into_the_arena(void **state)
{
	struct fixture *fixture = *state;
	const struct unwind_tables_opts opts = opts_of(fixture);
	struct mapped_files files = { 0 };
	struct mapping_list *list;
	struct row_table table;

	start(fixture, &opts);
	uint64_t nr_before = stats_of(fixture).slots.nr_tables;
	uint32_t slot = add_this_program(fixture);
	arena_fixture_read(&fixture->maps, slot_of(fixture, slot).unit, &table, sizeof(table));
	assert_in_range(table.nr_rows, 100, 10000000);
	struct unwind_tables_stats stats = stats_of(fixture);
	assert_int_equal(stats.slots.nr_tables, nr_before + 1);
	assert_int_equal(stats.slots.nr_built, nr_before + 1);
	assert_true(stats.slots.nr_bytes >= table.bytes);
	assert_true(stats.arena.nr_bytes_used >= stats.slots.nr_bytes);
	assert_int_equal(stats.cache.nr_misses, 0);

	const struct mapped_file_key key = { .inode = 1, .path = "/a", .path_len = 2 };
	struct mapping mapping = { .start = 0x1000, .end = 0x2000 };
	assert_int_equal(mapping_list_new(&files, &list), 0);
	assert_int_equal(mapped_files_take(&files, &key, &mapping.file), 0);
	mapping.file->slot = slot;
	assert_int_equal(mapping_list_insert(list, &mapping), 0);
	arena_fixture_set_binding(&fixture->maps, PID, 0);
	assert_int_equal(mapping_tables_bind(fixture->tables->mapping_tables, PID, list), 0);
	assert_int_equal(stats_of(fixture).mapping_tables.nr_tables, 1);
	assert_true(stats_of(fixture).arena.nr_bytes_used > stats.arena.nr_bytes_used);
	mapping_tables_drop(fixture->tables->mapping_tables, list);
	assert_int_equal(stats_of(fixture).mapping_tables.nr_tables, 0);
	mapped_file_unref(&files, mapping.file);
	mapping_list_unref(list);
	mapped_files_done(&files);
}

static void tables_are_kept_on_disk_from_start_to_start(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_tables_opts opts = opts_of(fixture);
	char dir[96];

	snprintf(dir, sizeof(dir), "%s/tables", fixture->dir);
	opts.cache_dir = dir;
	start(fixture, &opts);
	add_this_program(fixture);
	struct unwind_tables_stats first = stats_of(fixture);
	stop(fixture);
	assert_true(first.slots.nr_built > 0);
	assert_int_equal(first.cache.nr_misses, first.slots.nr_built);
	assert_true(first.cache.nr_bytes > 0);

	start(fixture, &opts);
	uint32_t slot = add_this_program(fixture);
	struct unwind_tables_stats second = stats_of(fixture);
	assert_true(slot_of(fixture, slot).unit > TABLE_WITHOUT_CFI);
	assert_int_equal(second.slots.nr_built, 0);
	assert_int_equal(second.cache.nr_hits, first.cache.nr_misses);
	assert_int_equal(second.slots.nr_bytes, first.slots.nr_bytes);
}

static void a_cache_directory_that_cannot_be_used_is_done_without(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_tables_opts opts = opts_of(fixture);
	char dirs[3][96];

	snprintf(dirs[0], sizeof(dirs[0]), "%s/file/tables", fixture->dir);
	snprintf(dirs[1], sizeof(dirs[1]), "%s/file", fixture->dir);
	assert_int_equal(file_write_atomic(dirs[1], "", 0), 0);
	snprintf(dirs[2], sizeof(dirs[2]), "%s/everybodys", fixture->dir);
	assert_int_equal(mkdir(dirs[2], 0700), 0);
	assert_int_equal(chmod(dirs[2], 0777), 0);
	for (size_t i = 0; i < array_len(dirs); i++) {
		opts.cache_dir = dirs[i];
		start(fixture, &opts);
		assert_null(fixture->tables->cache);
		uint32_t slot = add_this_program(fixture);
		assert_true(slot_of(fixture, slot).unit > TABLE_WITHOUT_CFI);
		assert_int_equal(stats_of(fixture).cache.nr_misses, 0);
		stop(fixture);
	}
}

static void a_table_that_is_larger_than_all_may_be_is_not_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_tables_opts opts = opts_of(fixture);

	opts.max_bytes = 1024;
	start(fixture, &opts);
	uint32_t slot = add_this_program(fixture);
	assert_int_equal(slot_of(fixture, slot).unit, TABLE_WITHOUT_CFI);
	assert_true(stats_of(fixture).slots.nr_over_limit > 0);
	assert_true(stats_of(fixture).slots.nr_bytes <= opts.max_bytes);
	assert_true(stats_of(fixture).arena.nr_chunks <= 1);
}

static void mapping_tables_have_room_where_tables_have_none(void **state)
{
	static const char data[ARENA_CHUNK_BYTES / 16];
	struct fixture *fixture = *state;
	struct unwind_tables_opts opts = opts_of(fixture);
	uint32_t unit;
	size_t nr = 0;

	opts.max_bytes = ARENA_CHUNK_BYTES;
	start(fixture, &opts);
	assert_true(stats_of(fixture).slots.nr_bytes < sizeof(data));
	while (unwind_arena_put(fixture->tables->arena, data, sizeof(data), &unit) == 0)
		nr++;
	assert_int_equal(nr, 15);
	assert_int_equal(stats_of(fixture).arena.nr_chunks, 1);
}

/* It is stopped while it reads the vDSO. */
static void without_memory_it_does_not_start(void **state)
{
	struct fixture *fixture = *state;
	const struct unwind_tables_opts opts = opts_of(fixture);
	unsigned int nr_refused = 0;
	bool has_failed = true;

	for (unsigned int n = 1; has_failed; n++) {
		torture_begin(n);
		int r = unwind_tables_start(&opts, &fixture->tables);
		has_failed = torture_end();
		if (r == 0)
			stop(fixture);
		else
			assert_int_equal(r, -ENOMEM);
		unwind_tables_stop(NULL);
		nr_refused += r != 0;
	}
	assert_true(nr_refused >= 4);
}

#define TABLES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TABLES_TEST(files_and_lists_come_into_the_arena),
		TABLES_TEST(tables_are_kept_on_disk_from_start_to_start),
		TABLES_TEST(a_cache_directory_that_cannot_be_used_is_done_without),
		TABLES_TEST(a_table_that_is_larger_than_all_may_be_is_not_loaded),
		TABLES_TEST(mapping_tables_have_room_where_tables_have_none),
		TABLES_TEST(without_memory_it_does_not_start),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
