/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/table_queue.h"

#include "base/cleanup.h"

#include <fcntl.h>

#include "unit.h"

static int open_any(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void add(struct table_queue *queue, uint32_t slot, uint64_t nr_wanted)
{
	int fd = open_any();

	assert_int_equal(table_queue_add(queue, slot, nr_wanted, &fd), 0);
	assert_int_equal(fd, -EBADF);
}

static void expect_next(struct table_queue *queue, uint32_t slot)
{
	struct waiting_file file = { .fd = -EBADF };

	assert_true(table_queue_next(queue, &file));
	assert_int_equal(file.slot, slot);
	assert_int_equal(close(file.fd), 0);
}

static void first_come_first_served(void **state)
{
	static struct table_queue queue;
	struct waiting_file file;
	(void)state;

	for (uint32_t slot = 1; slot < 5; slot++)
		add(&queue, slot, 0);
	for (uint32_t slot = 1; slot < 5; slot++)
		expect_next(&queue, slot);
	assert_false(table_queue_next(&queue, &file));
}

static void the_most_wanted_comes_first(void **state)
{
	static struct table_queue queue;
	(void)state;

	for (uint32_t slot = 1; slot < 5; slot++)
		add(&queue, slot, 0);
	table_queue_want(&queue, 3);
	table_queue_want(&queue, 4);
	table_queue_want(&queue, 4);
	table_queue_want(&queue, 77);
	add(&queue, 5, UINT64_MAX);
	table_queue_want(&queue, 5);
	expect_next(&queue, 5);
	expect_next(&queue, 4);
	expect_next(&queue, 3);
	expect_next(&queue, 1);
	expect_next(&queue, 2);
}

static void what_is_removed_is_closed(void **state)
{
	static struct table_queue queue;
	(void)state;

	add(&queue, 1, 0);
	add(&queue, 2, 0);
	int fd = queue.files[0].fd;
	table_queue_remove(&queue, 1);
	table_queue_remove(&queue, 1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	expect_next(&queue, 2);
}

static void a_full_queue_refuses(void **state)
{
	static struct table_queue queue;
	_cleanup_close_ int last = open_any();
	int expected = last;
	(void)state;

	while (queue.nr_files < TABLE_QUEUE_MAX) {
		int fd = -EBADF;

		assert_int_equal(table_queue_add(&queue, 7, 0, &fd), 0);
	}
	assert_int_equal(table_queue_add(&queue, 8, 0, &last), -ENOSPC);
	assert_int_equal(last, expected);
	assert_int_equal(queue.nr_files, TABLE_QUEUE_MAX);
}

static void what_still_waits_is_closed_at_the_end(void **state)
{
	static struct table_queue queue;
	(void)state;

	add(&queue, 1, 0);
	int fd = queue.files[0].fd;
	table_queue_done(&queue);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(queue.nr_files, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_come_first_served),
		cmocka_unit_test(the_most_wanted_comes_first),
		cmocka_unit_test(what_is_removed_is_closed),
		cmocka_unit_test(a_full_queue_refuses),
		cmocka_unit_test(what_still_waits_is_closed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
