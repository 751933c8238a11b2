/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "torture.h"
#include "remove_tree.h"
#include "unit.h"
#include "unwind/file/row_cache.h"
#include "unwind/rows/row_packer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#define PLENTY_BYTES (1 << 20)
#define HEAD_BYTES 192 /* of a file; the rest is the table */

#define OTHER_USER 12345

/* The name of key 7's file. */
#define FILE_7 "0707abcd-00000000000000070000000000000000.rows1"

struct fixture {
	char root[64];
	char path[80]; /* of the cache's directory */
	struct row_cache *cache; /* owned */
};

static int open_cache(const char *path, uint64_t max_bytes, struct row_cache **ret_cache)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);

	return row_cache_open(path, &row_cache_unwind_tables, max_bytes, &message, ret_cache);
}

static void reopen(struct fixture *fixture, uint64_t max_bytes)
{
	row_cache_close(fixture->cache);
	fixture->cache = NULL;
	assert_int_equal(open_cache(fixture->path, max_bytes, &fixture->cache), 0);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	snprintf(fixture->root, sizeof(fixture->root), "/dev/shm/test_row_cache.XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	snprintf(fixture->path, sizeof(fixture->path), "%s/rows", fixture->root);
	reopen(fixture, PLENTY_BYTES);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	row_cache_close(fixture->cache);
	umount2(fixture->path, MNT_DETACH); /* of the test that mounts something there */
	remove_tree(fixture->root);
	free(fixture);
	return 0;
}

static struct elf_rows_key key_of(uint64_t number)
{
	struct elf_rows_key key = { .hash = { number, 0 } };

	snprintf(key.build_id, sizeof(key.build_id), "%02x%02xabcd", (unsigned int)number,
		 (unsigned int)number);
	return key;
}

/* A table that differs from those of other numbers. */
static struct row_table_bytes make_table(uint64_t number, uint32_t nr_rows)
{
	struct row_table_bytes table = { 0 };
	struct row_packer packer;

	row_packer_init(&packer, PLENTY_BYTES);
	for (uint32_t i = 0; i < nr_rows; i++) {
		struct cfi_rule rule = { .kind = CFA_REGISTER, .offset = (int32_t)number };

		assert_int_equal(row_packer_add(&packer, i, &rule), 0);
	}
	assert_int_equal(row_packer_seal(&packer, &table), 0);
	row_packer_done(&packer);
	return table;
}

static void put(struct fixture *fixture, uint64_t number, uint32_t nr_rows)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = make_table(number, nr_rows);
	struct elf_rows_key key = key_of(number);

	row_cache_put(fixture->cache, &key, &table);
}

static void assert_hit(struct fixture *fixture, uint64_t number, uint32_t nr_rows)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes found = { 0 };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = make_table(number, nr_rows);
	struct elf_rows_key key = key_of(number);

	assert_int_equal(row_cache_get(fixture->cache, &key, &found), 0);
	assert_int_equal(found.len, table.len);
	assert_memory_equal(found.data, table.data, table.len);
}

static void assert_miss(struct fixture *fixture, uint64_t number)
{
	struct row_table_bytes found = { .len = 42 };
	struct elf_rows_key key = key_of(number);

	assert_int_equal(row_cache_get(fixture->cache, &key, &found), -ENOENT);
	assert_null(found.data);
	assert_int_equal(found.len, 42);
}

static struct row_cache_stats stats_of(const struct fixture *fixture)
{
	return row_cache_get_stats(fixture->cache);
}

static const char *path_of(const struct fixture *fixture, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", fixture->path, name);
	return path;
}

static bool is_there(const struct fixture *fixture, const char *name)
{
	struct stat st;

	return lstat(path_of(fixture, name), &st) == 0;
}

static void write_file(const struct fixture *fixture, const char *name, const void *data,
		       size_t len)
{
	_cleanup_close_ int fd = open(path_of(fixture, name),
				      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
}

static size_t read_file(const struct fixture *fixture, const char *name, uint8_t *data, size_t max)
{
	_cleanup_close_ int fd = open(path_of(fixture, name), O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, data, max);

	assert_in_range(n, 1, max - 1);
	return (size_t)n;
}

static void set_age(const struct fixture *fixture, const char *name, int64_t seconds)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - seconds },
				     { .tv_sec = time(NULL) - seconds } };

	assert_int_equal(utimensat(AT_FDCWD, path_of(fixture, name), times, 0), 0);
}

static int64_t age_of(const struct fixture *fixture, const char *name)
{
	struct stat st;

	assert_int_equal(lstat(path_of(fixture, name), &st), 0);
	return time(NULL) - st.st_mtim.tv_sec;
}

