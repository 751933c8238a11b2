/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "row_model.h"
#include "torture.h"
#include "unit.h"
#include "unwind/rows/row_builder.h"

#include <string.h>

static const struct cfi_rule no_rule = { .kind = CFA_NONE };

#define NONE CFI_NOT_SAVED
/* rsp + N, with the places of rbp, rbx and r12. */
#define SP_RULE(N, RBP, RBX, R12)                                                                  \
	{                                                                                          \
		.kind = CFA_REGISTER, .reg = CFI_RSP, .return_address = -1, .offset = (N),         \
		.saved = {                                                                         \
			(RBP),                                                                     \
			(RBX),                                                                     \
			(R12),                                                                     \
			NONE,                                                                      \
			NONE,                                                                      \
			NONE                                                                       \
		}                                                                                  \
	}

struct row {
	uint32_t offset;
	struct cfi_rule rule;
};

static void add_function(struct row_model *model, uint32_t start, uint32_t len,
			 const struct row *rows, size_t nr_rows)
{
	row_model_begin(model, start, len);
	for (size_t i = 0; i < nr_rows; i++)
		row_model_add(model, start + rows[i].offset, rows[i].rule);
}

static const struct row_table *head_of(const struct row_table_bytes *table)
{
	return (const void *)table->data;
}

/* Seals and compares the number of rows with what it should be; the last one is the end of the
 * code. */
static void assert_nr_rows(struct row_model *model, uint32_t nr_rows)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = row_model_seal(model);

	assert_int_equal(head_of(&table)->nr_rows, nr_rows + 1);
}

/* push rbp, push rbx, sub 8; add 8, pop rbx, pop rbp, ret; code behind the return as before it. */
static const struct row gcc_function[] = {
	{ 0, SP_RULE(8, NONE, NONE, NONE) }, { 1, SP_RULE(16, -2, NONE, NONE) },
	{ 2, SP_RULE(24, -2, -3, NONE) },    { 6, SP_RULE(32, -2, -3, NONE) },
	{ 100, SP_RULE(24, -2, -3, NONE) },  { 101, SP_RULE(16, -2, -3, NONE) },
	{ 102, SP_RULE(8, -2, -3, NONE) },   { 103, SP_RULE(32, -2, -3, NONE) },
};

/* The same from a compiler that says where registers are saved when all of them are. */
static const struct row clang_function[] = {
	{ 0, SP_RULE(8, NONE, NONE, NONE) },  { 1, SP_RULE(16, NONE, NONE, NONE) },
	{ 2, SP_RULE(24, NONE, NONE, NONE) }, { 6, SP_RULE(32, -2, -3, NONE) },
	{ 100, SP_RULE(24, -2, -3, NONE) },   { 101, SP_RULE(16, -2, -3, NONE) },
	{ 102, SP_RULE(8, -2, -3, NONE) },
};

static void pushes_become_one_row_and_pops_another_one(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	add_function(model, 0x1000, 110, gcc_function, array_len(gcc_function));
	assert_nr_rows(model, 3);
}

static void a_place_above_the_stack_pointer_is_not_there_before_its_row(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	add_function(model, 0x1000, 103, clang_function, array_len(clang_function));
	assert_nr_rows(model, 3);
}

static void a_run_ends_where_the_row_is_not_a_push(void **state)
{
	static const struct {
		struct row rows[3];
		uint32_t nr_rows;
	} cases[] = {
		/* two pushes */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, -2, NONE, NONE) },
		    { 15, SP_RULE(24, -2, -3, NONE) } },
		  1 },
		/* too far away */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, -2, NONE, NONE) },
		    { 16, SP_RULE(24, -2, -3, NONE) } },
		  2 },
		/* up and down */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, NONE, NONE, NONE) },
		    { 2, SP_RULE(8, NONE, NONE, NONE) } },
		  2 },
		/* more than a push */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, NONE, NONE, NONE) },
		    { 2, SP_RULE(32, NONE, NONE, NONE) } },
		  2 },
		/* a place is lost */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, -2, NONE, NONE) },
		    { 2, SP_RULE(24, NONE, NONE, NONE) } },
		  2 },
		/* a register is */
		{ { { 0, SP_RULE(8, NONE, NONE, NONE) },
		    { 1, SP_RULE(16, CFI_LOST, NONE, NONE) },
		    { 2, SP_RULE(24, CFI_LOST, NONE, NONE) } },
		  2 },
		/* a place moves */
		{ { { 0, SP_RULE(24, -2, NONE, NONE) },
		    { 1, SP_RULE(16, -1, NONE, NONE) },
		    { 2, SP_RULE(8, -1, NONE, NONE) } },
		  2 },
		/* pops */
		{ { { 0, SP_RULE(24, -2, -3, NONE) },
		    { 2, SP_RULE(16, -2, -3, NONE) },
		    { 3, SP_RULE(8, -2, -3, NONE) } },
		  1 },
		/* a pop of a register that is still there */
		{ { { 0, SP_RULE(24, -2, -3, NONE) },
		    { 2, SP_RULE(16, NONE, -3, NONE) },
		    { 3, SP_RULE(8, NONE, -3, NONE) } },
		  2 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(row_model_freep) struct row_model *model = row_model_new();

		add_function(model, 0x1000, 100, cases[i].rows, array_len(cases[i].rows));
		assert_nr_rows(model, cases[i].nr_rows);
	}
}

