/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/poisson.h"

#include "base/err.h"
#include "unit.h"

/* As heap.c does. */
static uint64_t pass(struct poisson *poisson, size_t size, uint64_t mean)
{
	if (size < poisson->left) {
		poisson->left -= size;
		return 0;
	}
	return poisson_pass(poisson, size, mean);
}

struct sums {
	uint64_t bytes, weighted, nr_samples;
};

static struct sums allocate(size_t size, uint64_t bytes, uint64_t mean)
{
	struct poisson poisson = { 0 };
	struct sums sums = { 0 };

	for (; sums.bytes < bytes; sums.bytes += size) {
		uint64_t weight = pass(&poisson, size, mean);

		sums.weighted += weight;
		sums.nr_samples += weight > 0;
	}
	return sums;
}

/* 100 thousand samples: a standard deviation is 0.3 %. */
static void sums_are_right_whatever_the_size(void **state)
{
	static const size_t sizes[] = { 4096, 100000, 524288, 5000000 };
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		struct sums sums = allocate(sizes[i], 100000 * POISSON_MEAN_BYTES,
					    POISSON_MEAN_BYTES);

		assert_in_range(sums.weighted, sums.bytes / 100 * 98, sums.bytes / 100 * 102);
	}
}

static void small_allocations_are_sampled_once_a_mean(void **state)
{
	struct sums sums = allocate(1024, UINT64_C(20000) << 16, 1 << 16);
	(void)state;

	assert_in_range(sums.nr_samples, 18000, 22000);
}

static void large_allocations_stand_for_themselves(void **state)
{
	struct poisson poisson = { 0 };
	(void)state;

	assert_int_equal(poisson_pass(&poisson, (size_t)1 << 40, 1024), UINT64_C(1) << 40);
	assert_int_equal(pass(&poisson, (size_t)1 << 40, 1024), UINT64_C(1) << 40);
}

static void nothing_is_sampled_of_nothing(void **state)
{
	struct poisson poisson = { 0 };
	(void)state;

	for (int i = 0; i < 1000; i++)
		assert_int_equal(pass(&poisson, 0, 1024), 0);
}

/* The weight is that of the mean by which the distance was drawn. */
static void sums_are_right_while_the_mean_changes(void **state)
{
	struct poisson poisson = { 0 };
	uint64_t bytes = 0, weighted = 0;
	(void)state;

	for (uint64_t i = 0; i < 5000000; i++) {
		weighted += pass(&poisson, 10000, UINT64_C(1) << (16 + i % 4));
		bytes += 10000;
	}
	assert_in_range(weighted, bytes / 100 * 98, bytes / 100 * 102);
}

static void copies_go_on_differently(void **state)
{
	struct poisson one = { 0 }, other;
	int nr_equal = 0;
	(void)state;

	(void)poisson_pass(&one, 1, POISSON_MEAN_BYTES);
	other = one;
	poisson_restart(&other);
	for (int i = 0; i < 100; i++) {
		(void)poisson_pass(&one, (size_t)1 << 30, POISSON_MEAN_BYTES);
		(void)poisson_pass(&other, (size_t)1 << 30, POISSON_MEAN_BYTES);
		nr_equal += one.left == other.left;
	}
	assert_in_range(nr_equal, 0, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right_whatever_the_size),
		cmocka_unit_test(small_allocations_are_sampled_once_a_mean),
		cmocka_unit_test(large_allocations_stand_for_themselves),
		cmocka_unit_test(nothing_is_sampled_of_nothing),
		cmocka_unit_test(sums_are_right_while_the_mean_changes),
		cmocka_unit_test(copies_go_on_differently),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
