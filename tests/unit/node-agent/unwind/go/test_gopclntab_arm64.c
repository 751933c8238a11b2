/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of Go functions on arm64; what is the same on x86-64 is in test_gopclntab.c. */
#include "unwind/go/gopclntab.h"

#include "base/cleanup.h"
#include "go_table.h"
#include "unit.h"
#include "unwind/rows/functions.h"

#include <string.h>

#define N CFI_NOT_SAVED

/* str x30,[sp,#-48]!; …; ldr x30,[sp],#48; ret: 0, 48, 0 below the entry. The first change is
 * from -1, and code counts in instructions. */
#define USUAL "\x02\x01\x60\x10\x5f\x01"

static const struct cfi_rule *rule_at(size_t index, uint32_t address)
{
	assert_true(index < go_nr_rows);
	assert_int_equal(go_rows[index].address, GO_TEXT + address);
	return &go_rows[index].rule;
}

static void assert_kind(size_t index, uint32_t address, enum cfa_kind kind)
{
	assert_int_equal(rule_at(index, address)->kind, kind);
}

static void assert_leaf(size_t index, uint32_t address, int32_t offset)
{
	const struct cfi_rule leaf = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.flags = CFI_RETURN_IN_REGISTER,
		.offset = offset,
		.arg = CFI_LR,
		.saved = { N },
	};

	assert_memory_equal(rule_at(index, address), &leaf, sizeof(leaf));
}

/* fp is in the word below lr's, or (N) in its register. */
static void assert_saved(size_t index, uint32_t address, int32_t offset, int lr, int fp)
{
	const struct cfi_rule *rule = rule_at(index, address);

	assert_int_equal(rule->kind, CFA_REGISTER);
	assert_int_equal(rule->reg, CFI_SP);
	assert_int_equal(rule->flags, fp == N ? 0 : CFI_SAVED_BELOW_SP);
	assert_int_equal(rule->offset, offset);
	assert_int_equal(rule->return_address, lr);
	assert_int_equal(rule->saved[0], fp);
}

static void lr_and_fp_are_below_the_frame_in_every_format(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, USUAL };
	(void)state;

	for (size_t i = 0; i < GO_NR_LAYOUTS; i++) {
		struct unwind_losses losses = go_table_read_one(&go_layouts[i], &function);

		assert_int_equal(losses.nr_bad_entries, 0);
		assert_int_equal(go_nr_rows, 4);
		assert_leaf(0, 0x100, 0);
		assert_saved(1, 0x104, 48, -6, N);
		assert_saved(2, 0x108, 48, -6, -7);
		assert_leaf(3, 0x144, 0);
	}
}

/* What a function opens beside its frame does not move what is saved. */
static void places_stay_where_sp_is_moved_once_more(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0,
					      "\x02\x01\x60\x10\x20\x02\x1f\x01" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 5);
	assert_saved(3, 0x144, 64, -6, -7);
	assert_saved(4, 0x14c, 48, -6, -7);
}

static void frames_may_be_as_large_as_slots_can_say(void **state)
{
	const struct go_function large = { 0x100, "main.main", 0, "\x02\x01\xe0\xff\x1f\x10" };
	const struct go_function too_large = { 0x100, "main.main", 0, "\x02\x01\x80\x80\x20\x10" };
	(void)state;

	go_table_read_one(GO_NEWEST, &large);
	assert_saved(2, 0x108, 262128, -32766, -32767);
	go_table_read_one(GO_NEWEST, &too_large);
	assert_leaf(0, 0x100, 0);
	assert_kind(1, 0x104, CFA_UNSUPPORTED);
	assert_kind(2, 0x108, CFA_UNSUPPORTED);
}

static void nobody_called_the_functions_at_the_top_of_stacks(void **state)
{
	static const struct go_function functions[] = {
		{ 0x100, "runtime.goexit", GO_TEST_TOP_FRAME, "\x02\x10" },
		{ 0x100, "runtime.mstart", 0, USUAL },
		{ 0x100, "_rt0_arm64", 0, "\x02\x10" },
		{ 0x100, "_rt0_arm64_linux", 0, "\x02\x10" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(functions); i++) {
		go_table_read_one(GO_NEWEST, &functions[i]);
		assert_int_equal(go_nr_rows, 1);
		assert_kind(0, 0x100, CFA_END);
	}
}

static void the_frame_of_a_stack_switch_is_where_fp_points_to(void **state)
{
	const struct go_function function = { 0x100, "runtime.systemstack", 0, USUAL };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 5);
	assert_leaf(0, 0x100, 0);
	assert_saved(1, 0x104, 48, -6, N);
	assert_saved(2, 0x108, 48, -6, -7);
	assert_kind(3, 0x10c, CFA_STACK_SWITCH);
	assert_int_equal(rule_at(3, 0x10c)->offset, 48);
	assert_leaf(4, 0x144, 0);
}