static void rules_differ_in_more_than_the_offset(void **state)
{
	static const struct cfi_rule first = SP_RULE(8, NONE, NONE, NONE);
	(void)state;

	for (int i = 0; i < 4; i++) {
		_cleanup_(row_model_freep) struct row_model *model = row_model_new();
		struct cfi_rule second = SP_RULE(16, NONE, NONE, NONE);

		second.reg = i == 0 ? CFI_RBP : CFI_RSP;
		second.return_address = i == 1 ? -2 : -1;
		second.flags = i == 2 ? CFI_SAVED_AT_RBP : 0;
		second.kind = i == 3 ? CFA_PLT : CFA_REGISTER;
		row_model_begin(model, 0, 16);
		row_model_add(model, 0, first);
		row_model_add(model, 1, second);
		assert_nr_rows(model, 2);
	}
}

static void places_at_the_frame_pointer_stay_as_they_are(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	row_model_begin(model, 0, 64);
	for (uint32_t i = 0; i < 4; i++) {
		struct cfi_rule rule = SP_RULE(8 + 8 * (int32_t)i, -20, NONE, NONE);

		rule.flags = CFI_SAVED_AT_RBP;
		rule.saved[1] = i < 2 ? CFI_NOT_SAVED : -21;
		row_model_add(model, i, rule);
	}
	assert_nr_rows(model, 2);
}

static void equal_neighbours_are_one_row_even_across_functions(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	for (uint32_t i = 0; i < 10; i++) {
		row_model_begin(model, 64 * i, 64 - i);
		row_model_add(model, 64 * i, (struct cfi_rule)SP_RULE(8, NONE, NONE, NONE));
		row_model_add(model, 64 * i + 9, (struct cfi_rule)SP_RULE(8, -2, -3, NONE));
	}
	assert_nr_rows(model, 1);
}

static void padding_goes_on_with_the_last_rule_and_gaps_have_none(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();
	static const struct cfi_rule rule = SP_RULE(8, NONE, NONE, NONE);

	row_model_begin(model, 20, 10);
	row_model_add(model, 20, rule);
	row_model_begin(model, 30 + ROW_BUILDER_PADDING, 10);
	row_model_add(model, 30 + ROW_BUILDER_PADDING, rule);
	row_model_begin(model, 40 + 2 * ROW_BUILDER_PADDING + 1, 10);
	row_model_add(model, 40 + 2 * ROW_BUILDER_PADDING + 1, rule);
	assert_nr_rows(model, 3);
}

static void code_without_a_row_has_no_cfi(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();
	static const struct cfi_rule rule = SP_RULE(8, NONE, NONE, NONE);

	row_model_begin(model, 100, 10);
	row_model_begin(model, 110, 10);
	row_model_add(model, 115, rule);
	row_model_begin(model, 120, 10);
	row_model_begin(model, 130, 10);
	row_model_add(model, 130, rule);
	assert_nr_rows(model, 3);
}

static void of_several_rows_for_an_address_the_last_one_counts(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	row_model_begin(model, 0, 10);
	for (int32_t i = 1; i < 5; i++)
		row_model_add(model, 0, (struct cfi_rule)SP_RULE(8 * i, NONE, NONE, NONE));
	for (int32_t i = 1; i < 5; i++)
		row_model_add(model, 5, (struct cfi_rule)SP_RULE(80 * i, NONE, NONE, NONE));
	assert_nr_rows(model, 2);
	assert_int_equal(row_builder_nr_added(model->builder), 8);
}

