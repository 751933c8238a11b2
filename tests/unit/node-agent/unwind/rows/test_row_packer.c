/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "row_lookup.h"
#include "torture.h"
#include "unit.h"
#include "unwind/rows/row_packer.h"

#define PLENTY_BYTES (16 << 20)

static const struct cfi_rule none = { .kind = CFA_NONE };

static struct cfi_rule rule_of(uint32_t number)
{
	return (struct cfi_rule){ .kind = CFA_REGISTER, .offset = (int32_t)number };
}

static int add(struct row_packer *packer, uint64_t offset, uint32_t number)
{
	struct cfi_rule rule = rule_of(number);

	return row_packer_add(packer, offset, &rule);
}

static void assert_found(const struct row_table_bytes *table, uint64_t offset, struct cfi_rule rule)
{
	struct cfi_rule found;

	row_lookup(table->data, offset, &found);
	assert_memory_equal(&found, &rule, sizeof(rule));
}

static void rows_hold_until_the_next_one_over_any_number_of_pages(void **state)
{
	static const uint64_t offsets[] = { 0xfff,   0x1000,  0x1001,  0x2fff,
					    0x10fff, 0x50000, 0x51000, 0x123456 };
	static const uint64_t bases[] = { 0, 0x3000, UINT64_C(0x12345678000), UINT32_MAX };
	(void)state;

	for (size_t b = 0; b < array_len(bases); b++) {
		_cleanup_(row_packer_done) struct row_packer packer;
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
		uint64_t base = bases[b];

		row_packer_init(&packer, PLENTY_BYTES);
		for (uint32_t i = 0; i < array_len(offsets); i++)
			assert_int_equal(add(&packer, base + offsets[i], i), 0);
		assert_int_equal(row_packer_seal(&packer, &table), 0);
		assert_true(row_table_is_valid(table.data, table.len));
		assert_found(&table, base + offsets[0] - 1, none);
		for (uint32_t i = 0; i + 1 < array_len(offsets); i++) {
			assert_found(&table, base + offsets[i], rule_of(i));
			assert_found(&table, base + offsets[i + 1] - 1, rule_of(i));
		}
		assert_found(&table, base + offsets[array_len(offsets) - 1], rule_of(7));
		assert_found(&table, base + 0x125000, none);
	}
}

static void equal_rules_are_one(void **state)
{
	(void)state;
	_cleanup_(row_packer_done) struct row_packer packer;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	row_packer_init(&packer, PLENTY_BYTES);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(add(&packer, 3 * i, i % 1000), 0);
	assert_int_equal(row_packer_add(&packer, 15000, &none), 0);
	assert_int_equal(row_packer_seal(&packer, &table), 0);
	assert_int_equal(((const struct row_table *)(const void *)table.data)->nr_rules, 1001);
	for (uint32_t i = 0; i < 5000; i++)
		assert_found(&table, 3 * i + 1, rule_of(i % 1000));
	assert_found(&table, 15000, none);
}

static void a_table_without_rows_is_none(void **state)
{
	struct row_table_bytes table = { .len = 42 };
	struct row_packer packer;
	(void)state;

	row_packer_init(&packer, PLENTY_BYTES);
	assert_int_equal(row_packer_seal(&packer, &table), -ENODATA);
	assert_int_equal(table.len, 42);
	row_packer_done(&packer);
}

/* 3 pages, 2 rules, 101 rows: the head has 32 bytes, the directory 16, the rules 48, the rows
 * 404. */
static void a_table_is_no_larger_than_it_may_be(void **state)
{
	(void)state;

	for (size_t max = 0; max < 600; max++) {
		_cleanup_(row_packer_done) struct row_packer packer;
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
		int r = 0;

		row_packer_init(&packer, max);
		for (uint32_t i = 0; i <= 100 && r == 0; i++)
			r = add(&packer, 90 * i, i % 2);
		assert_int_equal(r, max < 500 ? -ENOSPC : 0);
		if (r < 0)
			continue;
		assert_int_equal(row_packer_seal(&packer, &table), 0);
		assert_int_equal(table.len, 500);
	}
}

static void rows_too_far_apart_or_too_far_up_are_refused(void **state)
{
	static const uint64_t offsets[] = { UINT64_C(1) << 35, UINT64_C(1) << 44, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(offsets); i++) {
		_cleanup_(row_packer_done) struct row_packer packer;

		row_packer_init(&packer, PLENTY_BYTES);
		if (offsets[i] / ROW_PAGE_BYTES > UINT32_MAX)
			assert_int_equal(add(&packer, offsets[i], 1), -ENOSPC);
		assert_int_equal(add(&packer, 0, 1), 0);
		assert_int_equal(add(&packer, offsets[i], 1), -ENOSPC);
	}
}

static void there_are_no_more_rules_than_fit_into_a_row(void **state)
{
	(void)state;
	_cleanup_(row_packer_done) struct row_packer packer;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	row_packer_init(&packer, PLENTY_BYTES);
	for (uint32_t i = 1; i < ROW_TABLE_MAX_RULES; i++)
		assert_int_equal(add(&packer, i, i), 0);
	assert_int_equal(row_packer_seal(&packer, &table), 0);
	assert_true(row_table_is_valid(table.data, table.len));
	assert_found(&table, ROW_TABLE_MAX_RULES - 1, rule_of(ROW_TABLE_MAX_RULES - 1));
	assert_int_equal(add(&packer, ROW_TABLE_MAX_RULES, 1), 0);
	assert_int_equal(add(&packer, ROW_TABLE_MAX_RULES + 1, ROW_TABLE_MAX_RULES), -ENOSPC);
}

static int pack_under_torture(struct row_table_bytes *ret_table)
{
	_cleanup_(row_packer_done) struct row_packer packer;
	int r = 0;

	row_packer_init(&packer, PLENTY_BYTES);
	for (uint32_t i = 0; i < 200 && r == 0; i++)
		r = add(&packer, 10000 * i, i);
	return r == 0 ? row_packer_seal(&packer, ret_table) : r;
}

static void without_memory_there_is_no_table(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
		int r;

		torture_begin(n);
		r = pack_under_torture(&table);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_true(has_failed == (table.data == NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold_until_the_next_one_over_any_number_of_pages),
		cmocka_unit_test(equal_rules_are_one),
		cmocka_unit_test(a_table_without_rows_is_none),
		cmocka_unit_test(a_table_is_no_larger_than_it_may_be),
		cmocka_unit_test(rows_too_far_apart_or_too_far_up_are_refused),
		cmocka_unit_test(there_are_no_more_rules_than_fit_into_a_row),
		cmocka_unit_test(without_memory_there_is_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
