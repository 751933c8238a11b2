/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/sampled_set.h"

#include "unit.h"

#include <pthread.h>
#include <stdint.h>

#define NR_THREADS 4
#define NR_OWN 2000

static const void *pointer(uint64_t number)
{
	return (const void *)(uintptr_t)(0x7f0000000000 + number * 16); /* NOLINT */
}

static int clear(void **state)
{
	(void)state;
	sampled_set_clear();
	return 0;
}

static void what_was_added_is_removed_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(sampled_set_add(pointer(i)));
	assert_int_equal(sampled_set_count, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(sampled_set_remove(pointer(i)));
		assert_false(sampled_set_remove(pointer(i)));
	}
	assert_int_equal(sampled_set_count, 0);
}

static void what_was_not_added_is_not_there(void **state)
{
	(void)state;
	assert_true(sampled_set_add(pointer(0)));
	for (uint64_t i = 1; i < 100000; i++)
		assert_false(sampled_set_remove(pointer(i)));
	assert_false(sampled_set_remove(NULL));
	assert_int_equal(sampled_set_count, 1);
}

static void adding_twice_is_adding_once(void **state)
{
	(void)state;
	assert_true(sampled_set_add(pointer(7)));
	assert_true(sampled_set_add(pointer(7)));
	assert_int_equal(sampled_set_count, 1);
	assert_true(sampled_set_remove(pointer(7)));
	assert_false(sampled_set_remove(pointer(7)));
}

static void a_full_set_refuses(void **state)
{
	uint64_t nr_added = 0;
	(void)state;

	for (uint64_t i = 0; i < 4 * SAMPLED_SET_MAX; i++)
		nr_added += sampled_set_add(pointer(i));
	assert_in_range(nr_added, SAMPLED_SET_MAX / 2, SAMPLED_SET_MAX);
	assert_int_equal(sampled_set_count, nr_added);
	sampled_set_clear();
	assert_int_equal(sampled_set_count, 0);
	assert_true(sampled_set_add(pointer(1)));
}

static void *use(void *data)
{
	uint64_t first = (uint64_t)(uintptr_t)data * NR_OWN;
	uint64_t nr_lost = 0;

	for (int turn = 0; turn < 100; turn++) {
		for (uint64_t i = first; i < first + NR_OWN; i++)
			nr_lost += !sampled_set_add(pointer(i));
		for (uint64_t i = first; i < first + NR_OWN; i++)
			nr_lost += !sampled_set_remove(pointer(i));
	}
	return (void *)(uintptr_t)nr_lost; /* NOLINT */
}

static void threads_find_what_is_theirs(void **state)
{
	pthread_t threads[NR_THREADS];
	void *nr_lost;
	(void)state;

	for (uintptr_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, (void *)i), 0); /* NOLINT */
	for (size_t i = 0; i < NR_THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &nr_lost), 0);
		assert_null(nr_lost);
	}
	assert_int_equal(sampled_set_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_added_is_removed_once, clear),
		cmocka_unit_test_setup(what_was_not_added_is_not_there, clear),
		cmocka_unit_test_setup(adding_twice_is_adding_once, clear),
		cmocka_unit_test_setup(a_full_set_refuses, clear),
		cmocka_unit_test_setup(threads_find_what_is_theirs, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
