/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "unit.h"
#include "unwind/file/row_cache.h"
#include "unwind/file/row_cache_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HASH "00000000000000070000000000000000"

struct directory {
	char path[64];
	int fd;
};

static int setup(void **state)
{
	struct directory *dir = calloc(1, sizeof(*dir));

	assert_non_null(dir);
	snprintf(dir->path, sizeof(dir->path), "/dev/shm/test_row_cache_files.XXXXXX");
	assert_non_null(mkdtemp(dir->path));
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir->fd >= 0);
	*state = dir;
	return 0;
}

/* No test makes directories that are not empty. */
static int teardown(void **state)
{
	struct directory *dir = *state;
	_cleanup_closedir_ DIR *entries = opendir(dir->path);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (unlinkat(dir->fd, entry->d_name, 0) < 0)
			unlinkat(dir->fd, entry->d_name, AT_REMOVEDIR);
	close(dir->fd);
	rmdir(dir->path);
	free(dir);
	return 0;
}

static void make_file(const struct directory *dir, const char *name, int64_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	_cleanup_close_ int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	assert_int_equal(futimens(fd, times), 0);
}

static bool is_there(const struct directory *dir, const char *name)
{
	return faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void tables_are_listed_by_their_last_use(void **state)
{
	static const char *const names[] = { "cd-" HASH ".rows1", "-" HASH ".rows1",
					     "ef-" HASH ".rows1", "ab-" HASH ".rows1" };
	const struct directory *dir = *state;
	_cleanup_(row_cache_files_done) struct row_cache_files files = { 0 };
	uint64_t nr_evicted = 0;

	for (int i = 3; i >= 0; i--)
		make_file(dir, names[i], 1000 + i);
	assert_int_equal(
		row_cache_files_load(&files, dir->fd, &row_cache_unwind_tables, &nr_evicted), 0);
	assert_int_equal(files.nr_items, array_len(names));
	assert_int_equal(files.nr_bytes, 5 * array_len(names));
	assert_int_equal(nr_evicted, 0);
	for (size_t i = 0; i < array_len(names); i++)
		assert_string_equal(files.items[i].name, names[i]);
}

static void leftovers_are_removed_and_files_of_others_are_not(void **state)
{
	static const char *const ours[] = { "0123456789abcdef.rows-temp", "ab-" HASH ".rows0",
					    "-" HASH ".rows2", "ab-" HASH ".rows4000000000" };
	static const char *const others[] = { "README",		  "x.rows1",   ".rows1",
					      "ab.rows",	  "ab.rows1x", "ab.rows-1",
					      "ab.rows-temp.old", "Ab.rows0",  "ab.rows4294967296",
					      "ab.rows1.rows1" };
	const struct directory *dir = *state;
	_cleanup_(row_cache_files_done) struct row_cache_files files = { 0 };
	uint64_t nr_evicted = 0;

	for (size_t i = 0; i < array_len(ours); i++)
		make_file(dir, ours[i], 1);
	for (size_t i = 0; i < array_len(others); i++)
		make_file(dir, others[i], 1);
	assert_int_equal(
		row_cache_files_load(&files, dir->fd, &row_cache_unwind_tables, &nr_evicted), 0);
	assert_int_equal(files.nr_items, 0);
	assert_int_equal(nr_evicted, 0);
	for (size_t i = 0; i < array_len(ours); i++)
		assert_false(is_there(dir, ours[i]));
	for (size_t i = 0; i < array_len(others); i++)
		assert_true(is_there(dir, others[i]));
}

static void what_is_not_a_file_is_none_whatever_its_name(void **state)
{
	const struct directory *dir = *state;
	_cleanup_(row_cache_files_done) struct row_cache_files files = { 0 };
	uint64_t nr_evicted = 0;

	assert_int_equal(mkdirat(dir->fd, "ab-" HASH ".rows1", 0700), 0);
	assert_int_equal(mkdirat(dir->fd, "ab-" HASH ".rows0", 0700), 0);
	assert_int_equal(mkfifoat(dir->fd, "cd-" HASH ".rows1", 0600), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir->fd, "ef-" HASH ".rows1"), 0);
	assert_int_equal(
		row_cache_files_load(&files, dir->fd, &row_cache_unwind_tables, &nr_evicted), 0);
	assert_int_equal(files.nr_items, 0);
	assert_true(is_there(dir, "ab-" HASH ".rows0"));
}

static void files_over_the_limit_are_removed(void **state)
{
	const struct directory *dir = *state;
	_cleanup_(row_cache_files_done) struct row_cache_files files = { 0 };
	uint64_t nr_evicted = 0;
	char name[64];

	for (unsigned int i = 0; i < ROW_CACHE_MAX_FILES + 100; i++) {
		snprintf(name, sizeof(name), "%x-" HASH ".rows1", i);
		make_file(dir, name, i);
	}
	assert_int_equal(
		row_cache_files_load(&files, dir->fd, &row_cache_unwind_tables, &nr_evicted), 0);
	assert_int_equal(files.nr_items, ROW_CACHE_MAX_FILES);
	assert_int_equal(nr_evicted, 100);
}

static void names_are_made_of_digits_only(void **state)
{
	static const char *const build_ids[] = { "../../etc/passwd", "ab/cd", "ABCD", "ab cd",
						 "." };
	struct elf_rows_key key = { .hash = { 0x1234, UINT64_MAX } };
	char name[ROW_CACHE_NAME_MAX] = "";
	(void)state;

	for (size_t i = 0; i < array_len(build_ids); i++) {
		snprintf(key.build_id, sizeof(key.build_id), "%s", build_ids[i]);
		assert_int_equal(row_cache_files_name(&row_cache_unwind_tables, &key, name),
				 -EINVAL);
	}
	memset(key.build_id, 'a', sizeof(key.build_id));
	assert_int_equal(row_cache_files_name(&row_cache_unwind_tables, &key, name), -EINVAL);
	assert_string_equal(name, "");
	snprintf(key.build_id, sizeof(key.build_id), "0af9");
	assert_int_equal(row_cache_files_name(&row_cache_unwind_tables, &key, name), 0);
	assert_string_equal(name, "0af9-0000000000001234ffffffffffffffff.rows1");
	key.build_id[0] = '\0';
	assert_int_equal(row_cache_files_name(&row_cache_unwind_tables, &key, name), 0);
	assert_string_equal(name, "-0000000000001234ffffffffffffffff.rows1");
}

static void the_longest_name_is_one_that_can_be_opened(void **state)
{
	const struct directory *dir = *state;
	struct elf_rows_key key = { .hash = { UINT64_MAX, UINT64_MAX } };
	char name[ROW_CACHE_NAME_MAX];

	memset(key.build_id, 'f', sizeof(key.build_id) - 1);
	assert_int_equal(row_cache_files_name(&row_cache_unwind_tables, &key, name), 0);
	make_file(dir, name, 1);
}

static void names_of_unfinished_files_differ(void **state)
{
	char first[ROW_CACHE_NAME_MAX], second[ROW_CACHE_NAME_MAX];
	(void)state;

	assert_int_equal(row_cache_files_temp_name(first), 0);
	assert_int_equal(row_cache_files_temp_name(second), 0);
	assert_string_not_equal(first, second);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(tables_are_listed_by_their_last_use),
		test(leftovers_are_removed_and_files_of_others_are_not),
		test(what_is_not_a_file_is_none_whatever_its_name),
		test(files_over_the_limit_are_removed),
		cmocka_unit_test(names_are_made_of_digits_only),
		test(the_longest_name_is_one_that_can_be_opened),
		cmocka_unit_test(names_of_unfinished_files_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
