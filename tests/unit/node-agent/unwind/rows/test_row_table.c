/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "row_lookup.h"
#include "unit.h"
#include "unwind/rows/row_table.h"

#include <string.h>

/* A table by hand: three pages, of which the second one has no rows. */
struct example {
	struct row_table head;
	uint32_t pages[4];
	struct cfi_rule rules[4];
	uint32_t rows[4];
};

#define RULES_OFFSET 48
#define ROWS_OFFSET 112
#define TABLE_BYTES 128

static const struct example example = {
	.head = { .first_page = 15,
		  .nr_pages = 3,
		  .nr_rules = 4,
		  .nr_rows = 4,
		  .rules_offset = RULES_OFFSET,
		  .rows_offset = ROWS_OFFSET,
		  .bytes = TABLE_BYTES },
	.pages = { 0, 2, 2, 4 },
	.rules = { { .kind = CFA_NONE },
		   { .kind = CFA_REGISTER,
		     .reg = CFI_RSP,
		     .flags = CFI_RUN_UP,
		     .offset = 8,
		     .arg = 1 << 1 | 1 << 3 | 1 << 15 },
		   { .kind = CFA_REGISTER,
		     .reg = CFI_RSP,
		     .flags = CFI_RUN_DOWN,
		     .offset = 64,
		     .arg = 1 << 2 | 1 << 4 },
		   { .kind = CFA_DEREF, .reg = CFI_RBP, .arg = 1 } },
	.rows = { ROW(0xfff0, 1), ROW(0xfffe, 2), ROW(0x1000, 3), ROW(0x1fff, 0) },
};

/* On the heap, so that a byte too far is noticed. */
static uint8_t *copy_example(void)
{
	uint8_t *copy = malloc(TABLE_BYTES);

	assert_non_null(copy);
	memcpy(copy, &example, TABLE_BYTES);
	return copy;
}

static void the_layout_is_that_of_the_contract(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct example, pages), ROW_TABLE_PAGES);
	assert_int_equal(offsetof(struct example, rules), RULES_OFFSET);
	assert_int_equal(offsetof(struct example, rows), ROWS_OFFSET);
	assert_int_equal(sizeof(struct example), TABLE_BYTES);
	assert_true(row_table_is_valid(&example, sizeof(example)));
}

static void the_last_row_before_an_offset_holds_with_its_steps(void **state)
{
	static const struct {
		uint64_t offset;
		uint8_t kind;
		int32_t cfa_offset;
	} cases[] = {
		{ 0, CFA_NONE, 0 },
		{ 0xefff, CFA_NONE, 0 }, /* before the first page */
		{ 0xf000, CFA_NONE, 0 }, /* before the first row */
		{ 0xffef, CFA_NONE, 0 },
		{ 0xfff0, CFA_REGISTER, 8 },
		{ 0xfff1, CFA_REGISTER, 16 },
		{ 0xfff2, CFA_REGISTER, 16 },
		{ 0xfff3, CFA_REGISTER, 24 },
		{ 0xfffd, CFA_REGISTER, 24 },
		{ 0xfffe, CFA_REGISTER, 64 },
		{ 0xffff, CFA_REGISTER, 64 },
		{ 0x10000, CFA_REGISTER, 56 }, /* on the next page */
		{ 0x10001, CFA_REGISTER, 56 },
		{ 0x10002, CFA_REGISTER, 48 },
		{ 0x10fff, CFA_REGISTER, 48 }, /* up to its end */
		{ 0x11000, CFA_DEREF, 0 },
		{ 0x11ffe, CFA_DEREF, 0 },
		{ 0x11fff, CFA_NONE, 0 },
		{ 0x12000, CFA_NONE, 0 }, /* behind the last page */
		{ 0x1000ffff, CFA_NONE, 0 }, /* the same page modulo 64 KB, or modulo 2^44 */
		{ UINT64_C(0x10000000fff0), CFA_NONE, 0 },
		{ UINT64_MAX, CFA_NONE, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_rule rule;

		row_lookup(&example, cases[i].offset, &rule);
		assert_int_equal(rule.kind, cases[i].kind);
		assert_int_equal(rule.offset, cases[i].cfa_offset);
		assert_int_equal(rule.flags, 0);
		assert_int_equal(rule.arg, rule.kind == CFA_DEREF);
	}
}

static void all_bytes_of_a_run_may_be_steps(void **state)
{
	(void)state;
	struct example table = example;
	struct cfi_rule rule;

	table.rules[1].arg = 0xfffe;
	table.pages[1] = 1;
	table.pages[2] = table.pages[3] = 1;
	table.head.nr_rows = 1;
	for (uint32_t i = 0; i < 16; i++) {
		row_lookup(&table, 0xfff0 + i, &rule);
		assert_int_equal(rule.offset, 8 + 8 * i);
	}
	row_lookup(&table, 0x10010, &rule);
	assert_int_equal(rule.offset, 8 + 8 * 15);
}

static void a_table_that_is_cut_off_is_not_valid(void **state)
{
	(void)state;

	for (size_t len = 0; len < sizeof(example); len++) {
		_cleanup_free_ uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, &example, len);
		assert_false(row_table_is_valid(copy, len));
	}
}

