/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_block.h"

#include "cpython_process.h"
#include "unit.h"

#define NR_THREADS 3
#define BLOCK_BYTES 1856 /* of glibc 2.36 */
#define VECTOR 0x2400 /* from a block on */
#define STATIC_BLOCK 0x20 /* from a thread pointer on */

struct fixture {
	struct cpython_process process;
	struct cpython_threads threads;
};

static void setup(struct fixture *fixture)
{
	uint64_t interpreter;

	cpython_process_init(&fixture->process);
	interpreter = cpython_process_start(&fixture->process);
	fixture->threads = (struct cpython_threads){ .nr = NR_THREADS };
	for (size_t i = 0; i < NR_THREADS; i++)
		fixture->threads.items[i].pointer = cpython_process_add_thread(&fixture->process,
									       interpreter);
}

/* Gives a thread the vector that a C library of arm64 gives it. */
static void put_vector(struct fixture *fixture, size_t thread, uint64_t distance, uint64_t block)
{
	uint64_t start = fixture->threads.items[thread].pointer;

	cpython_process_put(&fixture->process, start + distance, start + VECTOR);
	cpython_process_put(&fixture->process, start + VECTOR + 16, UINT64_MAX); /* not made yet */
	cpython_process_put(&fixture->process, start + VECTOR + 32, start + distance + block);
}

static void assert_bytes(struct fixture *fixture, uint32_t bytes)
{
	assert_int_equal(cpython_block_bytes(&fixture->process.memory, &fixture->threads), bytes);
	cpython_process_done(&fixture->process);
}

static void vector_ends_the_block(void **state)
{
	struct fixture fixture;
	(void)state;

	setup(&fixture);
	for (size_t i = 0; i < NR_THREADS; i++)
		put_vector(&fixture, i, BLOCK_BYTES, STATIC_BLOCK);
	assert_bytes(&fixture, BLOCK_BYTES);
}

static void distance_of_one_thread_is_none(void **state)
{
	struct fixture fixture;
	(void)state;

	setup(&fixture);
	put_vector(&fixture, NR_THREADS - 1, BLOCK_BYTES, STATIC_BLOCK);
	assert_bytes(&fixture, 0);
}

static void vector_with_blocks_elsewhere_is_none(void **state)
{
	static const uint64_t blocks[] = { 0, 8, 8193, (uint64_t)-64, UINT64_MAX / 2 };
	(void)state;

	for (size_t k = 0; k < array_len(blocks); k++) {
		struct fixture fixture;

		setup(&fixture);
		for (size_t i = 0; i < NR_THREADS; i++)
			put_vector(&fixture, i, BLOCK_BYTES, blocks[k]);
		assert_bytes(&fixture, 0);
	}
}

static void vector_too_near_or_too_far_is_none(void **state)
{
	static const uint64_t distances[] = { 496, 1848, 4096 };
	(void)state;

	for (size_t k = 0; k < array_len(distances); k++) {
		struct fixture fixture;

		setup(&fixture);
		for (size_t i = 0; i < NR_THREADS; i++)
			put_vector(&fixture, i, distances[k], STATIC_BLOCK);
		assert_bytes(&fixture, 0);
	}
}

static void thread_that_cannot_be_read_does_not_count(void **state)
{
	struct fixture fixture;
	(void)state;

	setup(&fixture);
	for (size_t i = 0; i < NR_THREADS; i++)
		put_vector(&fixture, i, BLOCK_BYTES, STATIC_BLOCK);
	fixture.threads.items[0].pointer = 1ULL << 40;
	assert_bytes(&fixture, BLOCK_BYTES);
}

static void no_thread_has_no_block(void **state)
{
	struct fixture fixture;
	(void)state;

	setup(&fixture);
	fixture.threads.nr = 0;
	assert_bytes(&fixture, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_ends_the_block),
		cmocka_unit_test(distance_of_one_thread_is_none),
		cmocka_unit_test(vector_with_blocks_elsewhere_is_none),
		cmocka_unit_test(vector_too_near_or_too_far_is_none),
		cmocka_unit_test(thread_that_cannot_be_read_does_not_count),
		cmocka_unit_test(no_thread_has_no_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
