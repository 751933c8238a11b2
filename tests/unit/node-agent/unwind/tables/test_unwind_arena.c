/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/unwind_arena.h"

#include "arena_fixture.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MAX_CHUNKS 4
#define MAX_BYTES ((size_t)MAX_CHUNKS * ARENA_CHUNK_BYTES)

struct fixture {
	struct arena_fixture maps;
	struct unwind_arena *arena;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	if (arena_fixture_open(&fixture->maps) < 0)
		return -1;
	return unwind_arena_new(fixture->maps.memory, MAX_BYTES, &fixture->arena);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unwind_arena_close(fixture->arena);
	arena_fixture_close(&fixture->maps);
	free(fixture);
	return 0;
}

static uint8_t pattern(uint32_t seed, size_t at)
{
	return (uint8_t)(seed * 31 + at * 7 + at / 251);
}

static uint32_t put(struct unwind_arena *arena, uint32_t seed, size_t len)
{
	_cleanup_free_ uint8_t *data = calloc(len, 1);
	uint32_t unit = 0;

	assert_non_null(data);
	for (size_t i = 0; i < len; i++)
		data[i] = pattern(seed, i);
	assert_int_equal(unwind_arena_put(arena, data, len, &unit), 0);
	assert_true(unit > TABLE_WITHOUT_CFI);
	return unit;
}

static void expect(const struct fixture *fixture, uint32_t unit, uint32_t seed, size_t len)
{
	_cleanup_free_ uint8_t *data = calloc(len, 1);

	assert_non_null(data);
	arena_fixture_read(&fixture->maps, unit, data, len);
	for (size_t i = 0; i < len; i++)
		if (data[i] != pattern(seed, i))
			assert_int_equal(data[i], pattern(seed, i));
}

static int try_put(struct unwind_arena *arena, size_t len, uint32_t *ret_unit)
{
	_cleanup_free_ uint8_t *data = calloc(len, 1);

	assert_non_null(data);
	return unwind_arena_put(arena, data, len, ret_unit);
}

static void what_was_put_is_read_through_the_map(void **state)
{
	static const size_t lengths[] = { 1, 63, 64, 65, 4000, 4096, 4097, 100000, 70 };
	struct fixture *fixture = *state;
	uint32_t units[array_len(lengths)];

	for (uint32_t i = 0; i < array_len(lengths); i++)
		units[i] = put(fixture->arena, i, lengths[i]);
	for (uint32_t i = 0; i < array_len(lengths); i++)
		expect(fixture, units[i], i, lengths[i]);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_chunks, 1);
}

static void a_new_arena_has_no_chunks(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_arena_stats stats = unwind_arena_get_stats(fixture->arena);

	assert_int_equal(stats.nr_chunks, 0);
	assert_int_equal(stats.nr_bytes_used, 0);
	unwind_arena_reclaim(fixture->arena);
}

static void what_was_put_may_span_chunks(void **state)
{
	struct fixture *fixture = *state;
	uint32_t small = put(fixture->arena, 1, ARENA_CHUNK_BYTES - 1000);
	uint32_t large = put(fixture->arena, 2, 2 * ARENA_CHUNK_BYTES + 12345);

	expect(fixture, small, 1, ARENA_CHUNK_BYTES - 1000);
	expect(fixture, large, 2, 2 * ARENA_CHUNK_BYTES + 12345);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_chunks, MAX_CHUNKS);
}

static void what_cannot_fit_is_refused_without_growth(void **state)
{
	struct fixture *fixture = *state;
	uint32_t unit = 77;

	assert_int_equal(try_put(fixture->arena, MAX_BYTES, &unit), -ENOSPC);
	assert_int_equal(try_put(fixture->arena, MAX_BYTES + 1, &unit), -ENOSPC);
	assert_int_equal(unit, 77);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_chunks, 0);
	put(fixture->arena, 3, MAX_BYTES - 2 * ARENA_UNIT);
	assert_int_equal(try_put(fixture->arena, 1, &unit), -ENOSPC);
}

static void what_was_freed_is_not_given_out_before_a_reclaim(void **state)
{
	struct fixture *fixture = *state;
	uint32_t unit = put(fixture->arena, 1, 3 * ARENA_CHUNK_BYTES);
	uint32_t other;

	unwind_arena_free(fixture->arena, unit, 3 * ARENA_CHUNK_BYTES);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_used, 0);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_freed,
			 3 * ARENA_CHUNK_BYTES);
	expect(fixture, unit, 1, 3 * ARENA_CHUNK_BYTES);
	assert_int_equal(try_put(fixture->arena, 2 * ARENA_CHUNK_BYTES, &other), -ENOSPC);
	other = put(fixture->arena, 2, 1000);
	assert_true(other >= unit + 3 * ARENA_CHUNK_BYTES / ARENA_UNIT);
	expect(fixture, unit, 1, 3 * ARENA_CHUNK_BYTES);

	unwind_arena_reclaim(fixture->arena);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_freed, 0);
	assert_int_equal(put(fixture->arena, 4, 2 * ARENA_CHUNK_BYTES), unit);
	expect(fixture, other, 2, 1000);
}