static void a_leaf_that_overwrites_its_frame_keeps_lr(void **state)
{
	const struct go_function function = { 0x100, "internal/chacha8rand.block", 0, USUAL };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 4);
	assert_leaf(0, 0x100, 0);
	assert_leaf(1, 0x104, 48);
	assert_int_equal(rule_at(2, 0x108)->flags, CFI_RETURN_IN_REGISTER | CFI_SAVED_BELOW_SP);
	assert_int_equal(rule_at(2, 0x108)->saved[0], -7);
	assert_leaf(3, 0x144, 0);
}

static void a_stack_switch_without_a_frame_is_one_everywhere(void **state)
{
	const struct go_function function = { 0x100, "runtime.gogo", GO_TEST_WRITES_SP,
					      "\x02\x10" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 1);
	assert_kind(0, 0x100, CFA_STACK_SWITCH);
	assert_int_equal(rule_at(0, 0x100)->offset, 0);
}

static void mcall_ends_the_schedulers_stack(void **state)
{
	const struct go_function function = { 0x100, "runtime.mcall", GO_TEST_WRITES_SP,
					      "\x02\x10\x20\x04" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 2);
	assert_leaf(0, 0x100, 0);
	assert_kind(1, 0x140, CFA_END);
}

/* sub sp,sp,#192; 11 stores; stp x29,x30,[sp,#176]; …; add. */
static void crosscall2_saves_lr_behind_the_registers_of_c(void **state)
{
	const struct go_function function = { 0x100, "crosscall2", 0,
					      "\x02\x01\x80\x03\x20\xff\x02\x01" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 4);
	assert_leaf(0, 0x100, 0);
	assert_leaf(1, 0x104, 192);
	assert_int_equal(rule_at(2, 0x134)->offset, 192);
	assert_int_equal(go_rows[2].rule.return_address, -1);
	assert_int_equal(go_rows[2].rule.saved[0], -2);
	assert_leaf(3, 0x184, 0);
}

/* Go says that it has no caller, as for Go it has none. */
static void signal_handlers_have_a_caller(void **state)
{
	const struct go_function function = { 0x100, "runtime.sigtramp", GO_TEST_TOP_FRAME, USUAL };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_saved(2, 0x108, 48, -6, -7);
}

static void injected_calls_have_16_bytes_above_their_frame(void **state)
{
	const struct go_function function = { 0x100, "runtime.asyncPreempt", 0, USUAL };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 4);
	assert_leaf(0, 0x100, 16);
	assert_saved(1, 0x104, 64, -8, N);
	assert_saved(2, 0x108, 64, -8, -9);
	assert_leaf(3, 0x144, 16);
}

static void a_popped_frame_leaves_the_frame_pointer(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, "\x02\x04\x1f\x02" };
	(void)state;

	assert_int_equal(go_table_read_one(GO_NEWEST, &function).nr_bad_entries, 0);
	assert_int_equal(go_nr_rows, 2);
	assert_kind(1, 0x110, CFA_NONE);
}

static void tables_of_other_machines_are_refused(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, USUAL };
	static const uint8_t quantums[] = { 0, 1, 2, 5 };
	struct unwind_source *source;
	struct go_table table;
	(void)state;

	for (size_t i = 0; i < array_len(quantums); i++) {
		go_table_make(&table, GO_NEWEST, &function, 1);
		table.data[6] = quantums[i];

		struct gopclntab_section section = go_table_section(&table);
		assert_int_equal(gopclntab_source_new(&section, &source), -EBADMSG);
	}
}

/* A step of no instructions; one of more than the function has; a table that is cut off. */
static void damaged_steps_end_a_function(void **state)
{
	static const struct go_function functions[] = {
		{ 0x100, "main.main", 0, "\x02\x01\x60\x00" },
		{ 0x100, "main.main", 0, "\x02\xff\xff\xff\xff\x0f" },
		{ 0x100, "main.main", 0, "\x02\x01\x60\xff\xff\xff\xff\xff\xff" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(functions); i++) {
		struct unwind_losses losses = go_table_read_one(GO_NEWEST, &functions[i]);

		assert_true(go_nr_rows <= 3);
		assert_leaf(0, 0x100, 0);
		assert_int_equal(losses.nr_bad_entries, i != 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lr_and_fp_are_below_the_frame_in_every_format),
		cmocka_unit_test(places_stay_where_sp_is_moved_once_more),
		cmocka_unit_test(frames_may_be_as_large_as_slots_can_say),
		cmocka_unit_test(nobody_called_the_functions_at_the_top_of_stacks),
		cmocka_unit_test(the_frame_of_a_stack_switch_is_where_fp_points_to),
		cmocka_unit_test(a_leaf_that_overwrites_its_frame_keeps_lr),
		cmocka_unit_test(a_stack_switch_without_a_frame_is_one_everywhere),
		cmocka_unit_test(mcall_ends_the_schedulers_stack),
		cmocka_unit_test(crosscall2_saves_lr_behind_the_registers_of_c),
		cmocka_unit_test(signal_handlers_have_a_caller),
		cmocka_unit_test(injected_calls_have_16_bytes_above_their_frame),
		cmocka_unit_test(a_popped_frame_leaves_the_frame_pointer),
		cmocka_unit_test(tables_of_other_machines_are_refused),
		cmocka_unit_test(damaged_steps_end_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