static void what_was_put_is_found_even_after_a_restart(void **state)
{
	struct fixture *fixture = *state;

	assert_miss(fixture, 7);
	put(fixture, 7, 100);
	put(fixture, 8, 50);
	assert_true(is_there(fixture, FILE_7));
	assert_hit(fixture, 7, 100);
	reopen(fixture, PLENTY_BYTES);
	assert_hit(fixture, 7, 100);
	assert_hit(fixture, 8, 50);
	assert_miss(fixture, 9);

	struct row_cache_stats stats = stats_of(fixture);
	assert_int_equal(stats.nr_hits, 2);
	assert_int_equal(stats.nr_misses, 1);
	assert_int_equal(stats.nr_bad_files, 0);
	/* 1 page of 64 bytes with head, directory and padding, 2 rules, the rows */
	assert_int_equal(stats.nr_bytes, 2 * (HEAD_BYTES + 48 + 32) + 4 * 150);
}

static void files_without_a_build_id_are_told_by_their_hash(void **state)
{
	struct fixture *fixture = *state;
	struct elf_rows_key keys[] = { { .hash = { 1, 2 } }, { .hash = { 1, 3 } } };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = make_table(1, 10);
	_cleanup_(row_table_bytes_done) struct row_table_bytes found = { 0 };

	row_cache_put(fixture->cache, &keys[0], &table);
	assert_int_equal(row_cache_get(fixture->cache, &keys[1], &found), -ENOENT);
	assert_int_equal(row_cache_get(fixture->cache, &keys[0], &found), 0);
}

static void a_table_replaces_an_older_one(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 7, 100);
	put(fixture, 7, 20);
	assert_hit(fixture, 7, 20);
	uint64_t bytes = stats_of(fixture).nr_bytes;
	reopen(fixture, PLENTY_BYTES);
	assert_int_equal(stats_of(fixture).nr_bytes, bytes);
}

