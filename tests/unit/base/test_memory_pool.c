/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_pool.h"

#include "unit.h"

#include <pthread.h>

#define NR_TURNS 100000

static void what_is_taken_never_exceeds_the_bound(void **state)
{
	struct memory_pool pool = { .max_bytes = 100 };
	(void)state;

	assert_int_equal(memory_pool_take(&pool, 60), 0);
	assert_int_equal(memory_pool_take(&pool, 41), -ENOSPC);
	assert_int_equal(memory_pool_room(&pool), 40);
	assert_int_equal(memory_pool_take(&pool, UINT64_MAX), -ENOSPC);
	assert_int_equal(memory_pool_take(&pool, 40), 0);
	assert_int_equal(memory_pool_take(&pool, 1), -ENOSPC);
	assert_int_equal(memory_pool_take(&pool, 0), 0);
	assert_int_equal(memory_pool_room(&pool), 0);
}

static void what_is_given_back_can_be_taken_again(void **state)
{
	struct memory_pool pool = { .max_bytes = 100 };
	(void)state;

	assert_int_equal(memory_pool_take(&pool, 100), 0);
	memory_pool_give(&pool, 30);
	assert_int_equal(memory_pool_room(&pool), 30);
	assert_int_equal(memory_pool_take(&pool, 30), 0);
}

static void none_is_a_pool_without_a_bound(void **state)
{
	(void)state;
	assert_int_equal(memory_pool_take(NULL, UINT64_MAX), 0);
	memory_pool_give(NULL, 1);
	assert_true(memory_pool_room(NULL) == UINT64_MAX);
}

static void *take_and_give(void *data)
{
	for (int i = 0; i < NR_TURNS; i++)
		if (memory_pool_take(data, 60) == 0)
			memory_pool_give(data, 60);
	return NULL;
}

static void threads_may_share_one(void **state)
{
	struct memory_pool pool = { .max_bytes = 100 };
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, take_and_give, &pool), 0);
	take_and_give(&pool);
	pthread_join(thread, NULL);
	assert_int_equal(memory_pool_room(&pool), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_never_exceeds_the_bound),
		cmocka_unit_test(what_is_given_back_can_be_taken_again),
		cmocka_unit_test(none_is_a_pool_without_a_bound),
		cmocka_unit_test(threads_may_share_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
