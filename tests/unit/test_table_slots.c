/* SPDX-License-Identifier: Apache-2.0 */
/* Files are plans (rows_standin.h), the maps are the kernel's. The clock of the tables stands still unless
 * a test turns it. */
#include "unwind/table_slots.h"

#include "arena_fixture.h"
#include "base/clock.h"
#include "rows_standin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "unit.h"

#define MAP_BYTES (MAX_TABLE_SLOTS * sizeof(struct table_slot))
#define HUNDRED_YEARS_NS (UINT64_C(100) * 365 * 86400 * NSEC_PER_SEC)
#define PATIENCE_NS (20 * NSEC_PER_SEC)
#define SIZE 100000 /* of a table */
#define ROOM_FOR_TWO 210000 /* and the vDSO's */

struct fixture {
	int arena_fd;
	int tables_fd;
	struct table_slot *shared; /* as programs see it */
	struct arena *arena;
	struct table_slots *slots;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	rows_standin_reset();
	fixture->arena_fd = arena_fixture_map();
	fixture->tables_fd = arena_fixture_tables();
	fixture->shared = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fixture->tables_fd, 0);
	*state = fixture;
	return fixture->shared == MAP_FAILED;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	rows_standin_shut(false);
	table_slots_stop(fixture->slots);
	arena_close(fixture->arena);
	munmap(fixture->shared, MAP_BYTES);
	close(fixture->tables_fd);
	close(fixture->arena_fd);
	free(fixture);
	return 0;
}

static void start_with(struct fixture *fixture, struct table_slots_opts opts, size_t arena_bytes)
{
	assert_int_equal(arena_new(fixture->arena_fd, arena_bytes, &fixture->arena), 0);
	opts.tables_fd = fixture->tables_fd;
	opts.arena = fixture->arena;
	if (opts.max_bytes == 0)
		opts.max_bytes = 16 * ARENA_CHUNK_BYTES;
	if (opts.clock_ns == 0)
		opts.clock_ns = HUNDRED_YEARS_NS;
	assert_int_equal(table_slots_start(&opts, &fixture->slots), 0);
}

static void start(struct fixture *fixture, struct table_slots_opts opts)
{
	start_with(fixture, opts, 32 * ARENA_CHUNK_BYTES);
}

static uint32_t add(struct fixture *fixture, struct plan plan)
{
	uint32_t slot = 0;
	int fd = rows_standin_file(&plan);

	assert_int_equal(table_slots_add(fixture->slots, &fd, &slot), 0);
	assert_int_equal(fd, -EBADF);
	assert_int_not_equal(slot, 0);
	return slot;
}

static void reopen(struct fixture *fixture, uint32_t slot, struct plan plan)
{
	int fd = rows_standin_file(&plan);

	table_slots_reopen(fixture->slots, slot, &fd);
	assert_int_equal(fd, -EBADF);
}

static struct table_slots_stats get_stats(struct fixture *fixture)
{
	return table_slots_get_stats(fixture->slots);
}

static void settle(struct fixture *fixture)
{
	assert_true(table_slots_wait_idle(fixture->slots, clock_mono_ns() + PATIENCE_NS));
	assert_int_equal(get_stats(fixture).nr_waiting, 0);
}

/* Adds a file and waits until it was read. */
static uint32_t load(struct fixture *fixture, struct plan plan)
{
	uint32_t slot = add(fixture, plan);

	settle(fixture);
	return slot;
}

static uint32_t unit_of(struct fixture *fixture, uint32_t slot)
{
	return __atomic_load_n(&fixture->shared[slot].unit, __ATOMIC_ACQUIRE);
}

static uint32_t get_clock(struct fixture *fixture)
{
	return __atomic_load_n(&fixture->shared[0].used, __ATOMIC_RELAXED);
}

/* What a program does that needs the slot. */
static void use(struct fixture *fixture, uint32_t slot)
{
	__atomic_store_n(&fixture->shared[slot].used, get_clock(fixture), __ATOMIC_RELAXED);
}

static void turn_clock(struct fixture *fixture, uint32_t nr_ticks)
{
	__atomic_fetch_add(&fixture->shared[0].used, nr_ticks, __ATOMIC_RELAXED);
	use(fixture, table_slots_vdso(fixture->slots));
}

