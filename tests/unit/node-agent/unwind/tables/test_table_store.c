/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_store.h"

#include "base/cleanup.h"
#include "torture.h"

#include "unit.h"

static struct stored_table make_table(uint64_t hash, uint32_t nr_bytes, uint32_t last_used)
{
	return (struct stored_table){
		.key = { .build_id = "0123", .hash = { hash, 7 } },
		.unit = 100,
		.nr_bytes = nr_bytes,
		.nr_rows = 3,
		.last_used = last_used,
	};
}

static uint32_t add(struct table_store *store, uint64_t hash, uint32_t nr_bytes, uint32_t last_used)
{
	struct stored_table table = make_table(hash, nr_bytes, last_used);
	uint32_t number = 0;

	assert_int_equal(table_store_add(store, &table, &number), 0);
	assert_int_not_equal(number, 0);
	return number;
}

static uint32_t find(const struct table_store *store, uint64_t hash)
{
	struct stored_table table = make_table(hash, 0, 0);

	return table_store_find(store, &table.key);
}

static void a_table_is_found_by_its_whole_key(void **state)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	struct elf_rows_key key = { .build_id = "0123", .hash = { 1, 7 } };
	(void)state;

	assert_int_equal(table_store_find(&store, &key), 0);
	uint32_t number = add(&store, 1, 10, 0);
	assert_int_equal(table_store_find(&store, &key), number);
	key.hash[1] = 8;
	assert_int_equal(table_store_find(&store, &key), 0);
	key = (struct elf_rows_key){ .build_id = "0124", .hash = { 1, 7 } };
	assert_int_equal(table_store_find(&store, &key), 0);
}

static void a_removed_table_leaves_its_place_to_another(void **state)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	(void)state;

	uint32_t first = add(&store, 1, 10, 0);
	uint32_t second = add(&store, 2, 20, 0);
	assert_int_equal(store.nr_bytes, 30);
	assert_int_equal(store.nr_rows, 6);
	table_store_remove(&store, first);
	assert_int_equal(store.nr_bytes, 20);
	assert_int_equal(store.nr_tables, 1);
	assert_int_equal(find(&store, 1), 0);
	assert_int_equal(add(&store, 3, 30, 0), first);
	assert_int_equal(find(&store, 2), second);
	assert_int_equal(find(&store, 3), first);
}

static void the_oldest_is_the_one_used_longest_ago(void **state)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	(void)state;

	assert_int_equal(table_store_find_oldest(&store, 10, 0), 0);
	add(&store, 1, 10, 9);
	uint32_t oldest = add(&store, 2, 20, 5);
	uint32_t older = add(&store, 3, 40, 6);
	assert_int_equal(table_store_find_oldest(&store, 10, 1), oldest);
	assert_int_equal(table_store_count_older(&store, 10, 1), 60);
	assert_int_equal(table_store_count_older(&store, 10, 4), 20);
	assert_int_equal(table_store_find_oldest(&store, 10, 5), 0);
	table_store_use(&store, oldest, 10, 10);
	table_store_use(&store, oldest, 3, 10);
	assert_int_equal(table_store_find_oldest(&store, 10, 1), older);
	table_store_remove(&store, older);
	assert_int_equal(table_store_find_oldest(&store, 10, 1), 0);
}

static void among_equals_one_without_slots_goes_first(void **state)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	(void)state;

	uint32_t number = add(&store, 1, 10, 5);
	table_store_get(&store, number)->nr_slots = 2;
	number = add(&store, 2, 10, 5);
	assert_int_equal(table_store_find_oldest(&store, 10, 1), number);
}

static void ages_survive_the_clocks_overflow(void **state)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	(void)state;

	uint32_t number = add(&store, 1, 10, UINT32_MAX - 5);
	add(&store, 2, 10, UINT32_MAX);
	assert_int_equal(table_store_find_oldest(&store, 2, 3), number);
	table_store_use(&store, number, 1, 2);
	assert_int_equal(table_store_find_oldest(&store, 2, 3), 0);
}

static void add_some(void)
{
	_cleanup_(table_store_done) struct table_store store = { 0 };
	uint64_t nr_added = 0;

	for (uint64_t i = 0; i < 100; i++) {
		struct stored_table table = make_table(i, 10, 0);
		uint32_t number;

		if (table_store_add(&store, &table, &number) == 0)
			nr_added++;
	}
	assert_int_equal(store.nr_tables, nr_added);
	for (uint64_t i = 0; i < 100; i++) {
		uint32_t number = find(&store, i);

		if (number)
			table_store_remove(&store, number);
	}
	assert_int_equal(store.nr_tables, 0);
	assert_int_equal(store.nr_bytes, 0);
	assert_int_equal(table_store_find_oldest(&store, 10, 1), 0);
}

static void failed_allocations_leave_no_traces(void **state)
{
	(void)state;

	for (unsigned int n = 1; torture_begin(n), add_some(), torture_end(); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_found_by_its_whole_key),
		cmocka_unit_test(a_removed_table_leaves_its_place_to_another),
		cmocka_unit_test(the_oldest_is_the_one_used_longest_ago),
		cmocka_unit_test(among_equals_one_without_slots_goes_first),
		cmocka_unit_test(ages_survive_the_clocks_overflow),
		cmocka_unit_test(failed_allocations_leave_no_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
