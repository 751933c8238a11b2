/* SPDX-License-Identifier: Apache-2.0 */
#include "process/kept_files.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NOW NSEC_PER_SEC

struct fixture {
	struct mapped_files files;
	struct kept_files kept;
	size_t nr_gone;
};

static void count_gone(struct mapped_file *file, void *data)
{
	struct fixture *fixture = data;

	(void)file;
	fixture->nr_gone++;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	fixture->files.watcher = (struct mapping_watcher){ count_gone, NULL, fixture };
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	kept_files_done(&fixture->kept, &fixture->files);
	assert_int_equal(fixture->files.nr_bytes, 0);
	mapped_files_done(&fixture->files);
	test_free(fixture);
	return 0;
}

static struct mapped_file *take(struct fixture *fixture, uint64_t inode)
{
	const struct mapped_file_key key = { .inode = inode, .path = "/f", .path_len = 2 };
	struct mapped_file *file;

	assert_int_equal(mapped_files_take(&fixture->files, &key, &file), 0);
	return file;
}

static void give_back(struct fixture *fixture, struct mapped_file *file)
{
	mapped_file_unref(&fixture->files, file);
}

/* Maps and keeps a file that nobody maps afterwards. */
static void keep(struct fixture *fixture, uint64_t inode, uint64_t now_ns)
{
	struct mapped_file *file = take(fixture, inode);
	int fd = -EBADF;

	assert_int_equal(kept_files_add(&fixture->kept, &fixture->files, file, &fd, now_ns), 0);
	give_back(fixture, file);
}

static void tidy(struct fixture *fixture, uint64_t now_ns)
{
	kept_files_tidy(&fixture->kept, &fixture->files, now_ns);
}

static int open_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void kept_file_is_the_same_when_it_is_mapped_again(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, 1, NOW);
	assert_int_equal(fixture->nr_gone, 0);
	struct mapped_file *file = take(fixture, 1);
	assert_int_equal(file->number, 1);
	assert_true(file->is_doubtful);
	give_back(fixture, file);
	assert_int_equal(fixture->kept.nr_files, 1);
}

static void file_that_was_mapped_all_the_time_is_not_doubtful(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *held = take(fixture, 1);

	keep(fixture, 1, NOW);
	assert_false(held->is_doubtful);
	give_back(fixture, held);
}

static void file_that_nobody_maps_goes_after_its_time(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, 1, NOW);
	tidy(fixture, NOW); /* it was mapped since the last time */
	tidy(fixture, NOW + KEPT_FILES_NS - 1);
	assert_int_equal(fixture->nr_gone, 0);
	tidy(fixture, NOW + KEPT_FILES_NS);
	assert_int_equal(fixture->nr_gone, 1);
	assert_int_equal(fixture->kept.nr_files, 0);
}

static void file_that_is_mapped_again_stays(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, 1, NOW);
	tidy(fixture, NOW);
	give_back(fixture, take(fixture, 1));
	tidy(fixture, NOW + KEPT_FILES_NS);
	assert_int_equal(fixture->nr_gone, 0);
	struct mapped_file *held = take(fixture, 1);
	tidy(fixture, NOW + 2 * KEPT_FILES_NS);
	tidy(fixture, NOW + 3 * KEPT_FILES_NS);
	assert_int_equal(fixture->nr_gone, 0);
	give_back(fixture, held);
}

static void what_was_not_mapped_for_long_makes_room(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 1; i <= KEPT_FILES_MAX; i++)
		keep(fixture, i, NOW);
	tidy(fixture, NOW);
	give_back(fixture, take(fixture, 1));
	keep(fixture, KEPT_FILES_MAX + 1, NOW + 1);
	assert_int_equal(fixture->nr_gone, 1);
	assert_int_equal(fixture->kept.nr_files, KEPT_FILES_MAX);
	struct mapped_file *file = take(fixture, 1);
	assert_int_equal(file->number, 1);
	give_back(fixture, file);
	file = take(fixture, 2);
	assert_true(file->number > KEPT_FILES_MAX);
	give_back(fixture, file);
}

