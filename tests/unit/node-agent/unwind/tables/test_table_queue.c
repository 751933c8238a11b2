/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_queue.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <fcntl.h>

#include "unit.h"

static int open_any(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void add_file(struct table_queue *queue, struct waiting_file file)
{
	file.fd = open_any();
	assert_int_equal(table_queue_add(queue, &file), 0);
}

static void add(struct table_queue *queue, uint32_t slot, uint64_t nr_wanted)
{
	add_file(queue, (struct waiting_file){ .claim.slot = slot, .nr_wanted = nr_wanted });
}

/* The owner in `data` may not be read now. */
static int rank_unless(const struct waiting_file *file, void *data)
{
	const uint64_t *owner = data;

	return owner && file->owner == *owner ? -1 : 0;
}

static int rank_by_owner(const struct waiting_file *file, void *data)
{
	(void)data;
	return (int)file->owner;
}

static void expect_next(struct table_queue *queue, uint32_t slot)
{
	struct waiting_file file = { .fd = -EBADF };

	assert_true(table_queue_next(queue, rank_unless, NULL, &file));
	assert_int_equal(file.claim.slot, slot);
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
	assert_false(table_queue_next(&queue, rank_unless, NULL, &file));
}

static void what_may_not_be_read_now_stays_where_it_is(void **state)
{
	static struct table_queue queue;
	struct waiting_file file;
	uint64_t owner = 7;
	(void)state;

	add_file(&queue, (struct waiting_file){ .claim.slot = 1, .owner = 7, .nr_wanted = 9 });
	add_file(&queue, (struct waiting_file){ .claim.slot = 2, .owner = 8 });
	add_file(&queue, (struct waiting_file){ .claim.slot = 3, .owner = 8, .nr_wanted = 1 });
	assert_true(table_queue_next(&queue, rank_unless, &owner, &file));
	assert_int_equal(file.claim.slot, 3);
	close(file.fd);
	assert_true(table_queue_next(&queue, rank_unless, &owner, &file));
	assert_int_equal(file.claim.slot, 2);
	close(file.fd);
	assert_false(table_queue_next(&queue, rank_unless, &owner, &file));
	expect_next(&queue, 1);
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

static void the_best_rank_comes_first_however_much_others_are_wanted(void **state)
{
	static struct table_queue queue;
	static const uint32_t order[] = { 4, 2, 1, 3 };
	(void)state;

	add_file(&queue, (struct waiting_file){ .claim.slot = 1, .owner = 1 });
	add_file(&queue, (struct waiting_file){ .claim.slot = 2, .owner = 1, .nr_wanted = 1 });
	add_file(&queue,
		 (struct waiting_file){ .claim.slot = 3, .owner = 2, .nr_wanted = UINT64_MAX });
	add_file(&queue, (struct waiting_file){ .claim.slot = 4, .owner = 0 });
	for (size_t i = 0; i < array_len(order); i++) {
		struct waiting_file file = { .fd = -EBADF };

		assert_true(table_queue_next(&queue, rank_by_owner, NULL, &file));
		assert_int_equal(file.claim.slot, order[i]);
		close(file.fd);
	}
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
	const struct waiting_file file = { .claim.slot = 7, .fd = -EBADF };
	(void)state;

	while (queue.nr_files < TABLE_QUEUE_MAX)
		assert_int_equal(table_queue_add(&queue, &file), 0);
	assert_int_equal(table_queue_add(&queue, &file), -ENOSPC);
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
		cmocka_unit_test(what_may_not_be_read_now_stays_where_it_is),
		cmocka_unit_test(the_best_rank_comes_first_however_much_others_are_wanted),
		cmocka_unit_test(what_is_removed_is_closed),
		cmocka_unit_test(a_full_queue_refuses),
		cmocka_unit_test(what_still_waits_is_closed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