static void expect_table(struct fixture *fixture, uint32_t slot, struct plan plan)
{
	_cleanup_free_ uint8_t *data = calloc(plan.nr_bytes, 1);
	struct row_table head;

	assert_true(unit_of(fixture, slot) > TABLE_WITHOUT_CFI);
	assert_non_null(data);
	arena_fixture_read(fixture->arena_fd, unit_of(fixture, slot), data, plan.nr_bytes);
	memcpy(&head, data, sizeof(head));
	assert_int_equal(head.bytes, plan.nr_bytes);
	for (size_t i = sizeof(head); i < plan.nr_bytes; i++)
		if (data[i] != rows_standin_byte(plan.key, i))
			assert_int_equal(data[i], rows_standin_byte(plan.key, i));
}

static void a_file_gets_its_table(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = 70000 };

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = load(fixture, plan);
	expect_table(fixture, slot, plan);
	struct table_slots_stats stats = get_stats(fixture);
	assert_int_equal(stats.nr_slots, 3);
	assert_int_equal(stats.nr_tables, 2);
	assert_int_equal(stats.nr_rows, 20);
	assert_int_equal(stats.nr_built, 2);
	assert_int_equal(stats.nr_bytes, 70000 + 4096);
	assert_int_equal(stats.nr_bad_entries, 4);
	assert_int_equal(stats.nr_unsupported_rules, 6);
	assert_true(stats.build_ns > 0);
}

static void two_slots_are_there_from_the_start(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ 0 });
	settle(fixture);
	uint32_t without_cfi = table_slots_without_cfi(fixture->slots);
	uint32_t vdso = table_slots_vdso(fixture->slots);
	assert_int_not_equal(without_cfi, 0);
	assert_int_not_equal(vdso, without_cfi);
	table_slots_remove(fixture->slots, without_cfi);
	table_slots_remove(fixture->slots, vdso);
	assert_int_equal(unit_of(fixture, without_cfi), TABLE_WITHOUT_CFI);
	expect_table(fixture, vdso, (struct plan){ .key = VDSO_KEY, .nr_bytes = 4096 });
	assert_int_equal(unit_of(fixture, 0), 0);
}

static void without_a_vdso_its_slot_is_that_without_cfi(void **state)
{
	struct fixture *fixture = *state;

	rows_standin_set_vdso(false);
	start(fixture, (struct table_slots_opts){ 0 });
	settle(fixture);
	assert_int_equal(table_slots_vdso(fixture->slots), table_slots_without_cfi(fixture->slots));
	assert_int_equal(get_stats(fixture).nr_built, 0);
}

static void the_most_wanted_file_is_read_first(void **state)
{
	static const uint64_t expected[] = { VDSO_KEY, 3, 2, 1, 4 };
	struct fixture *fixture = *state;
	uint32_t slots[5];
	uint64_t keys[MAX_ORDER];

	rows_standin_shut(true);
	start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (uint64_t key = 1; key < 5; key++)
		slots[key] = add(fixture, (struct plan){ .key = key, .nr_bytes = 100 });
	assert_int_equal(get_stats(fixture).nr_waiting, 5);
	assert_false(table_slots_want(fixture->slots, slots[3]));
	assert_false(table_slots_want(fixture->slots, slots[2]));
	assert_false(table_slots_want(fixture->slots, slots[3]));
	assert_false(table_slots_wait_idle(fixture->slots, clock_mono_ns() + NSEC_PER_MSEC));
	rows_standin_shut(false);
	settle(fixture);
	assert_int_equal(rows_standin_order(keys), array_len(expected));
	assert_memory_equal(keys, expected, sizeof(expected));
}

static void files_with_the_same_key_share_a_table(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t first = load(fixture, plan);
	uint32_t second = load(fixture, plan);
	assert_int_not_equal(first, second);
	assert_int_equal(unit_of(fixture, first), unit_of(fixture, second));
	assert_int_equal(get_stats(fixture).nr_shared, 1);
	assert_int_equal(get_stats(fixture).nr_tables, 2);
	table_slots_remove(fixture->slots, first);
	assert_int_equal(unit_of(fixture, first), TABLE_NOT_LOADED);
	expect_table(fixture, second, plan);
}