/* Rows that are not in their function: the model is told the right thing with a builder of its
 * own. */
static void rows_outside_of_their_function_are_clipped(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();
	const struct cfi_rule rules[] = { SP_RULE(8, NONE, NONE, NONE),
					  SP_RULE(80, NONE, NONE, NONE),
					  SP_RULE(88, NONE, NONE, NONE) };
	struct row_builder *builder = model->builder;

	assert_int_equal(row_builder_begin(builder, ROW_MODEL_BIAS + 100, 50, 100), 0);
	assert_int_equal(row_builder_add(builder, 0, &rules[1]), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 99, &rules[0]), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 120, &rules[1]), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 150, &rules[2]), 0);
	assert_int_equal(row_builder_add(builder, UINT64_MAX, &rules[2]), 0);
	/* One that is inside, one that begins inside, an empty one. */
	assert_int_equal(row_builder_begin(builder, ROW_MODEL_BIAS + 110, 40, 110), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 110, &rules[2]), 0);
	assert_int_equal(row_builder_begin(builder, ROW_MODEL_BIAS + 120, 80, 120), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 120, &rules[1]), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 130, &rules[2]), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 160, &rules[0]), 0);
	assert_int_equal(row_builder_begin(builder, ROW_MODEL_BIAS + 1000, 0, 1000), 0);
	assert_int_equal(row_builder_add(builder, ROW_MODEL_BIAS + 1000, &rules[2]), 0);

	memset(model->is_code + 100, 1, 100);
	for (uint32_t i = 100; i < 200; i++)
		model->rules[i] = rules[i < 120 ? 0 : i < 150 ? 1 : i < 160 ? 2 : 0];
	assert_nr_rows(model, 4);
}

static void what_is_below_the_stack_pointer_makes_no_rule(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();

	for (uint32_t i = 0; i < 100; i++) {
		int8_t slot = (int8_t)(-2 - (int)i);

		row_model_begin(model, 1000 * i, 500);
		row_model_add(model, 1000 * i, (struct cfi_rule)SP_RULE(8, slot, NONE, slot));
		row_model_add(model, 1000 * i + 100,
			      (struct cfi_rule)SP_RULE(1000, -2, NONE, NONE));
	}
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = row_model_seal(model);
	assert_int_equal(head_of(&table)->nr_rules, 3);
}

static void a_run_that_holds_for_long_stays_over(void **state)
{
	static const uint32_t lens[] = { 50000, 61000, 65535, 65536, 65537, 65540, 131100, 190000 };
	(void)state;

	for (size_t i = 0; i < array_len(lens); i++) {
		_cleanup_(row_model_freep) struct row_model *model = row_model_new();

		add_function(model, 4090, lens[i], gcc_function, 4);
		row_model_begin(model, 4090 + lens[i], 100);
		assert_nr_rows(model, lens[i] > 61440 ? 2 : 1);
	}
}

static void runs_cross_pages(void **state)
{
	(void)state;

	for (uint32_t start = ROW_PAGE_BYTES - 9; start <= ROW_PAGE_BYTES; start++) {
		_cleanup_(row_model_freep) struct row_model *model = row_model_new();

		add_function(model, start, 110, gcc_function, array_len(gcc_function));
		add_function(model, start + 0x10000, 110, gcc_function, array_len(gcc_function));
		assert_nr_rows(model, 7);
	}
}

/* A fixed sequence (xorshift), so that a failure repeats. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Mostly a push or a pop of a register; sometimes any other change. */
static void change_rule(struct cfi_rule *rule, uint32_t *seed)
{
	uint32_t reg = next_random(seed) % NR_SAVED_REGS;

	switch (next_random(seed) % 16) {
	case 0:
		rule->saved[reg] = CFI_NOT_SAVED;
		break;
	case 1:
		rule->saved[reg] = next_random(seed) % 2 ? CFI_LOST : -4;
		break;
	case 2:
		rule->flags ^= CFI_SAVED_AT_RBP;
		break;
	case 3:
		*rule = (struct cfi_rule)SP_RULE(8, NONE, NONE, NONE);
		break;
	case 4:
		rule->kind = rule->kind == CFA_REGISTER ? CFA_PLT : CFA_REGISTER;
		break;
	case 5:
		rule->offset += (int32_t)(next_random(seed) % 64) - 32;
		break;
	case 6:
		rule->reg ^= CFI_RSP ^ CFI_RBP;
		break;
	case 7:
	case 8:
	case 9:
	case 10:
	case 11:
		rule->offset += 8;
		rule->saved[reg] = (int8_t)(-rule->offset / 8);
		break;
	default:
		rule->offset -= 8;
	}
}