static void a_reclaim_frees_all_of_many(void **state)
{
	struct fixture *fixture = *state;
	uint32_t units[1000];

	for (uint32_t i = 0; i < array_len(units); i++)
		units[i] = put(fixture->arena, i, 1 + i % 300);
	for (uint32_t i = 0; i < array_len(units); i++)
		expect(fixture, units[i], i, 1 + i % 300);
	for (uint32_t i = 0; i < array_len(units); i++)
		unwind_arena_free(fixture->arena, units[(i * 7) % array_len(units)],
				  1 + (i * 7) % array_len(units) % 300);
	unwind_arena_reclaim(fixture->arena);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_used, 0);
	put(fixture->arena, 3, MAX_BYTES - 2 * ARENA_UNIT);
}

static void four_bytes_are_overwritten_and_no_others(void **state)
{
	struct fixture *fixture = *state;
	uint32_t before = put(fixture->arena, 1, 64);
	uint32_t unit = put(fixture->arena, 2, 64);
	uint8_t bytes[64];
	uint32_t value;

	unwind_arena_set_u32(fixture->arena, unit, 0xdeadbeef);
	arena_fixture_read(&fixture->maps, unit, bytes, sizeof(bytes));
	memcpy(&value, bytes, sizeof(value));
	assert_int_equal(value, 0xdeadbeef);
	for (size_t i = sizeof(value); i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], pattern(2, i));
	expect(fixture, before, 1, 64);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_write_failures, 0);
}

static size_t count_lines_of_maps(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t nr_lines = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		nr_lines += strstr(line, name) != NULL;
	fclose(maps);
	return nr_lines;
}

static void nothing_stays_mapped(void **state)
{
	struct fixture *fixture = *state;
	size_t nr_before = count_lines_of_maps("bpf-map");
	uint32_t unit = put(fixture->arena, 1, 2 * ARENA_CHUNK_BYTES);

	unwind_arena_set_u32(fixture->arena, unit, 1);
	assert_int_equal(count_lines_of_maps("bpf-map"), nr_before);
}

static void an_arena_is_never_smaller_than_a_chunk(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(unwind_arena_closep) struct unwind_arena *arena = NULL;
	uint32_t unit;

	assert_int_equal(unwind_arena_new(fixture->maps.memory, 0, &arena), 0);
	put(arena, 1, ARENA_CHUNK_BYTES - 2 * ARENA_UNIT);
	assert_int_equal(try_put(arena, 1, &unit), -ENOSPC);
}

static void chunks_are_taken_from_the_pool(void **state)
{
	struct fixture *fixture = *state;
	struct memory_pool pool = { .max_bytes = 2 * ARENA_CHUNK_BYTES + 1 };
	uint32_t unit;

	fixture->maps.memory->pool = &pool;
	put(fixture->arena, 1, ARENA_CHUNK_BYTES / 2);
	assert_int_equal(memory_pool_room(&pool), ARENA_CHUNK_BYTES + 1);
	put(fixture->arena, 2, ARENA_CHUNK_BYTES);
	assert_int_equal(memory_pool_room(&pool), 1);
	assert_int_equal(try_put(fixture->arena, ARENA_CHUNK_BYTES, &unit), -ENOSPC);
	pool.max_bytes += ARENA_CHUNK_BYTES;
	assert_int_equal(try_put(fixture->arena, ARENA_CHUNK_BYTES, &unit), 0);
	unwind_arena_close(take_ptr(fixture->arena));
	arena_fixture_close(&fixture->maps);
	assert_int_equal(memory_pool_room(&pool), 3 * ARENA_CHUNK_BYTES + 1);
	assert_int_equal(arena_fixture_open(&fixture->maps), 0);
}

#define NR_TURNS 200

static void *put_and_free(void *data)
{
	struct fixture *fixture = data;

	for (uint32_t i = 0; i < NR_TURNS; i++) {
		size_t len = 1 + i * 37 % 9000;
		uint32_t unit = put(fixture->arena, i, len);

		expect(fixture, unit, i, len);
		unwind_arena_free(fixture->arena, unit, len);
		if (i % 20 == 0)
			unwind_arena_reclaim(fixture->arena);
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[3];

	for (size_t i = 0; i < array_len(threads); i++)
		assert_int_equal(
			thread_start("arena", UINT64_MAX, put_and_free, *state, &threads[i]), 0);
	for (size_t i = 0; i < array_len(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	unwind_arena_reclaim(((struct fixture *)*state)->arena);
	assert_int_equal(unwind_arena_get_stats(((struct fixture *)*state)->arena).nr_bytes_used,
			 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_arena_has_no_chunks),
		TEST(what_was_put_is_read_through_the_map),
		TEST(what_was_put_may_span_chunks),
		TEST(what_cannot_fit_is_refused_without_growth),
		TEST(what_was_freed_is_not_given_out_before_a_reclaim),
		TEST(a_reclaim_frees_all_of_many),
		TEST(four_bytes_are_overwritten_and_no_others),
		TEST(nothing_stays_mapped),
		TEST(an_arena_is_never_smaller_than_a_chunk),
		TEST(chunks_are_taken_from_the_pool),
		TEST(threads_do_not_disturb_each_other),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
