/* SPDX-License-Identifier: Apache-2.0 */
/* The results of reading files, and which tables stay. */
#include "unwind/tables/table_thread.h"

#include "arena_fixture.h"
#include "slots_fixture.h"

#include <stdio.h>

#include "unit.h"

static void files_without_a_table_are_without_cfi(void **state)
{
	static const struct plan plans[] = {
		{ .key = 1, .nr_bytes = 10, .open_error = -ENODATA },
		{ .key = 2, .nr_bytes = 10, .build_error = -ENODATA },
		{ .key = 3, .nr_bytes = 10, .open_error = -EBADMSG },
		{ .key = 4, .nr_bytes = 10, .open_error = -ENOSPC },
		{ .key = 5, .nr_bytes = 10, .build_error = -ENOSPC },
		{ .key = 6, .nr_bytes = SIZE + 1 },
	};
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = SIZE });
	for (size_t i = 0; i < array_len(plans); i++) {
		uint32_t slot = slots_fixture_load(fixture, plans[i]);

		assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_WITHOUT_CFI);
		assert_false(table_slots_want(fixture->slots, slot));
	}
	struct table_slots_stats stats = slots_fixture_stats(fixture);
	assert_int_equal(stats.nr_without_cfi, 2);
	assert_int_equal(stats.nr_bad_files, 1);
	assert_int_equal(stats.nr_over_limit, 3);
	assert_int_equal(stats.nr_failures, 0);
}

static void a_file_that_could_not_be_read_is_asked_for_again(void **state)
{
	static const int errors[] = { -EIO, -ENOMEM, -ESTALE };
	struct slots_fixture *fixture = *state;
	struct plan good = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ .retry_ns = 1 });
	for (size_t i = 0; i < array_len(errors); i++) {
		struct plan plan = { .key = 1, .nr_bytes = SIZE, .open_error = errors[i] };
		uint32_t slot = slots_fixture_load(fixture, plan);

		assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_NOT_LOADED);
		assert_true(table_slots_want(fixture->slots, slot));
		slots_fixture_reopen(fixture, slot, good);
		slots_fixture_settle(fixture);
		slots_fixture_expect(fixture, slot, good);
	}
	assert_int_equal(slots_fixture_stats(fixture).nr_failures, array_len(errors));
}

static void a_file_is_not_asked_for_again_at_once(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE, .open_error = -EIO };

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = slots_fixture_load(fixture, plan);
	assert_false(table_slots_want(fixture->slots, slot));
	assert_false(table_slots_want(fixture->slots, slot));
}

static void the_table_that_was_used_longest_ago_is_evicted(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plans[] = {
		{ .key = 1, .nr_bytes = SIZE },
		{ .key = 2, .nr_bytes = SIZE },
		{ .key = 3, .nr_bytes = SIZE },
	};

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = slots_fixture_load(fixture, plans[0]);
	uint32_t second = slots_fixture_load(fixture, plans[1]);
	slots_fixture_use(fixture, second);
	slots_fixture_turn_clock(fixture, 3);
	slots_fixture_use(fixture, first);
	slots_fixture_turn_clock(fixture, 3);
	rows_standin_shut(true);
	uint32_t third = slots_fixture_add(fixture, plans[2]);
	slots_fixture_use(fixture, third);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);

	assert_int_equal(slots_fixture_unit(fixture, second), TABLE_NOT_LOADED);
	slots_fixture_expect(fixture, first, plans[0]);
	slots_fixture_expect(fixture, third, plans[2]);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 1);
	assert_int_equal(slots_fixture_stats(fixture).nr_tables, 3);
	assert_false(table_slots_want(fixture->slots, second));
}

static void all_slots_of_an_evicted_table_lose_it(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = SIZE + 5000 });
	uint32_t first = slots_fixture_load(fixture, plan);
	uint32_t second = slots_fixture_load(fixture, plan);
	uint32_t third = slots_fixture_load_needed(fixture,
						   (struct plan){ .key = 2, .nr_bytes = SIZE });
	assert_int_equal(slots_fixture_unit(fixture, first), TABLE_NOT_LOADED);
	assert_int_equal(slots_fixture_unit(fixture, second), TABLE_NOT_LOADED);
	assert_true(slots_fixture_unit(fixture, third) > TABLE_WITHOUT_CFI);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 1);
}

static void one_use_of_many_slots_keeps_a_table(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = SIZE + 5000 });
	slots_fixture_load(fixture, plan);
	slots_fixture_use(fixture, slots_fixture_load(fixture, plan));
	slots_fixture_turn_clock(fixture, 1);
	uint32_t refused = slots_fixture_load_needed(fixture,
						     (struct plan){ .key = 2, .nr_bytes = SIZE });
	assert_int_equal(slots_fixture_unit(fixture, refused), TABLE_NOT_LOADED);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 0);
}