static void add_random_function(struct row_model *model, uint32_t start, uint32_t len,
				uint32_t *seed)
{
	struct cfi_rule rule = SP_RULE(8, NONE, NONE, NONE);
	uint32_t offset = next_random(seed) % 8 ? 0 : 3;

	row_model_begin(model, start, len);
	while (offset < len) {
		row_model_add(model, start + offset, rule);
		offset += next_random(seed) % 8 ? 1 + next_random(seed) % 4
						: next_random(seed) % 99;
		change_rule(&rule, seed);
	}
}

static void any_functions_are_found_as_they_were_added(void **state)
{
	(void)state;

	for (uint32_t seed = 1; seed <= 60; seed++) {
		_cleanup_(row_model_freep) struct row_model *model = row_model_new();
		uint32_t random = seed * 2654435761U;
		uint32_t start = next_random(&random) % 20000;

		while (start < ROW_MODEL_TEXT_BYTES / 4 + seed * 1000) {
			uint32_t len = 1 + next_random(&random) % 600;

			add_random_function(model, start, len, &random);
			start += len + next_random(&random) % 40;
			if (next_random(&random) % 100 == 0)
				start += next_random(&random) % 20000;
		}

		struct row_table_bytes table = row_model_seal(model);
		row_table_bytes_done(&table);
	}
}

static void add_kind(struct row_builder *builder, uint32_t offset, struct cfi_rule rule)
{
	assert_int_equal(row_builder_add(builder, offset, &rule), 0);
}

static void fields_without_a_meaning_make_no_difference(void **state)
{
	static const uint8_t kinds[] = { CFA_SIGNAL, CFA_END, CFA_UNSUPPORTED };
	(void)state;
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	assert_int_equal(row_builder_new(ROW_MODEL_MAX_BYTES, &builder), 0);
	assert_int_equal(row_builder_begin(builder, 0, 1000, 0), 0);
	for (uint32_t i = 0; i < 10 * array_len(kinds); i++)
		add_kind(builder, i, (struct cfi_rule){ .kind = kinds[i / 10], .offset = (int)i });
	for (uint8_t i = 0; i < 10; i++)
		add_kind(builder, 40 + i, (struct cfi_rule){ .kind = CFA_REGISTER, .arg = i });
	/* Nor do rules that are none. */
	for (uint8_t i = 0; i < 10; i++)
		add_kind(builder, 50 + i, (struct cfi_rule){ .kind = CFA_NR_KINDS + i });
	add_kind(builder, 60, (struct cfi_rule){ .kind = CFA_DEREF, .reg = NR_REGS });
	assert_int_equal(row_builder_seal(builder, &table), 0);
	assert_true(row_table_is_valid(table.data, table.len));
	assert_int_equal(head_of(&table)->nr_rows, array_len(kinds) + 3);
}

static void a_table_of_nothing_is_none(void **state)
{
	(void)state;
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	struct row_table_bytes table = { .len = 42 };

	assert_int_equal(row_builder_new(ROW_MODEL_MAX_BYTES, &builder), 0);
	assert_int_equal(row_builder_seal(builder, &table), -ENODATA);
	assert_int_equal(row_builder_add(builder, 100, &no_rule), 0);
	assert_int_equal(row_builder_begin(builder, 100, 0, 100), 0);
	assert_int_equal(row_builder_seal(builder, &table), -ENODATA);
	assert_int_equal(row_builder_begin(builder, 100, 100, 100), 0);
	add_kind(builder, 100, no_rule);
	assert_int_equal(row_builder_seal(builder, &table), -ENODATA);
	assert_int_equal(table.len, 42);
}