static void the_directory_is_made_for_nobody_else(void **state)
{
	struct fixture *fixture = *state;
	struct stat st;

	assert_int_equal(stat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	put(fixture, 7, 1);
	assert_int_equal(stat(path_of(fixture, FILE_7), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* Ten files of which four must go, for an eleventh one and an eighth of the cache. */
static void the_least_recently_used_tables_go_first(void **state)
{
	struct fixture *fixture = *state;
	char name[64];

	for (uint64_t i = 0; i < 10; i++) {
		put(fixture, i, 1000);
		snprintf(name, sizeof(name), "%02x%02xabcd-%016x%016x.rows1", (int)i, (int)i,
			 (int)i, 0);
		set_age(fixture, name, i % 2 ? 7200 + (int64_t)i : 60 + (int64_t)i);
	}
	reopen(fixture, 10 * 4272 + 1000);
	assert_int_equal(stats_of(fixture).nr_evicted, 0);
	assert_hit(fixture, 9, 1000);
	put(fixture, 10, 2000);
	assert_int_equal(stats_of(fixture).nr_evicted, 2);
	for (uint64_t i = 0; i < 10; i++) {
		if (i == 7 || i == 5)
			assert_miss(fixture, i);
		else
			assert_hit(fixture, i, 1000);
	}
	assert_hit(fixture, 10, 2000);
	assert_int_equal(stats_of(fixture).nr_bytes, 8 * 4272 + 8272);
}

static void reading_is_a_use_but_not_each_time(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 7, 1);
	set_age(fixture, FILE_7, 1800);
	assert_hit(fixture, 7, 1);
	assert_in_range(age_of(fixture, FILE_7), 1790, 1810);
	set_age(fixture, FILE_7, 4000);
	assert_hit(fixture, 7, 1);
	assert_in_range(age_of(fixture, FILE_7), 0, 10);
	set_age(fixture, FILE_7, -100000);
	assert_hit(fixture, 7, 1);
	assert_in_range(age_of(fixture, FILE_7), 0, 10);
}

static void a_table_larger_than_the_cache_is_not_kept(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 8, 1);
	reopen(fixture, 1000);
	put(fixture, 7, 1000);
	assert_miss(fixture, 7);
	assert_hit(fixture, 8, 1);
	assert_int_equal(stats_of(fixture).nr_write_failures, 1);
}

static void a_smaller_cache_begins_with_less(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++)
		put(fixture, i, 1000);
	reopen(fixture, 3 * 4272);
	assert_int_equal(stats_of(fixture).nr_bytes, 3 * 4272);
	assert_int_equal(stats_of(fixture).nr_evicted, 7);
}

/* The file is gone then, and may be written again. */
static void assert_bad(struct fixture *fixture, uint64_t nr_bad)
{
	assert_miss(fixture, 7);
	assert_int_equal(stats_of(fixture).nr_bad_files, nr_bad);
	assert_false(is_there(fixture, FILE_7));
	assert_miss(fixture, 7);
	assert_int_equal(stats_of(fixture).nr_bad_files, nr_bad);
}

static void a_file_that_is_cut_off_is_bad(void **state)
{
	struct fixture *fixture = *state;
	uint8_t data[1024];

	put(fixture, 7, 10);
	size_t len = read_file(fixture, FILE_7, data, sizeof(data) - 1);
	for (size_t i = 0; i < len; i++) {
		write_file(fixture, FILE_7, data, i);
		assert_bad(fixture, i + 1);
	}
	write_file(fixture, FILE_7, data, len + 1);
	assert_bad(fixture, len + 1);
	write_file(fixture, FILE_7, data, len);
	assert_hit(fixture, 7, 10);
}

static void a_file_with_any_wrong_bit_is_bad(void **state)
{
	struct fixture *fixture = *state;
	uint8_t data[1024];

	put(fixture, 7, 10);
	size_t len = read_file(fixture, FILE_7, data, sizeof(data));
	for (size_t i = 0; i < len; i++) {
		data[i] ^= (uint8_t)(1 << i % 8);
		write_file(fixture, FILE_7, data, len);
		assert_bad(fixture, i + 1);
		data[i] ^= (uint8_t)(1 << i % 8);
	}
}

static void the_table_of_another_key_is_bad(void **state)
{
	struct fixture *fixture = *state;
	uint8_t data[1024];

	put(fixture, 8, 10);
	size_t len = read_file(fixture, "0808abcd-00000000000000080000000000000000.rows1", data,
			       sizeof(data));
	write_file(fixture, FILE_7, data, len);
	assert_bad(fixture, 1);
}

static void a_checksum_does_not_make_a_table(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = make_table(7, 10);
	struct elf_rows_key key = key_of(7);

	table.data[table.len - 1] ^= 0x80;
	row_cache_put(fixture->cache, &key, &table);
	assert_true(is_there(fixture, FILE_7));
	assert_bad(fixture, 1);
}

/* What else may be there under the name of a table. */
static void make_symlink(struct fixture *fixture)
{
	put(fixture, 7, 10);
	char target[512];

	snprintf(target, sizeof(target), "%s", path_of(fixture, "target"));
	assert_int_equal(rename(path_of(fixture, FILE_7), target), 0);
	assert_int_equal(symlink(target, path_of(fixture, FILE_7)), 0);
}

static void make_fifo(struct fixture *fixture)
{
	assert_int_equal(mkfifo(path_of(fixture, FILE_7), 0600), 0);
}

static void make_huge(struct fixture *fixture)
{
	write_file(fixture, FILE_7, "", 0);
	assert_int_equal(truncate(path_of(fixture, FILE_7), INT64_C(1) << 40), 0);
}

static void make_writable(struct fixture *fixture)
{
	put(fixture, 7, 10);
	assert_int_equal(chmod(path_of(fixture, FILE_7), 0620), 0);
}

static void whatever_is_not_a_file_of_ours_is_bad(void **state)
{
	static void (*const makers[])(struct fixture * fixture) = { make_symlink, make_fifo,
								    make_huge, make_writable };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < array_len(makers); i++) {
		makers[i](fixture);
		assert_bad(fixture, i + 1);
	}
	assert_true(is_there(fixture, "target"));
	put(fixture, 7, 10);
	assert_hit(fixture, 7, 10);
}

static void a_directory_in_place_of_a_file_stays(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkdir(path_of(fixture, FILE_7), 0700), 0);
	assert_miss(fixture, 7);
	put(fixture, 7, 10);
	assert_int_equal(stats_of(fixture).nr_write_failures, 1);
	assert_miss(fixture, 7);
	assert_true(is_there(fixture, FILE_7));
	reopen(fixture, 1);
	assert_int_equal(stats_of(fixture).nr_bytes, 0);
}

static void files_and_directories_of_others_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct row_cache *cache = NULL;

	if (geteuid() != 0)
		skip();
	put(fixture, 7, 10);
	assert_int_equal(chown(path_of(fixture, FILE_7), OTHER_USER, (gid_t)-1), 0);
	assert_bad(fixture, 1);
	assert_int_equal(chown(fixture->path, OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(open_cache(fixture->path, PLENTY_BYTES, &cache), -EPERM);
	assert_null(cache);
}

static void a_directory_that_others_may_write_to_is_refused(void **state)
{
	static const mode_t modes[] = { 0720, 0702, 01777, 02770 };
	struct fixture *fixture = *state;
	struct row_cache *cache = NULL;

	for (size_t i = 0; i < array_len(modes); i++) {
		assert_int_equal(chmod(fixture->path, modes[i]), 0);
		assert_int_equal(open_cache(fixture->path, PLENTY_BYTES, &cache), -EPERM);
		assert_null(cache);
	}
}

static void a_directory_that_others_may_replace_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct row_cache *cache = NULL;

	assert_int_equal(chmod(fixture->root, 0777), 0);
	assert_int_equal(open_cache(fixture->path, PLENTY_BYTES, &cache), -EPERM);
	assert_int_equal(chmod(fixture->root, 0755), 0);
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->root, OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(open_cache(fixture->path, PLENTY_BYTES, &cache), -EPERM);
	assert_null(cache);
}

