/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod_cache.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FILE_BYTES 65536
#define MAX_BYTES (10 * (uint64_t)(FILE_BYTES + DEBUGINFOD_CACHE_ID_BYTES))

struct directory {
	char path[64];
	char cache_path[96];
	int fd;
};

static int setup(void **state)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	snprintf(directory->path, sizeof(directory->path), "/tmp/test_debuginfod_cache.XXXXXX");
	assert_non_null(mkdtemp(directory->path));
	snprintf(directory->cache_path, sizeof(directory->cache_path), "%s/cache", directory->path);
	assert_int_equal(mkdir(directory->cache_path, 0700), 0);
	directory->fd = open(directory->cache_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = directory;
	return 0;
}

static int teardown(void **state)
{
	struct directory *directory = *state;

	close(directory->fd);
	remove_tree(directory->path);
	free(directory);
	return 0;
}

static bool is_there(const struct directory *directory, const char *path)
{
	return faccessat(directory->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Writes a file that was last used so many seconds ago. */
static void put(const struct directory *directory, const char *path, size_t len, time_t age)
{
	static const char bytes[FILE_BYTES];
	const struct timespec used = { .tv_sec = time(NULL) - age };
	const struct timespec times[] = { used, used };

	_cleanup_close_ int fd = openat(directory->fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0400);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes, len), 0);
	assert_int_equal(futimens(fd, times), 0);
}

static void put_id(const struct directory *directory, unsigned int number, time_t age)
{
	char path[32];

	snprintf(path, sizeof(path), "%04x", number);
	assert_int_equal(mkdirat(directory->fd, path, 0700), 0);
	snprintf(path, sizeof(path), "%04x/debuginfo", number);
	put(directory, path, FILE_BYTES, age);
}

static bool has_id(const struct directory *directory, unsigned int number)
{
	char path[32];

	snprintf(path, sizeof(path), "%04x", number);
	return is_there(directory, path);
}

static struct debuginfod_cache open_cache(const struct directory *directory, uint64_t max_bytes)
{
	struct debuginfod_cache cache;

	assert_int_equal(debuginfod_cache_open(directory->cache_path, max_bytes, &cache), 0);
	return cache;
}