static void a_table_outlives_its_slots(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = load(fixture, plan);
	uint32_t unit = unit_of(fixture, slot);
	table_slots_remove(fixture->slots, slot);
	slot = load(fixture, plan);
	assert_int_equal(unit_of(fixture, slot), unit);
	assert_int_equal(rows_standin_nr_built(), 2);
}

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
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ .max_bytes = SIZE });
	for (size_t i = 0; i < array_len(plans); i++) {
		uint32_t slot = load(fixture, plans[i]);

		assert_int_equal(unit_of(fixture, slot), TABLE_WITHOUT_CFI);
		assert_false(table_slots_want(fixture->slots, slot));
	}
	struct table_slots_stats stats = get_stats(fixture);
	assert_int_equal(stats.nr_without_cfi, 2);
	assert_int_equal(stats.nr_bad_files, 1);
	assert_int_equal(stats.nr_over_limit, 3);
	assert_int_equal(stats.nr_failures, 0);
}

static void a_file_that_could_not_be_read_is_asked_for_again(void **state)
{
	static const int errors[] = { -EIO, -ENOMEM, -ESTALE };
	struct fixture *fixture = *state;
	struct plan good = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ .retry_ns = 1 });
	for (size_t i = 0; i < array_len(errors); i++) {
		struct plan plan = { .key = 1, .nr_bytes = SIZE, .open_error = errors[i] };
		uint32_t slot = load(fixture, plan);

		assert_int_equal(unit_of(fixture, slot), TABLE_NOT_LOADED);
		assert_true(table_slots_want(fixture->slots, slot));
		reopen(fixture, slot, good);
		settle(fixture);
		expect_table(fixture, slot, good);
	}
	assert_int_equal(get_stats(fixture).nr_failures, array_len(errors));
}

static void a_file_is_not_asked_for_again_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE, .open_error = -EIO };

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = load(fixture, plan);
	assert_false(table_slots_want(fixture->slots, slot));
	assert_false(table_slots_want(fixture->slots, slot));
}

static void the_table_that_was_used_longest_ago_is_evicted(void **state)
{
	struct fixture *fixture = *state;
	struct plan plans[] = {
		{ .key = 1, .nr_bytes = SIZE },
		{ .key = 2, .nr_bytes = SIZE },
		{ .key = 3, .nr_bytes = SIZE },
	};

	start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = load(fixture, plans[0]);
	uint32_t second = load(fixture, plans[1]);
	use(fixture, second);
	turn_clock(fixture, 3);
	use(fixture, first);
	turn_clock(fixture, 3);
	rows_standin_shut(true);
	uint32_t third = add(fixture, plans[2]);
	use(fixture, third);
	rows_standin_shut(false);
	settle(fixture);

	assert_int_equal(unit_of(fixture, second), TABLE_NOT_LOADED);
	expect_table(fixture, first, plans[0]);
	expect_table(fixture, third, plans[2]);
	assert_int_equal(get_stats(fixture).nr_evicted, 1);
	assert_int_equal(get_stats(fixture).nr_tables, 3);
	assert_false(table_slots_want(fixture->slots, second));
}

/* Loads a file that a sample needs now. */
static uint32_t load_needed(struct fixture *fixture, struct plan plan)
{
	rows_standin_shut(true);
	uint32_t slot = add(fixture, plan);
	use(fixture, slot);
	rows_standin_shut(false);
	settle(fixture);
	return slot;
}

static void all_slots_of_an_evicted_table_lose_it(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ .max_bytes = SIZE + 5000 });
	uint32_t first = load(fixture, plan);
	uint32_t second = load(fixture, plan);
	uint32_t third = load_needed(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	assert_int_equal(unit_of(fixture, first), TABLE_NOT_LOADED);
	assert_int_equal(unit_of(fixture, second), TABLE_NOT_LOADED);
	assert_true(unit_of(fixture, third) > TABLE_WITHOUT_CFI);
	assert_int_equal(get_stats(fixture).nr_evicted, 1);
}

static void one_use_of_many_slots_keeps_a_table(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ .max_bytes = SIZE + 5000 });
	load(fixture, plan);
	use(fixture, load(fixture, plan));
	turn_clock(fixture, 1);
	uint32_t refused = load_needed(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	assert_int_equal(unit_of(fixture, refused), TABLE_NOT_LOADED);
	assert_int_equal(get_stats(fixture).nr_evicted, 0);
}

static void an_evicted_table_is_read_again(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ .max_bytes = SIZE + 5000, .retry_ns = 1 });
	uint32_t first = load(fixture, plan);
	uint32_t second = load_needed(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	turn_clock(fixture, 2);
	use(fixture, first);
	assert_true(table_slots_want(fixture->slots, first));
	reopen(fixture, first, plan);
	settle(fixture);
	expect_table(fixture, first, plan);
	assert_int_equal(unit_of(fixture, second), TABLE_NOT_LOADED);
}