/* One number of the table replaced by another. */
static void tables_with_a_wrong_number_are_not_valid(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{ offsetof(struct row_table, first_page), 14 },
		{ offsetof(struct row_table, first_page), UINT32_MAX - 1 },
		{ offsetof(struct row_table, nr_pages), 0 },
		{ offsetof(struct row_table, nr_pages), 2 },
		{ offsetof(struct row_table, nr_pages), 4 },
		{ offsetof(struct row_table, nr_pages), 1U << 30 },
		{ offsetof(struct row_table, nr_pages), UINT32_MAX },
		{ offsetof(struct row_table, nr_rules), 0 },
		{ offsetof(struct row_table, nr_rules), 3 },
		{ offsetof(struct row_table, nr_rules), 5 },
		{ offsetof(struct row_table, nr_rules), ROW_TABLE_MAX_RULES + 1 },
		{ offsetof(struct row_table, nr_rules), 1U << 28 },
		{ offsetof(struct row_table, nr_rows), 0 },
		{ offsetof(struct row_table, nr_rows), 3 },
		{ offsetof(struct row_table, nr_rows), 5 },
		{ offsetof(struct row_table, nr_rows), 4 + (1U << 30) },
		{ offsetof(struct row_table, rules_offset), 0 },
		{ offsetof(struct row_table, rules_offset), RULES_OFFSET - 16 },
		{ offsetof(struct row_table, rules_offset), RULES_OFFSET + 4 },
		{ offsetof(struct row_table, rules_offset), RULES_OFFSET + 16 },
		{ offsetof(struct row_table, rules_offset), UINT32_MAX - 15 },
		{ offsetof(struct row_table, rows_offset), ROWS_OFFSET - 4 },
		{ offsetof(struct row_table, rows_offset), ROWS_OFFSET + 2 },
		{ offsetof(struct row_table, rows_offset), ROWS_OFFSET + 4 },
		{ offsetof(struct row_table, rows_offset), UINT32_MAX - 15 },
		{ offsetof(struct row_table, bytes), 0 },
		{ offsetof(struct row_table, bytes), TABLE_BYTES - 4 },
		{ offsetof(struct row_table, bytes), TABLE_BYTES + 4 },
		{ ROW_TABLE_PAGES, 1 },
		{ ROW_TABLE_PAGES + 4, 0 },
		{ ROW_TABLE_PAGES + 4, 3 },
		{ ROW_TABLE_PAGES + 4, UINT32_MAX },
		{ ROW_TABLE_PAGES + 8, 1 },
		{ ROW_TABLE_PAGES + 8, 3 },
		{ ROW_TABLE_PAGES + 12, 3 },
		{ ROW_TABLE_PAGES + 12, 5 },
		{ ROWS_OFFSET, ROW(0xefff, 1) }, /* another page's */
		{ ROWS_OFFSET, ROW(0xfffe, 1) }, /* not ascending */
		{ ROWS_OFFSET, ROW(0xffff, 1) },
		{ ROWS_OFFSET, ROW(0xfff0, 4) }, /* no such rule */
		{ ROWS_OFFSET + 8, ROW(0x2000, 3) },
		{ ROWS_OFFSET + 12, ROW(0x1000, 3) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_free_ uint8_t *copy = copy_example();

		memcpy(copy + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
		assert_false(row_table_is_valid(copy, sizeof(example)));
	}
}

static void tables_with_a_wrong_rule_are_not_valid(void **state)
{
	static const struct cfi_rule rules[] = {
		{ .kind = CFA_NR_KINDS },
		{ .kind = 255 },
		{ .kind = CFA_REGISTER, .reg = NR_REGS },
		{ .kind = CFA_REGISTER, .flags = 32 },
		{ .kind = CFA_REGISTER, .flags = CFI_RETURN_IN_REGISTER, .arg = NR_REGS },
		{ .kind = CFA_REGISTER, .flags = CFI_RETURN_IN_REGISTER | CFI_RUN_UP, .arg = 2 },
		{ .kind = CFA_DEREF, .flags = CFI_RETURN_IN_REGISTER, .arg = 2 },
		{ .kind = CFA_REGISTER, .flags = 128 | CFI_SAVED_AT_RBP },
		{ .kind = CFA_REGISTER, .flags = CFI_RUN_UP | CFI_RUN_DOWN, .arg = 2 },
		{ .kind = CFA_REGISTER, .flags = CFI_RUN_UP, .arg = 1 },
		{ .kind = CFA_REGISTER, .flags = CFI_RUN_DOWN, .arg = 3 },
		{ .kind = CFA_DEREF, .flags = CFI_RUN_UP, .arg = 2 },
		{ .kind = CFA_PLT, .flags = CFI_RUN_DOWN, .arg = 2 },
		{ .kind = CFA_NONE, .flags = CFI_RUN_DOWN, .arg = 2 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(rules); i++) {
		struct example table = example;

		table.rules[1 + i % 3] = rules[i];
		assert_false(row_table_is_valid(&table, sizeof(table)));
	}
}

static void rule_0_says_nothing(void **state)
{
	(void)state;

	for (size_t i = 0; i < sizeof(struct cfi_rule); i++) {
		_cleanup_free_ uint8_t *copy = copy_example();

		copy[RULES_OFFSET + i] = 1;
		assert_false(row_table_is_valid(copy, sizeof(example)));
	}
}

/* A table that is valid with a wrong bit is another one, but nothing leaves it. */
static void no_wrong_bit_leads_out_of_the_table(void **state)
{
	size_t nr_valid = 0;
	(void)state;

	for (size_t bit = 0; bit < 8 * sizeof(example); bit++) {
		_cleanup_free_ uint8_t *copy = copy_example();
		struct cfi_rule rule;

		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!row_table_is_valid(copy, sizeof(example)))
			continue;
		nr_valid++;
		for (uint64_t offset = 0; offset < 0x20000; offset += 7)
			row_lookup(copy, offset, &rule);
	}
	assert_in_range(nr_valid, 1, 4 * sizeof(example));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layout_is_that_of_the_contract),
		cmocka_unit_test(the_last_row_before_an_offset_holds_with_its_steps),
		cmocka_unit_test(all_bytes_of_a_run_may_be_steps),
		cmocka_unit_test(a_table_that_is_cut_off_is_not_valid),
		cmocka_unit_test(tables_with_a_wrong_number_are_not_valid),
		cmocka_unit_test(tables_with_a_wrong_rule_are_not_valid),
		cmocka_unit_test(rule_0_says_nothing),
		cmocka_unit_test(no_wrong_bit_leads_out_of_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
