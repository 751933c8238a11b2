/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "remove_tree.h"
#include "store/store_dir.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#define NOW UINT64_C(1795528800)
#define PATH_BYTES 128
#define FOREVER (UINT64_C(1) << 40)

static void make_dir(char dir[static PATH_BYTES])
{
	snprintf(dir, PATH_BYTES, "/tmp/flamelet-dir-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

/* Makes a file of that size, which was changed at that time. */
static void make_file(const char *dir, const char *name, off_t bytes, uint64_t changed_s)
{
	const struct timeval times[2] = { { (time_t)changed_s, 0 }, { (time_t)changed_s, 0 } };
	char path[2 * PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
	assert_int_equal(utimes(path, times), 0);
}

static void assert_names(const char *dir, const char *const *names, size_t nr)
{
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };

	assert_int_equal(store_dir_list(dir, &list), 0);
	assert_int_equal(list.nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(list.items[i].name, names[i]);
}

static const char *const hours[] = { "20261120T150000Z.db", "20261120T160000Z.db",
				     "20261120T170000Z.db" };

static void make_hours(const char *dir)
{
	for (size_t i = 0; i < array_len(hours); i++)
		make_file(dir, hours[i], 1000, NOW - 3 + i);
}

static void only_files_of_the_record_are_listed_in_their_order(void **state)
{
	(void)state;
	static const char *const others[] = {
		"lock",
		"20261120T150000Z.db-wal",
		"20261120T150000Z.db-shm",
		"20261120T150000.db",
		"x20261120T150000Z.db",
		"20261120T150000Z.dbx",
		"2026112aT150000Z.db",
		"notes.txt",
	};
	char dir[PATH_BYTES], path[2 * PATH_BYTES];

	make_dir(dir);
	make_file(dir, hours[2], 10, NOW);
	make_file(dir, hours[0], 10, NOW);
	make_file(dir, hours[1], 10, NOW);
	for (size_t i = 0; i < array_len(others); i++)
		make_file(dir, others[i], 5, NOW);
	assert_names(dir, hours, array_len(hours));
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };
	assert_int_equal(store_dir_list(dir, &list), 0);
	assert_int_equal(list.items[0].bytes, 15); /* with its log */
	assert_true(list.items[0].has_log);
	assert_false(list.items[1].has_log);
	assert_int_equal(list.items[1].changed_s, NOW);
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(store_dir_list(path, &list), -ENOENT);
	remove_tree(dir);
}

static void names_are_times(void **state)
{
	(void)state;
	char name[STORE_NAME_BYTES];

	store_dir_name(NOW, name);
	assert_string_equal(name, "20261124T140000Z.db");
	store_dir_name(0, name);
	assert_string_equal(name, "19700101T000000Z.db");
}

static void limits_remove_the_oldest_files(void **state)
{
	(void)state;
	static const struct {
		uint64_t max_bytes, max_age_s, other_bytes;
		const char *current;
		int nr_removed;
	} cases[] = {
		{ 3000, FOREVER, 0, NULL, 0 },
		{ 2999, FOREVER, 0, NULL, 1 },
		{ 1500, FOREVER, 0, NULL, 2 },
		{ 0, FOREVER, 0, NULL, 3 },
		{ 0, FOREVER, 0, "20261120T170000Z.db", 2 },
		{ 3000, 2, 0, NULL, 1 },
		{ 3000, 1, 0, NULL, 2 },
		{ 3500, FOREVER, 500, NULL, 0 },
		{ 3500, FOREVER, 501, NULL, 1 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		char dir[PATH_BYTES];
		uint64_t bytes = 0;
		size_t nr = (size_t)cases[i].nr_removed;
		const struct store_dir_limits limits = { .max_bytes = cases[i].max_bytes,
							 .max_age_s = cases[i].max_age_s,
							 .other_bytes = cases[i].other_bytes };

		make_dir(dir);
		make_hours(dir);
		assert_int_equal(store_dir_prune(dir, cases[i].current, &limits, NOW, &bytes),
				 cases[i].nr_removed);
		assert_int_equal(bytes, 1000 * (array_len(hours) - nr) + cases[i].other_bytes);
		assert_names(dir, hours + nr, array_len(hours) - nr);
		remove_tree(dir);
	}
}

static bool refuse_second(const char *name, void *data)
{
	unsigned int *nr_asked = data;

	assert_string_equal(name, hours[(*nr_asked)++]);
	return *nr_asked < 2;
}

static void a_file_may_have_to_wait(void **state)
{
	(void)state;
	unsigned int nr_asked = 0;
	const struct store_dir_limits limits = { .max_age_s = FOREVER,
						 .may_remove = refuse_second,
						 .data = &nr_asked };
	char dir[PATH_BYTES];
	uint64_t bytes = 0;

	make_dir(dir);
	make_hours(dir);
	assert_int_equal(store_dir_prune(dir, NULL, &limits, NOW, &bytes), 1);
	assert_int_equal(nr_asked, 2);
	assert_int_equal(bytes, 2000);
	assert_names(dir, hours + 1, 2);
	remove_tree(dir);
}

static void a_full_disk_is_told(void **state)
{
	(void)state;
	const struct store_dir_limits limits = { .max_bytes = 3000,
						 .max_age_s = FOREVER,
						 .min_free_percent = 101 };
	char dir[PATH_BYTES];
	uint64_t bytes = 0;

	make_dir(dir);
	make_hours(dir);
	assert_int_equal(store_dir_prune(dir, hours[2], &limits, NOW, &bytes), -ENOSPC);
	assert_int_equal(bytes, 1000);
	assert_names(dir, hours + 2, 1);
	remove_tree(dir);
}

static void a_file_goes_with_its_log(void **state)
{
	(void)state;
	char dir[PATH_BYTES];

	make_dir(dir);
	make_file(dir, hours[0], 1, NOW);
	make_file(dir, "20261120T150000Z.db-wal", 1, NOW);
	make_file(dir, "20261120T150000Z.db-shm", 1, NOW);
	assert_int_equal(store_dir_remove(dir, hours[0]), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(store_dir_remove(dir, hours[0]), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_files_of_the_record_are_listed_in_their_order),
		cmocka_unit_test(names_are_times),
		cmocka_unit_test(limits_remove_the_oldest_files),
		cmocka_unit_test(a_file_may_have_to_wait),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_file_goes_with_its_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