static void a_missing_directory_is_made_for_us_alone(void **state)
{
	const struct directory *directory = *state;
	struct debuginfod_cache cache;
	struct stat st;
	char path[128];

	snprintf(path, sizeof(path), "%s/a/b/c", directory->path);
	assert_int_equal(debuginfod_cache_open(path, MAX_BYTES, &cache), 0);
	assert_int_equal(fstat(cache.dir_fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	debuginfod_cache_close(&cache);
}

static void a_directory_that_others_may_change_is_refused(void **state)
{
	const struct directory *directory = *state;
	struct debuginfod_cache cache = DEBUGINFOD_CACHE_NONE;
	char link_path[128];

	assert_int_equal(fchmod(directory->fd, 0777), 0);
	assert_int_equal(debuginfod_cache_open(directory->cache_path, MAX_BYTES, &cache), -EPERM);
	assert_int_equal(fchmod(directory->fd, 0720), 0);
	assert_int_equal(debuginfod_cache_open(directory->cache_path, MAX_BYTES, &cache), -EPERM);
	assert_int_equal(fchmod(directory->fd, 0755), 0);
	if (fchown(directory->fd, 65534, (gid_t)-1) == 0) {
		assert_int_equal(debuginfod_cache_open(directory->cache_path, MAX_BYTES, &cache),
				 -EPERM);
		assert_int_equal(fchown(directory->fd, geteuid(), (gid_t)-1), 0);
	}
	snprintf(link_path, sizeof(link_path), "%s/link", directory->path);
	assert_int_equal(symlink("cache", link_path), 0);
	assert_int_equal(debuginfod_cache_open(link_path, MAX_BYTES, &cache), -EPERM);
	assert_true(debuginfod_cache_open("/proc/nothing/here", MAX_BYTES, &cache) < 0);
	assert_int_equal(cache.dir_fd, -EBADF);
}

static void what_was_used_least_recently_goes_first(void **state)
{
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(directory,
										     MAX_BYTES);

	for (unsigned int i = 0; i < 20; i++)
		put_id(directory, 0x1000 + i, 1000 - i);
	debuginfod_cache_use(&cache, "1003");
	assert_int_equal(debuginfod_cache_grow(&cache, FILE_BYTES), 0);
	assert_true(cache.nr_bytes <= MAX_BYTES);
	assert_false(has_id(directory, 0x1000));
	assert_false(has_id(directory, 0x100a));
	assert_true(has_id(directory, 0x1003));
	for (unsigned int i = 13; i < 20; i++)
		assert_true(has_id(directory, 0x1000 + i));
}

static void below_the_limit_nothing_goes(void **state)
{
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(directory,
										     MAX_BYTES);

	for (unsigned int i = 0; i < 9; i++) {
		put_id(directory, 0x1000 + i, 1000 - i);
		assert_int_equal(debuginfod_cache_grow(&cache, FILE_BYTES), 0);
	}
	for (unsigned int i = 0; i < 9; i++)
		assert_true(has_id(directory, 0x1000 + i));
}

static void it_stays_below_the_limit_however_much_comes(void **state)
{
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(directory,
										     MAX_BYTES);

	for (unsigned int i = 0; i < 100; i++) {
		unsigned int nr = 0;

		put_id(directory, 0x1000 + i, 1000 - i);
		assert_int_equal(debuginfod_cache_grow(&cache, FILE_BYTES), 0);
		for (unsigned int k = 0; k <= i; k++)
			nr += has_id(directory, 0x1000 + k);
		assert_true(nr <= 10);
		assert_true(has_id(directory, 0x1000 + i));
	}
}

static void empty_answers_count_too(void **state)
{
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(
		directory, 16 * DEBUGINFOD_CACHE_ID_BYTES);
	unsigned int nr = 0;
	char path[32];

	for (unsigned int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%04x", i);
		assert_int_equal(mkdirat(directory->fd, path, 0700), 0);
		snprintf(path, sizeof(path), "%04x/debuginfo", i);
		put(directory, path, 0, 1000 - (time_t)i);
		assert_int_equal(debuginfod_cache_grow(&cache, 0), 0);
	}
	for (unsigned int i = 0; i < 100; i++)
		nr += has_id(directory, i);
	assert_true(nr <= 16);
	assert_true(has_id(directory, 99));
}

static void only_the_librarys_files_are_removed(void **state)
{
	static const char *const kept[] = {
		"cache_clean_interval_s", "ABCD/debuginfo", "notes/debuginfo", "0/debuginfo",
		"abcde/debuginfo",	  "abcd/mine",	    "beef/debuginfo2", "cafe",
	};
	static const char *const removed[] = {
		"abcd/debuginfo",	  "abcd/debuginfo.Xy12Zw", "abcd/executable",
		"abcd/source##x##y##z.c", "abcd/section-.text",	   "abcd/hdr-debuginfo",
	};
	static const char *const directories[] = { "ABCD", "notes", "0", "abcde", "abcd", "beef" };
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(directory, 0);

	for (size_t i = 0; i < array_len(directories); i++)
		assert_int_equal(mkdirat(directory->fd, directories[i], 0700), 0);
	for (size_t i = 0; i < array_len(kept); i++)
		put(directory, kept[i], 100, 1000);
	for (size_t i = 0; i < array_len(removed); i++)
		put(directory, removed[i], 100, 1000);
	assert_int_equal(debuginfod_cache_grow(&cache, 100), 0);
	for (size_t i = 0; i < array_len(kept); i++)
		assert_true(is_there(directory, kept[i]));
	for (size_t i = 0; i < array_len(removed); i++)
		assert_false(is_there(directory, removed[i]));
}

static void symbolic_links_are_not_followed(void **state)
{
	const struct directory *directory = *state;
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = open_cache(directory, 0);

	assert_int_equal(mkdirat(directory->fd, "../outside", 0700), 0);
	put(directory, "../outside/debuginfo", 100, 1000);
	assert_int_equal(symlinkat("../outside", directory->fd, "abcd"), 0);
	assert_int_equal(mkdirat(directory->fd, "beef", 0700), 0);
	assert_int_equal(symlinkat("../../outside/debuginfo", directory->fd, "beef/debuginfo"), 0);
	assert_int_equal(mkdirat(directory->fd, "beef/executable", 0700), 0);
	assert_int_equal(mkfifoat(directory->fd, "beef/source", 0600), 0);
	assert_int_equal(debuginfod_cache_grow(&cache, 100), 0);
	debuginfod_cache_use(&cache, "abcd");
	debuginfod_cache_use(&cache, "beef");
	debuginfod_cache_use(&cache, "nothing");
	assert_true(is_there(directory, "../outside/debuginfo"));
	assert_true(is_there(directory, "beef/debuginfo"));
	assert_true(is_there(directory, "abcd"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_missing_directory_is_made_for_us_alone),
		TEST(a_directory_that_others_may_change_is_refused),
		TEST(what_was_used_least_recently_goes_first),
		TEST(below_the_limit_nothing_goes),
		TEST(it_stays_below_the_limit_however_much_comes),
		TEST(empty_answers_count_too),
		TEST(only_the_librarys_files_are_removed),
		TEST(symbolic_links_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