static void tables_in_use_are_not_evicted(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	use(fixture, first);
	turn_clock(fixture, 1);
	uint32_t second = load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	use(fixture, second);
	uint32_t third = load_needed(fixture, (struct plan){ .key = 3, .nr_bytes = SIZE });
	assert_int_equal(unit_of(fixture, third), TABLE_NOT_LOADED);
	assert_true(unit_of(fixture, first) > TABLE_WITHOUT_CFI);
	assert_true(unit_of(fixture, second) > TABLE_WITHOUT_CFI);
	assert_int_equal(get_stats(fixture).nr_refused, 1);
	assert_int_equal(get_stats(fixture).nr_evicted, 0);
	assert_false(table_slots_want(fixture->slots, third));
}

static void nothing_is_evicted_when_it_would_not_do(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	uint32_t first = load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	use(fixture, load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE }));
	load_needed(fixture, (struct plan){ .key = 3, .nr_bytes = SIZE + SIZE / 2 });
	assert_true(unit_of(fixture, first) > TABLE_WITHOUT_CFI);
	assert_int_equal(get_stats(fixture).nr_evicted, 0);
	assert_int_equal(get_stats(fixture).nr_refused, 1);
}

static void a_file_that_nobody_needs_evicts_none_and_can_be_had_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 3, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ .max_bytes = ROOM_FOR_TWO });
	load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	load(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	uint32_t slot = load(fixture, plan);
	assert_int_equal(unit_of(fixture, slot), TABLE_NOT_LOADED);
	assert_int_equal(get_stats(fixture).nr_evicted, 0);
	use(fixture, slot);
	assert_true(table_slots_want(fixture->slots, slot));
	assert_false(table_slots_want(fixture->slots, slot));
	reopen(fixture, slot, plan);
	settle(fixture);
	expect_table(fixture, slot, plan);
	assert_int_equal(get_stats(fixture).nr_evicted, 1);
}

static void a_full_arena_evicts_too(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 2, .nr_bytes = 600000 };

	start_with(fixture, (struct table_slots_opts){ 0 }, ARENA_CHUNK_BYTES);
	uint32_t first = load(fixture, (struct plan){ .key = 1, .nr_bytes = 600000 });
	uint32_t second = load_needed(fixture, plan);
	assert_int_equal(unit_of(fixture, first), TABLE_NOT_LOADED);
	expect_table(fixture, second, plan);
}

static void an_arena_full_of_other_things_refuses(void **state)
{
	_cleanup_free_ uint8_t *list = calloc(800000, 1);
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = 600000 };
	uint32_t unit;

	assert_non_null(list);
	start_with(fixture, (struct table_slots_opts){ .retry_ns = 1 }, ARENA_CHUNK_BYTES);
	settle(fixture);
	assert_int_equal(arena_put(fixture->arena, list, 800000, &unit), 0);
	uint32_t slot = load_needed(fixture, plan);
	assert_int_equal(unit_of(fixture, slot), TABLE_NOT_LOADED);
	assert_int_equal(get_stats(fixture).nr_refused, 1);
	arena_free(fixture->arena, unit, 800000);
	assert_true(table_slots_want(fixture->slots, slot));
	reopen(fixture, slot, plan);
	settle(fixture);
	expect_table(fixture, slot, plan);
}

static void a_removed_slot_becomes_another_files_after_a_reclaim(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = 0;

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = load(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	/* The thread does not come to its chores meanwhile. */
	rows_standin_shut(true);
	add(fixture, (struct plan){ .key = 2, .nr_bytes = SIZE });
	rows_standin_wait_until_inside();
	table_slots_remove(fixture->slots, slot);
	assert_int_equal(unit_of(fixture, slot), TABLE_NOT_LOADED);
	for (uint64_t key = 10; key < 20; key++)
		assert_int_not_equal(add(fixture, (struct plan){ key, 100, 0, 0 }), slot);
	rows_standin_shut(false);
	for (int i = 0; i < 200 && other != slot; i++) {
		usleep(20000);
		other = add(fixture, (struct plan){ .key = 30, .nr_bytes = 100 });
	}
	assert_int_equal(other, slot);
}

static void a_slot_removed_while_its_file_is_read_stays_removed(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ 0 });
	settle(fixture);
	rows_standin_shut(true);
	uint32_t slot = add(fixture, plan);
	rows_standin_wait_until_inside();
	table_slots_remove(fixture->slots, slot);
	rows_standin_shut(false);
	settle(fixture);
	assert_int_equal(unit_of(fixture, slot), TABLE_NOT_LOADED);
	assert_false(table_slots_want(fixture->slots, slot));
	assert_int_equal(get_stats(fixture).nr_slots, 2);
	/* The work was not in vain. */
	expect_table(fixture, load(fixture, plan), plan);
	assert_int_equal(rows_standin_nr_built(), 2);
}

