/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/row_seed.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remove_tree.h"
#include "unit.h"

struct fixture {
	char dir[64];
	char path[96];
	int dir_fd;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/row_seed.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	snprintf(fixture->path, sizeof(fixture->path), "%s/hash-seed", fixture->dir);
	fixture->dir_fd = open(fixture->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = fixture;
	return fixture->dir_fd < 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->dir_fd);
	remove_tree(fixture->dir);
	test_free(fixture);
	return 0;
}

static uint64_t load(const struct fixture *fixture)
{
	uint64_t seed = 0;

	assert_int_equal(row_seed_load(fixture->dir_fd, &seed), 0);
	return seed;
}

static void a_seed_stays_the_same(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = load(fixture);
	struct stat st;

	assert_int_equal(load(fixture), seed);
	assert_int_equal(stat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_not_equal(load(fixture), seed);
}

static void a_seed_that_others_may_know_is_made_anew(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = load(fixture);

	assert_int_equal(chmod(fixture->path, 0640), 0);
	uint64_t next = load(fixture);
	assert_int_not_equal(next, seed);
	assert_int_equal(load(fixture), next);
	assert_int_equal(truncate(fixture->path, 7), 0);
	assert_int_not_equal(load(fixture), next);
}

static void what_is_no_file_is_replaced(void **state)
{
	struct fixture *fixture = *state;
	char target[128];

	snprintf(target, sizeof(target), "%s/other", fixture->dir);
	assert_int_equal(file_write_atomic(target, "12345678", 8), 0);
	assert_int_equal(symlink(target, fixture->path), 0);
	uint64_t seed = load(fixture);
	assert_int_equal(load(fixture), seed);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	seed = load(fixture);
	assert_int_equal(load(fixture), seed);
}

static void a_seed_that_cannot_be_kept_is_good_for_once(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkdir(fixture->path, 0700), 0);
	uint64_t seed = load(fixture);
	assert_int_not_equal(load(fixture), seed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_seed_stays_the_same),
		TEST(a_seed_that_others_may_know_is_made_anew),
		TEST(what_is_no_file_is_replaced),
		TEST(a_seed_that_cannot_be_kept_is_good_for_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