static void an_evicted_table_is_read_again(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	slots_fixture_start(fixture,
			    (struct table_slots_opts){ .max_bytes = SIZE + 5000, .retry_ns = 1 });
	uint32_t first = slots_fixture_load(fixture, plan);
	uint32_t second = slots_fixture_load_needed(fixture,
						    (struct plan){ .key = 2, .nr_bytes = SIZE });
	slots_fixture_turn_clock(fixture, 2);
	slots_fixture_use(fixture, first);
	assert_true(table_slots_want(fixture->slots, first));
	slots_fixture_reopen(fixture, first, plan);
	slots_fixture_settle(fixture);
	slots_fixture_expect(fixture, first, plan);
	assert_int_equal(slots_fixture_unit(fixture, second), TABLE_NOT_LOADED);
}

static void tables_in_use_are_not_evicted(void **state)
{
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = slots_fixture_load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	slots_fixture_use(fixture, first);
	slots_fixture_turn_clock(fixture, 1);
	uint32_t second = slots_fixture_load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	slots_fixture_use(fixture, second);
	uint32_t third = slots_fixture_load_needed(fixture,
						   (struct plan){ .key = 3, .nr_bytes = SIZE });
	assert_int_equal(slots_fixture_unit(fixture, third), TABLE_NOT_LOADED);
	assert_true(slots_fixture_unit(fixture, first) > TABLE_WITHOUT_CFI);
	assert_true(slots_fixture_unit(fixture, second) > TABLE_WITHOUT_CFI);
	assert_int_equal(slots_fixture_stats(fixture).nr_refused, 1);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 0);
	assert_false(table_slots_want(fixture->slots, third));
}

static void nothing_is_evicted_when_it_would_not_do(void **state)
{
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = slots_fixture_load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	slots_fixture_use(fixture,
			  slots_fixture_load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE }));
	slots_fixture_load_needed(fixture, (struct plan){ .key = 3, .nr_bytes = SIZE + SIZE / 2 });
	assert_true(slots_fixture_unit(fixture, first) > TABLE_WITHOUT_CFI);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 0);
	assert_int_equal(slots_fixture_stats(fixture).nr_refused, 1);
}

static void a_file_that_nobody_needs_evicts_none_and_can_be_had_at_once(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 3, .nr_bytes = SIZE };

	slots_fixture_start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	slots_fixture_load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	slots_fixture_load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	uint32_t slot = slots_fixture_load(fixture, plan);
	assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_NOT_LOADED);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 0);
	slots_fixture_use(fixture, slot);
	assert_true(table_slots_want(fixture->slots, slot));
	assert_false(table_slots_want(fixture->slots, slot));
	slots_fixture_reopen(fixture, slot, plan);
	slots_fixture_settle(fixture);
	slots_fixture_expect(fixture, slot, plan);
	assert_int_equal(slots_fixture_stats(fixture).nr_evicted, 1);
}

static void a_full_arena_evicts_too(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 2, .nr_bytes = 600000 };

	slots_fixture_start_with(fixture, (struct table_slots_opts){ 0 }, ARENA_CHUNK_BYTES);
	uint32_t first = slots_fixture_load(fixture, (struct plan){ .key = 1, .nr_bytes = 600000 });
	uint32_t second = slots_fixture_load_needed(fixture, plan);
	assert_int_equal(slots_fixture_unit(fixture, first), TABLE_NOT_LOADED);
	slots_fixture_expect(fixture, second, plan);
}

static void an_arena_full_of_other_things_refuses(void **state)
{
	_cleanup_free_ uint8_t *list = calloc(800000, 1);
	struct slots_fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = 600000 };
	uint32_t unit;

	assert_non_null(list);
	slots_fixture_start_with(fixture, (struct table_slots_opts){ .retry_ns = 1 },
				 ARENA_CHUNK_BYTES);
	slots_fixture_settle(fixture);
	assert_int_equal(unwind_arena_put(fixture->arena, list, 800000, &unit), 0);
	uint32_t slot = slots_fixture_load_needed(fixture, plan);
	assert_int_equal(slots_fixture_unit(fixture, slot), TABLE_NOT_LOADED);
	assert_int_equal(slots_fixture_stats(fixture).nr_refused, 1);
	unwind_arena_free(fixture->arena, unit, 800000);
	assert_true(table_slots_want(fixture->slots, slot));
	slots_fixture_reopen(fixture, slot, plan);
	slots_fixture_settle(fixture);
	slots_fixture_expect(fixture, slot, plan);
}