static void a_slot_removed_while_it_waits_is_not_read(void **state)
{
	struct fixture *fixture = *state;
	uint64_t keys[MAX_ORDER];

	rows_standin_shut(true);
	start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	uint32_t slot = add(fixture, (struct plan){ .key = 1, .nr_bytes = SIZE });
	table_slots_remove(fixture->slots, slot);
	rows_standin_shut(false);
	settle(fixture);
	assert_int_equal(rows_standin_order(keys), 1);
	assert_int_equal(keys[0], VDSO_KEY);
}

static void numbers_that_are_no_slots_are_ignored(void **state)
{
	static const uint32_t numbers[] = { 0, 3, 1000, MAX_TABLE_SLOTS, UINT32_MAX };
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ 0 });
	settle(fixture);
	for (size_t i = 0; i < array_len(numbers); i++) {
		assert_false(table_slots_want(fixture->slots, numbers[i]));
		table_slots_remove(fixture->slots, numbers[i]);
		reopen(fixture, numbers[i], (struct plan){ .key = 1, .nr_bytes = 10 });
	}
	settle(fixture);
	assert_int_equal(get_stats(fixture).nr_slots, 2);
	assert_int_equal(rows_standin_nr_built(), 1);
}

static void a_file_that_nobody_asked_for_is_closed(void **state)
{
	struct fixture *fixture = *state;
	struct plan plan = { .key = 1, .nr_bytes = SIZE };

	start(fixture, (struct table_slots_opts){ 0 });
	uint32_t slot = load(fixture, plan);
	int fd = rows_standin_file(&plan);
	int number = fd;
	table_slots_reopen(fixture->slots, slot, &fd);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	settle(fixture);
	assert_int_equal(get_stats(fixture).nr_shared, 0);
}

static void a_table_may_come_from_the_cache(void **state)
{
	struct fixture *fixture = *state;
	struct plan cached = { .key = 1, .nr_bytes = SIZE };
	struct plan missing = { .key = 2, .nr_bytes = SIZE };
	int any;

	rows_standin_cache(&cached);
	start(fixture, (struct table_slots_opts){ .cache = (struct row_cache *)&any });
	expect_table(fixture, load(fixture, cached), cached);
	assert_int_equal(rows_standin_nr_cached(), 1);
	expect_table(fixture, load(fixture, missing), missing);
	assert_int_equal(rows_standin_nr_cached(), 2);
	assert_int_equal(rows_standin_nr_built(), 2);
	assert_int_equal(get_stats(fixture).nr_built, 2);
}

static void only_so_many_files_may_wait(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit limit = { 4096, 4096 };
	struct plan plan = { .key = 1, .nr_bytes = 100 };
	uint32_t slot = 77;

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		skip();
	rows_standin_shut(true);
	start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (int i = 0; i < TABLE_SLOTS_MAX_OPEN; i++)
		add(fixture, plan);
	int fd = rows_standin_file(&plan);
	int number = fd;
	assert_int_equal(table_slots_add(fixture->slots, &fd, &slot), -ENOSPC);
	assert_int_equal(fd, -EBADF);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	assert_int_equal(slot, 77);
	assert_int_equal(get_stats(fixture).nr_no_slot, 1);
	rows_standin_shut(false);
	settle(fixture);
	assert_int_equal(get_stats(fixture).nr_shared, TABLE_SLOTS_MAX_OPEN - 1);
}

static size_t count_open_files(void)
{
	size_t nr_open = 0;

	for (int fd = 0; fd < 4096; fd++)
		nr_open += fcntl(fd, F_GETFD) >= 0;
	return nr_open;
}

