/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "unit.h"

#include <stdalign.h>
#include <string.h>

static void memory_is_aligned_for_any_type(void **state)
{
	(void)state;
	_cleanup_(arena_done) struct arena arena = { 0 };

	for (size_t len = 0; len < 200; len++) {
		unsigned char *memory = arena_alloc(&arena, len);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
		memset(memory, 0xaa, len);
		assert_non_null(arena_strndup(&arena, "odd", len % 4));
	}
}

static void pieces_do_not_overlap(void **state)
{
	unsigned char *pieces[500];
	(void)state;
	_cleanup_(arena_done) struct arena arena = { 0 };

	for (size_t i = 0; i < 500; i++) {
		pieces[i] = arena_alloc(&arena, i + 1);
		assert_non_null(pieces[i]);
		memset(pieces[i], (int)(i & 0xff), i + 1);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t byte = 0; byte <= i; byte++)
			assert_int_equal(pieces[i][byte], i & 0xff);
}

static void strings_are_copied_by_length_and_terminated(void **state)
{
	(void)state;
	_cleanup_(arena_done) struct arena arena = { 0 };

	assert_string_equal(arena_strndup(&arena, "container", 7), "contain");
	assert_string_equal(arena_strndup(&arena, "", 0), "");
}

static void a_request_larger_than_a_chunk_is_served(void **state)
{
	const size_t len = 1 << 20;
	(void)state;
	_cleanup_(arena_done) struct arena arena = { 0 };

	unsigned char *memory = arena_alloc(&arena, len);
	assert_non_null(memory);
	memset(memory, 1, len);
	assert_true(arena.nr_bytes >= len);
}

static void a_limit_below_one_chunk_still_gives_memory(void **state)
{
	(void)state;
	_cleanup_(arena_done) struct arena arena = { .max_bytes = 4096 };

	assert_non_null(arena_alloc(&arena, 2000));
	assert_true(arena.nr_bytes <= 4096);
}

static void memory_held_never_exceeds_the_limit(void **state)
{
	const size_t max = (size_t)300 * 1024;
	size_t nr = 0;
	(void)state;
	_cleanup_(arena_done) struct arena arena = { .max_bytes = max };

	while (arena_alloc(&arena, 1000))
		nr++;
	assert_true(arena.is_full);
	assert_true(arena.nr_bytes <= max);
	assert_in_range(nr, 280, 307);
}

static void absurd_lengths_are_refused(void **state)
{
	static const size_t lengths[] = { SIZE_MAX, SIZE_MAX - 64, SIZE_MAX / 2 + 1 };
	(void)state;
	_cleanup_(arena_done) struct arena arena = { .max_bytes = 1 << 20 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_null(arena_alloc(&arena, lengths[i]));
		assert_int_equal(arena_error(&arena), -ENOSPC);
	}
	assert_non_null(arena_alloc(&arena, 1));
}

static void an_absurd_length_without_a_limit_is_no_memory(void **state)
{
	(void)state;
	_cleanup_(arena_done) struct arena arena = { 0 };

	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_int_equal(arena_error(&arena), -ENOMEM);
}

static void an_arena_can_be_used_again_after_done(void **state)
{
	(void)state;
	_cleanup_(arena_done) struct arena arena = { .max_bytes = 100000 };

	assert_non_null(arena_alloc(&arena, 90000));
	assert_null(arena_alloc(&arena, 90000));
	arena_done(&arena);
	assert_int_equal(arena.nr_bytes, 0);
	assert_non_null(arena_alloc(&arena, 90000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_for_any_type),
		cmocka_unit_test(pieces_do_not_overlap),
		cmocka_unit_test(strings_are_copied_by_length_and_terminated),
		cmocka_unit_test(a_request_larger_than_a_chunk_is_served),
		cmocka_unit_test(a_limit_below_one_chunk_still_gives_memory),
		cmocka_unit_test(memory_held_never_exceeds_the_limit),
		cmocka_unit_test(absurd_lengths_are_refused),
		cmocka_unit_test(an_absurd_length_without_a_limit_is_no_memory),
		cmocka_unit_test(an_arena_can_be_used_again_after_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