static void what_is_not_a_directory_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct row_cache *cache = NULL;

	write_file(fixture, "file", "", 0);
	assert_int_equal(open_cache(path_of(fixture, "file"), 1, &cache), -ENOTDIR);
	assert_int_equal(symlink(fixture->path, path_of(fixture, "link")), 0);
	assert_int_equal(open_cache(path_of(fixture, "link"), 1, &cache), -EPERM);
	assert_int_equal(open_cache(path_of(fixture, "file/x"), 1, &cache), -ENOTDIR);
	assert_null(cache);
}

static void a_missing_directory_is_made_with_those_above_it(void **state)
{
	struct fixture *fixture = *state;
	struct stat st;

	row_cache_close(fixture->cache);
	fixture->cache = NULL;
	assert_int_equal(open_cache(path_of(fixture, "no/such"), PLENTY_BYTES, &fixture->cache), 0);
	assert_int_equal(stat(path_of(fixture, "no/such"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_write_to_a_full_disk_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;

	if (mount("tmpfs", fixture->path, "tmpfs", MS_NODEV, "size=12k,mode=700") < 0)
		skip();
	reopen(fixture, PLENTY_BYTES);
	for (uint32_t nr_rows = 2000; nr_rows < 10000; nr_rows += 1000) {
		put(fixture, 7, nr_rows);
		assert_miss(fixture, 7);
	}
	assert_int_equal(stats_of(fixture).nr_write_failures, 8);
	assert_int_equal(stats_of(fixture).nr_bytes, 0);
	put(fixture, 7, 1000);
	assert_hit(fixture, 7, 1000);
}

static void a_key_whose_build_id_is_none_has_no_file(void **state)
{
	struct fixture *fixture = *state;
	struct elf_rows_key key = { .build_id = "../../etc/passwd" };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = make_table(1, 10);

	row_cache_put(fixture->cache, &key, &table);
	assert_int_equal(row_cache_get(fixture->cache, &key, &table), -ENOENT);
	assert_int_equal(stats_of(fixture).nr_write_failures, 1);
	assert_int_equal(stats_of(fixture).nr_bytes, 0);
}

static void a_cache_whose_directory_is_gone_is_a_slow_one(void **state)
{
	struct fixture *fixture = *state;

	remove_tree(fixture->path);
	put(fixture, 7, 1);
	assert_miss(fixture, 7);
	assert_int_equal(stats_of(fixture).nr_write_failures, 1);
}

static void without_memory_nothing_is_found_and_no_file_is_lost(void **state)
{
	struct fixture *fixture = *state;
	struct elf_rows_key key = key_of(7);
	bool has_failed = true;

	put(fixture, 7, 100);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(row_cache_closep) struct row_cache *cache = NULL;
		_cleanup_(row_table_bytes_done) struct row_table_bytes found = { 0 };
		int r;

		torture_begin(n);
		r = open_cache(fixture->path, PLENTY_BYTES, &cache);
		if (r == 0)
			r = row_cache_get(cache, &key, &found);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(what_was_put_is_found_even_after_a_restart),
		test(files_without_a_build_id_are_told_by_their_hash),
		test(a_table_replaces_an_older_one),
		test(the_directory_is_made_for_nobody_else),
		test(the_least_recently_used_tables_go_first),
		test(reading_is_a_use_but_not_each_time),
		test(a_table_larger_than_the_cache_is_not_kept),
		test(a_smaller_cache_begins_with_less),
		test(a_file_that_is_cut_off_is_bad),
		test(a_file_with_any_wrong_bit_is_bad),
		test(the_table_of_another_key_is_bad),
		test(a_checksum_does_not_make_a_table),
		test(whatever_is_not_a_file_of_ours_is_bad),
		test(a_directory_in_place_of_a_file_stays),
		test(files_and_directories_of_others_are_refused),
		test(a_directory_that_others_may_write_to_is_refused),
		test(a_directory_that_others_may_replace_is_refused),
		test(what_is_not_a_directory_is_refused),
		test(a_missing_directory_is_made_with_those_above_it),
		test(a_write_to_a_full_disk_leaves_nothing),
		test(a_key_whose_build_id_is_none_has_no_file),
		test(a_cache_whose_directory_is_gone_is_a_slow_one),
		test(without_memory_nothing_is_found_and_no_file_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