static void there_is_room_even_if_all_are_mapped(void **state)
{
	struct mapped_file *held[KEPT_FILES_MAX + 1];
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < KEPT_FILES_MAX + 1; i++) {
		held[i] = take(fixture, i + 1);
		keep(fixture, i + 1, NOW);
	}
	assert_int_equal(fixture->kept.nr_files, KEPT_FILES_MAX);
	assert_int_equal(fixture->nr_gone, 0);
	for (uint64_t i = 0; i < KEPT_FILES_MAX + 1; i++)
		give_back(fixture, held[i]);
	assert_int_equal(fixture->nr_gone, 1);
}

static void file_stays_open_for_a_while(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file = take(fixture, 1);
	int fd = open_null(), first = fd;

	assert_int_equal(kept_files_take_fd(&fixture->kept, file), -EBADF);
	assert_int_equal(kept_files_add(&fixture->kept, &fixture->files, file, &fd, NOW), 0);
	assert_int_equal(fd, -EBADF);
	fd = kept_files_take_fd(&fixture->kept, file);
	assert_int_equal(fd, first);
	assert_int_equal(kept_files_take_fd(&fixture->kept, file), -EBADF);

	assert_int_equal(kept_files_add(&fixture->kept, &fixture->files, file, &fd, NOW), 0);
	assert_int_equal(fixture->kept.nr_open, 1);
	tidy(fixture, NOW + KEPT_FILES_OPEN_NS);
	assert_int_equal(fixture->kept.nr_open, 0);
	assert_int_equal(fcntl(first, F_GETFD), -1);
	give_back(fixture, file);
}

static void files_that_are_open_are_bounded(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 1; i <= KEPT_FILES_MAX_OPEN + 1; i++) {
		struct mapped_file *file = take(fixture, i);
		int fd = open_null();

		assert_int_equal(kept_files_add(&fixture->kept, &fixture->files, file, &fd, NOW),
				 0);
		give_back(fixture, file);
	}
	assert_int_equal(fixture->kept.nr_open, KEPT_FILES_MAX_OPEN);
}

static void file_that_was_changed_is_another_one(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file = take(fixture, 1), *renewed;

	file->slot = 7;
	assert_int_equal(mapped_files_renew(&fixture->files, file, &renewed), 0);
	assert_ptr_not_equal(file, renewed);
	assert_int_equal(renewed->slot, 0);
	struct mapped_file *again = take(fixture, 1);
	assert_ptr_equal(again, renewed);
	give_back(fixture, again);
	give_back(fixture, renewed);
	give_back(fixture, file);
	assert_int_equal(fixture->nr_gone, 2);
}

static void file_is_let_go(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file = take(fixture, 1);

	kept_files_remove(&fixture->kept, &fixture->files, file);
	keep(fixture, 1, NOW);
	kept_files_remove(&fixture->kept, &fixture->files, file);
	assert_int_equal(fixture->kept.nr_files, 0);
	give_back(fixture, file);
	assert_int_equal(fixture->nr_gone, 1);
}

#define KEPT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_TEST(kept_file_is_the_same_when_it_is_mapped_again),
		KEPT_TEST(file_that_was_mapped_all_the_time_is_not_doubtful),
		KEPT_TEST(file_that_nobody_maps_goes_after_its_time),
		KEPT_TEST(file_that_is_mapped_again_stays),
		KEPT_TEST(what_was_not_mapped_for_long_makes_room),
		KEPT_TEST(there_is_room_even_if_all_are_mapped),
		KEPT_TEST(file_stays_open_for_a_while),
		KEPT_TEST(files_that_are_open_are_bounded),
		KEPT_TEST(file_that_was_changed_is_another_one),
		KEPT_TEST(file_is_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