static void the_end_closes_what_waits(void **state)
{
	struct fixture *fixture = *state;
	size_t before = count_open_files();

	rows_standin_shut(true);
	start(fixture, (struct table_slots_opts){ 0 });
	rows_standin_wait_until_inside();
	for (uint64_t key = 1; key < 10; key++)
		add(fixture, (struct plan){ .key = key, .nr_bytes = 100 });
	assert_int_equal(count_open_files(), before + 10);
	rows_standin_shut(false);
	table_slots_stop(take_ptr(fixture->slots));
	arena_close(take_ptr(fixture->arena));
	assert_int_equal(count_open_files(), before);
}

static void the_clock_ticks_and_the_vdso_is_always_in_use(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, (struct table_slots_opts){ .clock_ns = 1 });
	uint32_t before = get_clock(fixture);
	assert_true(before > 1);
	for (int i = 0; i < 500 && get_clock(fixture) < before + 2; i++)
		usleep(10000);
	assert_true(get_clock(fixture) >= before + 2);
	uint32_t vdso = table_slots_vdso(fixture->slots);
	assert_true(get_clock(fixture) - fixture->shared[vdso].used <= 1);
}

static void what_is_freed_is_reclaimed(void **state)
{
	struct fixture *fixture = *state;
	uint8_t list[100] = { 0 };
	uint32_t unit;

	start(fixture, (struct table_slots_opts){ 0 });
	assert_int_equal(arena_put(fixture->arena, list, sizeof(list), &unit), 0);
	arena_free(fixture->arena, unit, sizeof(list));
	for (int i = 0; i < 500 && arena_get_stats(fixture->arena).nr_bytes_freed > 0; i++)
		usleep(10000);
	assert_int_equal(arena_get_stats(fixture->arena).nr_bytes_freed, 0);
}

/* As a reader would on a busy node: little room, many files, in no order. */
static void any_order_of_calls_leaves_things_in_order(void **state)
{
	struct fixture *fixture = *state;
	uint32_t slots[50] = { 0 };
	uint64_t random = 1;

	start_with(fixture, (struct table_slots_opts){ .max_bytes = 600000, .retry_ns = 1 },
		   ARENA_CHUNK_BYTES);
	for (int i = 0; i < 3000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		size_t at = (random >> 33) % array_len(slots);
		struct plan plan = { .key = 1 + at % 30, .nr_bytes = 40 + (uint32_t)at * 3000 };

		if (slots[at] == 0) {
			slots[at] = add(fixture, plan);
		} else if (random >> 62 == 0) {
			table_slots_remove(fixture->slots, slots[at]);
			slots[at] = 0;
		} else {
			use(fixture, slots[at]);
			if (table_slots_want(fixture->slots, slots[at]))
				reopen(fixture, slots[at], plan);
		}
		if (i % 20 == 0)
			turn_clock(fixture, 1);
	}
	settle(fixture);
	struct table_slots_stats stats = get_stats(fixture);
	assert_true(stats.nr_bytes <= 600000);
	assert_true(stats.nr_evicted > 0);
	assert_int_equal(stats.nr_failures, 0);
}

static void a_start_that_fails_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct table_slots_opts opts = { .tables_fd = -EBADF, .max_bytes = SIZE };
	size_t before = count_open_files();

	assert_int_equal(table_slots_start(&opts, &fixture->slots), -EBADF);
	assert_null(fixture->slots);
	assert_int_equal(count_open_files(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_gets_its_table),
		TEST(two_slots_are_there_from_the_start),
		TEST(without_a_vdso_its_slot_is_that_without_cfi),
		TEST(the_most_wanted_file_is_read_first),
		TEST(files_with_the_same_key_share_a_table),
		TEST(a_table_outlives_its_slots),
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
		TEST(a_removed_slot_becomes_another_files_after_a_reclaim),
		TEST(a_slot_removed_while_its_file_is_read_stays_removed),
		TEST(a_slot_removed_while_it_waits_is_not_read),
		TEST(numbers_that_are_no_slots_are_ignored),
		TEST(a_file_that_nobody_asked_for_is_closed),
		TEST(a_table_may_come_from_the_cache),
		TEST(only_so_many_files_may_wait),
		TEST(the_end_closes_what_waits),
		TEST(the_clock_ticks_and_the_vdso_is_always_in_use),
		TEST(what_is_freed_is_reclaimed),
		TEST(any_order_of_calls_leaves_things_in_order),
		TEST(a_start_that_fails_leaves_nothing),
	};
	_cleanup_close_ int fd = arena_fixture_tables();

	if (fd < 0) {
		fputs("SKIP: no privilege to make BPF maps\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