/* After a failure as well. */
static void a_sealed_builder_is_empty(void **state)
{
	(void)state;
	_cleanup_(row_model_freep) struct row_model *model = row_model_new();
	_cleanup_(row_table_bytes_done) struct row_table_bytes none = { 0 };
	struct row_builder *builder = model->builder;

	add_function(model, 5000, 110, gcc_function, array_len(gcc_function));
	assert_nr_rows(model, 3);
	assert_int_equal(row_builder_begin(builder, 0, 10, UINT64_MAX - 20), 0);
	add_kind(builder, 0, gcc_function[0].rule);
	add_kind(builder, 5, gcc_function[3].rule);
	assert_int_equal(row_builder_begin(builder, 0, 10, UINT64_MAX - 5), -ENOSPC);
	assert_int_equal(row_builder_seal(builder, &none), -ENOSPC);
	assert_null(none.data);
	add_function(model, 5000, 110, gcc_function, array_len(gcc_function));
	assert_nr_rows(model, 3);
}

/* What breaks the contract is not found as it was added, but makes a valid table. */
static void functions_and_rows_in_any_order_make_a_valid_table(void **state)
{
	(void)state;
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	uint32_t random = 4711;

	assert_int_equal(row_builder_new(ROW_MODEL_MAX_BYTES, &builder), 0);
	for (int i = 0; i < 2000; i++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
		int nr = (int)(next_random(&random) % 200);
		struct cfi_rule rule = SP_RULE(8, NONE, NONE, NONE);

		for (int j = 0; j < nr; j++) {
			if (next_random(&random) % 8 == 0)
				assert_int_equal(row_builder_begin(builder, 10000,
								   next_random(&random) % 300,
								   next_random(&random) % 20000),
						 0);
			change_rule(&rule, &random);
			add_kind(builder, 9990 + next_random(&random) % 300, rule);
		}
		if (row_builder_seal(builder, &table) == 0)
			assert_true(row_table_is_valid(table.data, table.len));
	}
}

static void build_under_torture(struct row_table_bytes *ret_table)
{
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	int r = row_builder_new(ROW_MODEL_MAX_BYTES, &builder);

	for (uint32_t i = 0; i < 200 && r == 0; i++) {
		struct cfi_rule rule = SP_RULE(-100000 * (int32_t)i, NONE, NONE, NONE);

		r = row_builder_begin(builder, i * 100, 50, i * 1000);
		if (r == 0)
			r = row_builder_add(builder, i * 100, &rule);
	}
	if (builder)
		r = row_builder_seal(builder, ret_table);
	assert_true(r == 0 || r == -ENOMEM);
	assert_true((r == 0) == (ret_table->data != NULL));
}

static void without_memory_there_is_no_table(void **state)
{
	unsigned int n = 0;
	bool has_failed;
	(void)state;

	do {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		torture_begin(++n);
		build_under_torture(&table);
		has_failed = torture_end();
		assert_true(has_failed == (table.data == NULL));
	} while (has_failed);
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_become_one_row_and_pops_another_one),
		cmocka_unit_test(a_place_above_the_stack_pointer_is_not_there_before_its_row),
		cmocka_unit_test(a_run_ends_where_the_row_is_not_a_push),
		cmocka_unit_test(rules_differ_in_more_than_the_offset),
		cmocka_unit_test(places_at_the_frame_pointer_stay_as_they_are),
		cmocka_unit_test(equal_neighbours_are_one_row_even_across_functions),
		cmocka_unit_test(padding_goes_on_with_the_last_rule_and_gaps_have_none),
		cmocka_unit_test(code_without_a_row_has_no_cfi),
		cmocka_unit_test(of_several_rows_for_an_address_the_last_one_counts),
		cmocka_unit_test(rows_outside_of_their_function_are_clipped),
		cmocka_unit_test(what_is_below_the_stack_pointer_makes_no_rule),
		cmocka_unit_test(a_run_that_holds_for_long_stays_over),
		cmocka_unit_test(runs_cross_pages),
		cmocka_unit_test(any_functions_are_found_as_they_were_added),
		cmocka_unit_test(fields_without_a_meaning_make_no_difference),
		cmocka_unit_test(a_table_of_nothing_is_none),
		cmocka_unit_test(a_sealed_builder_is_empty),
		cmocka_unit_test(functions_and_rows_in_any_order_make_a_valid_table),
		cmocka_unit_test(without_memory_there_is_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