static void a_table_may_come_from_the_cache(void **state)
{
	struct slots_fixture *fixture = *state;
	struct plan cached = { .key = 1, .nr_bytes = SIZE };
	struct plan missing = { .key = 2, .nr_bytes = SIZE };
	int any;

	rows_standin_cache(&cached);
	fixture->cache = (struct row_cache *)&any;
	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	slots_fixture_expect(fixture, slots_fixture_load(fixture, cached), cached);
	assert_int_equal(rows_standin_nr_cached(), 1);
	slots_fixture_expect(fixture, slots_fixture_load(fixture, missing), missing);
	assert_int_equal(rows_standin_nr_cached(), 2);
	assert_int_equal(rows_standin_nr_built(), 2);
	assert_int_equal(slots_fixture_stats(fixture).nr_built, 2);
}

static void the_clock_ticks_and_the_vdso_is_always_in_use(void **state)
{
	struct slots_fixture *fixture = *state;

	slots_fixture_start(fixture, (struct table_slots_opts){ .clock_ns = 1 });
	uint32_t before = slots_fixture_clock(fixture);
	assert_true(before > 1);
	for (int i = 0; i < 500 && slots_fixture_clock(fixture) < before + 2; i++)
		usleep(10000);
	assert_true(slots_fixture_clock(fixture) >= before + 2);
	uint32_t vdso = table_slots_vdso(fixture->slots);
	uint32_t used = __atomic_load_n(&fixture->shared[vdso].used, __ATOMIC_RELAXED);
	assert_true(slots_fixture_clock(fixture) - used <= 1);
}

static void what_is_freed_is_reclaimed(void **state)
{
	struct slots_fixture *fixture = *state;
	uint8_t list[100] = { 0 };
	uint32_t unit;

	slots_fixture_start(fixture, (struct table_slots_opts){ 0 });
	assert_int_equal(unwind_arena_put(fixture->arena, list, sizeof(list), &unit), 0);
	unwind_arena_free(fixture->arena, unit, sizeof(list));
	for (int i = 0; i < 500 && unwind_arena_get_stats(fixture->arena).nr_bytes_freed > 0; i++)
		usleep(10000);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_freed, 0);
}

/* As a reader would on a busy node: little room, many files, in no order. */
static void any_order_of_calls_leaves_things_in_order(void **state)
{
	struct slots_fixture *fixture = *state;
	uint32_t slots[50] = { 0 };
	uint64_t random = 1;

	slots_fixture_start_with(fixture,
				 (struct table_slots_opts){ .max_bytes = 600000, .retry_ns = 1 },
				 ARENA_CHUNK_BYTES);
	for (int i = 0; i < 3000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		size_t at = (random >> 33) % array_len(slots);
		struct plan plan = { .key = 1 + at % 30, .nr_bytes = 40 + (uint32_t)at * 3000 };

		if (slots[at] == 0) {
			slots[at] = slots_fixture_add(fixture, plan);
		} else if (random >> 62 == 0) {
			table_slots_remove(fixture->slots, slots[at]);
			slots[at] = 0;
		} else {
			slots_fixture_use(fixture, slots[at]);
			if (table_slots_want(fixture->slots, slots[at]))
				slots_fixture_reopen(fixture, slots[at], plan);
		}
		if (i % 20 == 0)
			slots_fixture_turn_clock(fixture, 1);
		if (i % 50 == 0)
			slots_fixture_settle(fixture);
	}
	slots_fixture_settle(fixture);
	struct table_slots_stats stats = slots_fixture_stats(fixture);
	assert_true(stats.nr_bytes <= 600000);
	assert_true(stats.nr_evicted > 0);
	assert_int_equal(stats.nr_failures, 0);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, slots_fixture_set_up, slots_fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_without_a_table_are_without_cfi),
		TEST(a_file_that_could_not_be_read_is_asked_for_again),
		TEST(a_file_is_not_asked_for_again_at_once),
		TEST(the_table_that_was_used_longest_ago_is_evicted),
		TEST(all_slots_of_an_evicted_table_lose_it),
		TEST(one_use_of_many_slots_keeps_a_table),
		TEST(an_evicted_table_is_read_again),
		TEST(tables_in_use_are_not_evicted),
		TEST(nothing_is_evicted_when_it_would_not_do),
		TEST(a_file_that_nobody_needs_evicts_none_and_can_be_had_at_once),
		TEST(a_full_arena_evicts_too),
		TEST(an_arena_full_of_other_things_refuses),
		TEST(a_table_may_come_from_the_cache),
		TEST(the_clock_ticks_and_the_vdso_is_always_in_use),
		TEST(what_is_freed_is_reclaimed),
		TEST(any_order_of_calls_leaves_things_in_order),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
