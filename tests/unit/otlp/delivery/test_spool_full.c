/* SPDX-License-Identifier: Apache-2.0 */
/* Spools on file systems of their own that are full or read-only. Needs root. */
#include "spool_fixture.h"
#include "unit.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define BODY_BYTES 8000 /* in a file of two pages */
#define FILE_BYTES_AT_MOST (BODY_BYTES + 88 + 20)

static struct spool_stats stats_of(const struct spool_fixture *fixture)
{
	return spool_get_stats(fixture->spool);
}

/* The mounts are seen by this program only. */
static void mount_tmpfs(const struct spool_fixture *fixture, const char *options)
{
	if (unshare(CLONE_NEWNS) < 0) {
		print_message("SKIP: no mount namespace of our own: root is needed\n");
		skip();
	}
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_int_equal(mount("tmpfs", fixture->path, "tmpfs", 0, options), 0);
}

static int remount(const struct spool_fixture *fixture, unsigned long flags)
{
	return mount(NULL, fixture->path, NULL, MS_REMOUNT | flags, NULL);
}

static int teardown(void **state)
{
	struct spool_fixture *fixture = *state;

	spool_close(take_ptr(fixture->spool));
	umount2(fixture->path, MNT_DETACH);
	return spool_fixture_teardown(state);
}

static void append_many(struct spool_fixture *fixture, uint32_t from, uint32_t to)
{
	for (uint32_t number = from; number <= to; number++)
		spool_fixture_append(fixture, number, BODY_BYTES);
}

static void assert_holds(struct spool_fixture *fixture, uint32_t from, uint32_t to)
{
	for (uint32_t number = from; number <= to; number++) {
		spool_fixture_assert_first(fixture, number, BODY_BYTES);
		spool_pop(fixture->spool);
	}
	assert_null(spool_first(fixture->spool));
}

/* Room for eight files. */
static void what_a_full_disk_does_not_take_stays_in_memory(void **state)
{
	struct spool_fixture *fixture = *state;

	mount_tmpfs(fixture, "size=64k,mode=700");
	spool_fixture_open(fixture);
	append_many(fixture, 1, 12);
	assert_int_equal(spool_save(fixture->spool), -ENOSPC);
	assert_int_equal(spool_save(fixture->spool), -ENOSPC);
	assert_int_equal(stats_of(fixture).nr_write_failures, 2);
	assert_int_equal(stats_of(fixture).nr_requests, 12);
	assert_int_equal(stats_of(fixture).nr_samples_evicted, 0);
	assert_in_range(stats_of(fixture).nr_memory_bytes, 4 * BODY_BYTES, 4 * FILE_BYTES_AT_MOST);
	assert_int_equal(spool_fixture_count(fixture, ".spool"), 8);
	assert_int_equal(spool_fixture_count(fixture, "-temp"), 0);

	/* Delivered requests make room. */
	for (uint32_t number = 1; number <= 4; number++) {
		spool_fixture_assert_first(fixture, number, BODY_BYTES);
		spool_pop(fixture->spool);
	}
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(stats_of(fixture).nr_memory_bytes, 0);
	spool_fixture_open(fixture);
	assert_holds(fixture, 5, 12);
}

static void with_a_full_disk_memory_has_its_bound(void **state)
{
	struct spool_fixture *fixture = *state;

	mount_tmpfs(fixture, "size=64k,mode=700");
	fixture->opts.max_memory_bytes = 3 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	append_many(fixture, 1, 100);
	assert_int_equal(stats_of(fixture).nr_requests, 8 + 3);
	assert_true(stats_of(fixture).nr_memory_bytes <= fixture->opts.max_memory_bytes);
	assert_true(stats_of(fixture).nr_write_failures > 0);
	assert_int_equal(stats_of(fixture).nr_samples + stats_of(fixture).nr_samples_evicted,
			 100 * 101 / 2);
	assert_int_equal(spool_fixture_count(fixture, ""), 8);
	for (uint32_t number = 1; number <= 8; number++) {
		spool_fixture_assert_first(fixture, number, BODY_BYTES);
		spool_pop(fixture->spool);
	}
	assert_holds(fixture, 98, 100);
}

static void a_disk_without_inodes_is_full(void **state)
{
	struct spool_fixture *fixture = *state;

	/* One for the directory. */
	mount_tmpfs(fixture, "nr_inodes=3,mode=700");
	spool_fixture_open(fixture);
	append_many(fixture, 1, 4);
	assert_int_equal(spool_save(fixture->spool), -ENOSPC);
	assert_int_equal(spool_fixture_count(fixture, ""), 2);
	assert_holds(fixture, 1, 4);
}

static void a_read_only_directory_cannot_be_opened(void **state)
{
	struct spool_fixture *fixture = *state;

	mount_tmpfs(fixture, "size=64k,mode=700");
	assert_int_equal(remount(fixture, MS_RDONLY), 0);
	assert_int_equal(spool_open(&fixture->opts, &fixture->spool), -EROFS);
	assert_null(fixture->spool);
}

/* As the kernel does it after an error of the disk. */
static void a_directory_that_becomes_read_only_is_like_a_full_one(void **state)
{
	struct spool_fixture *fixture = *state;

	mount_tmpfs(fixture, "size=1m,mode=700");
	fixture->opts.max_memory_bytes = 3 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	append_many(fixture, 1, 4);
	assert_int_equal(stats_of(fixture).nr_memory_bytes, 0);
	assert_int_equal(remount(fixture, MS_RDONLY), 0);
	append_many(fixture, 5, 10);
	assert_int_equal(spool_save(fixture->spool), -EROFS);
	assert_int_equal(stats_of(fixture).nr_requests, 4 + 3);
	assert_int_equal(stats_of(fixture).nr_samples_evicted, 5 + 6 + 7);
	spool_rotate(fixture->spool);
	spool_fixture_assert_first(fixture, 2, BODY_BYTES);

	assert_int_equal(remount(fixture, 0), 0);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(spool_fixture_count(fixture, ""), 7);
	spool_fixture_assert_first(fixture, 2, BODY_BYTES);
}

static void a_directory_of_another_user_cannot_be_opened(void **state)
{
	struct spool_fixture *fixture = *state;
	int r;

	if (geteuid() != 0) {
		print_message("SKIP: root is needed to become another user\n");
		skip();
	}
	assert_int_equal(mkdir(fixture->path, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	r = spool_open(&fixture->opts, &fixture->spool);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EPERM);
}

#define test(name) cmocka_unit_test_setup_teardown(name, spool_fixture_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(what_a_full_disk_does_not_take_stays_in_memory),
		test(with_a_full_disk_memory_has_its_bound),
		test(a_disk_without_inodes_is_full),
		test(a_read_only_directory_cannot_be_opened),
		test(a_directory_that_becomes_read_only_is_like_a_full_one),
		test(a_directory_of_another_user_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
