/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/go/gopclntab.h"

#include "base/cleanup.h"
#include "go_table.h"
#include "unit.h"
#include "unwind/rows/functions.h"

#include <string.h>

static void assert_rule(size_t index, uint32_t address, enum cfa_kind kind)
{
	assert_true(index < go_nr_rows);
	assert_int_equal(go_rows[index].address, GO_TEXT + address);
	assert_int_equal(go_rows[index].rule.kind, kind);
}

static void assert_plain(size_t index, uint32_t address, int32_t offset, int saved_rbp)
{
	assert_rule(index, address, CFA_REGISTER);
	assert_int_equal(go_rows[index].rule.reg, CFI_RSP);
	assert_int_equal(go_rows[index].rule.offset, offset);
	assert_int_equal(go_rows[index].rule.return_address, -1);
	assert_int_equal(go_rows[index].rule.saved[0], saved_rbp);
}

/* push; mov, sub $0x18; …; add; pop; ret: 0, 8, 32, 8, 0 below the entry. The first change is
 * from -1. */
#define PUSHING "\x02\x01\x10\x07\x30\x40\x2f\x01\x0f\x01"

static void rows_follow_the_stack_pointer_in_every_format(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	(void)state;

	for (size_t i = 0; i < GO_NR_LAYOUTS; i++) {
		struct unwind_losses losses = go_table_read_one(&go_layouts[i], &function);

		assert_int_equal(losses.nr_bad_entries, 0);
		assert_int_equal(go_nr_rows, 5);
		assert_plain(0, 0x100, 8, -2);
		assert_plain(1, 0x101, 16, -2);
		assert_plain(2, 0x108, 40, -2);
		assert_plain(3, 0x148, 16, -2);
		assert_plain(4, 0x149, 8, -2);
	}
}

/* sub $0x20; mov %rbp,0x18(%rsp); lea. */
static void rbp_is_saved_one_instruction_after_an_old_frame_is_open(void **state)
{
	const struct go_function small = { 0x100, "main.main", 0, "\x02\x04\x40\x40\x3f\x01" };
	const struct go_function large = { 0x100, "main.main", 0, "\x02\x07\x80\x10\x40" };
	(void)state;

	go_table_read_one(&go_layouts[0], &small);
	assert_int_equal(go_nr_rows, 4);
	assert_plain(0, 0x100, 8, -2);
	assert_plain(1, 0x104, 40, CFI_NOT_SAVED);
	assert_plain(2, 0x109, 40, -2);
	assert_plain(3, 0x144, 8, -2);
	go_table_read_one(&go_layouts[0], &large);
	assert_plain(1, 0x107, 1032, CFI_NOT_SAVED);
	assert_plain(2, 0x10f, 1032, -2);
}

static void nobody_called_the_functions_at_the_top_of_stacks(void **state)
{
	static const struct go_function functions[] = {
		{ 0x100, "runtime.goexit", GO_TEST_TOP_FRAME, "\x02\x40" },
		{ 0x100, "runtime.mstart", 0, PUSHING },
		{ 0x100, "_rt0_amd64_linux", 0, "\x02\x40" },
		{ 0x100, "renamed.by.an.obfuscator", GO_TEST_TOP_FRAME, PUSHING },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		go_table_read_one(GO_NEWEST, &functions[i]);
		assert_int_equal(go_nr_rows, 1);
		assert_rule(0, 0x100, CFA_END);
	}
}

static void the_frame_of_a_stack_switch_is_where_rbp_points_to(void **state)
{
	static const struct go_function functions[] = {
		{ 0x100, "runtime.systemstack", 0, PUSHING },
		{ 0x100, "crypto.something", GO_TEST_WRITES_SP, PUSHING },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		go_table_read_one(GO_NEWEST, &functions[i]);
		assert_plain(0, 0x100, 8, -2);
		assert_plain(1, 0x101, 16, -2);
		assert_rule(2, 0x104, CFA_STACK_SWITCH);
		assert_rule(3, 0x108, CFA_STACK_SWITCH);
		assert_rule(4, 0x148, CFA_STACK_SWITCH);
		assert_plain(5, 0x149, 8, -2);
	}
}

static void a_stack_switch_without_a_frame_is_one_everywhere(void **state)
{
	const struct go_function function = { 0x100, "runtime.morestack", GO_TEST_WRITES_SP,
					      "\x02\x40" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 1);
	assert_rule(0, 0x100, CFA_STACK_SWITCH);
}

/* push; mov …; push %rax; call; pop. */
static void mcall_ends_the_schedulers_stack(void **state)
{
	const struct go_function function = { 0x100, "runtime.mcall", GO_TEST_WRITES_SP,
					      "\x02\x01\x10\x40\x10\x08\x0f\x04" };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 5);
	assert_plain(1, 0x101, 16, -2);
	assert_rule(2, 0x104, CFA_STACK_SWITCH);
	assert_rule(3, 0x141, CFA_END);
	assert_rule(4, 0x149, CFA_STACK_SWITCH);
}

static void signal_handlers_return_to_one_byte_before_the_trampoline(void **state)
{
	static const struct go_function functions[] = {
		{ 0x100, "main.main", 0, PUSHING },
		{ 0x200, "runtime.sigreturn__sigaction", 0, "\x02\x10" },
	};
	_cleanup_(unwind_functions_done) struct unwind_functions list = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, functions, 2);
	go_table_read(&table, &list);
	assert_int_equal(list.nr_items, 2);
	assert_int_equal(list.items[0].start, GO_TEXT + 0x100);
	assert_int_equal(list.items[0].end, GO_TEXT + 0x1ff);
	assert_int_equal(list.items[1].start, GO_TEXT + 0x1ff);
	assert_rule(go_nr_rows - 1, 0x1ff, CFA_SIGNAL);
}

/* push, sub $48, save, sub $24: below the entry 0, 8, 56, 80. */
static void registers_of_c_are_found_where_it_calls_go(void **state)
{
	const struct go_function function = { 0x100, "crosscall2", 0,
					      "\x02\x01\x10\x07\x60\x26\x30\x10\x2f\x10" };
	static const int8_t saved[] = { -2, -8, -7, -6, -5, -4 };
	(void)state;

	go_table_read_one(GO_NEWEST, &function);
	assert_int_equal(go_nr_rows, 5);
	assert_int_equal(go_rows[2].rule.saved[1], CFI_NOT_SAVED);
	assert_plain(3, 0x12e, 88, -2);
	assert_memory_equal(go_rows[3].rule.saved, saved, sizeof(saved));
	assert_plain(4, 0x13e, 64, -2);
	assert_memory_equal(go_rows[4].rule.saved, saved, sizeof(saved));
}

static void a_popped_return_address_leaves_the_frame_pointer(void **state)
{
	const struct go_function function = { 0x100, "syscall.rawVforkSyscall", 0,
					      "\x02\x10\x0f\x02\x10\x10" };
	(void)state;

	assert_int_equal(go_table_read_one(GO_NEWEST, &function).nr_bad_entries, 0);
	assert_int_equal(go_nr_rows, 3);
	assert_rule(1, 0x110, CFA_NONE);
	assert_plain(2, 0x112, 8, -2);
}

static void functions_without_a_table_are_not_listed(void **state)
{
	const struct go_function function = { 0x100, "c_function", 0, NULL };
	_cleanup_(unwind_functions_done) struct unwind_functions list = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, &function, 1);
	assert_int_equal(go_table_read(&table, &list).nr_bad_entries, 0);
	assert_int_equal(list.nr_items, 0);
}

static void other_headers_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint8_t byte;
	} changes[] = {
		{ 0, 0xf2 }, /* magic */
		{ 3, 0xfe },
		{ 4, 1 },
		{ 6, 4 }, /* another machine's instructions */
		{ 7, 4 }, /* 32-bit pointers */
		{ 8, 0 }, /* no functions */
		{ 8, 200 }, /* more than fit */
		{ 15, 0x80 },
		{ 8 + 8 * 3 + 7, 1 }, /* parts outside */
		{ 8 + 8 * 6 + 3, 1 },
		{ 8 + 8 * 7 + 4, 1 },
	};
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	struct unwind_source *source;
	struct go_table table;
	(void)state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		go_table_make(&table, GO_NEWEST, &function, 1);
		table.data[changes[i].offset] = changes[i].byte;

		struct gopclntab_section section = go_table_section(&table);
		assert_int_equal(gopclntab_source_new(&section, &source), -EBADMSG);
	}
}

/* Whatever is missing at the end, nothing is read behind it. */
static void truncated_tables_are_refused_or_lose_functions(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	struct go_table table;
	(void)state;

	for (size_t i = 0; i < GO_NR_LAYOUTS; i++) {
		go_table_make(&table, &go_layouts[i], &function, 1);
		for (size_t len = 0; len < table.len; len++) {
			_cleanup_(unwind_functions_done) struct unwind_functions list = { 0 };
			_cleanup_free_ uint8_t *copy = malloc(len + 1);
			struct gopclntab_section section = { copy, len, GO_TEXT };
			struct unwind_losses losses = { 0 };
			struct unwind_source *source = NULL;

			assert_non_null(copy);
			memcpy(copy, table.data, len);
			copy = realloc(copy, len ? len : 1);
			section.data = copy;
			list.max_items = 10;
			if (gopclntab_source_new(&section, &source) < 0)
				continue;
			assert_int_equal(source->ops->list(source, &list, &losses), 0);
			assert_int_equal(list.nr_items + losses.nr_bad_entries, 1);
			unwind_source_free(source);
		}
	}
}

static void damaged_steps_are_counted_and_the_rows_before_stay(void **state)
{
	static const struct {
		const char *pcsp;
		size_t go_nr_rows;
	} cases[] = {
		{ "\x02\x10\x10\x80\x80\x80\x80\x80\x80\x80", 1 }, /* a number without end */
		{ "\x80\x80\x80\x80\x80\x80", 0 },
		{ "\xfe\xff\xff\xff\x0f\x10", 0 }, /* a frame of 2 GB */
		{ "\x02\x10\x10", 1 }, /* no bytes of code */
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct go_function function = { 0x100, "main.main", 0, cases[i].pcsp };

		struct unwind_losses losses = go_table_read_one(GO_NEWEST, &function);
		assert_int_equal(losses.nr_bad_entries, 1);
		assert_int_equal(go_nr_rows, cases[i].go_nr_rows);
	}
}

static void functions_in_descending_order_are_counted(void **state)
{
	static const struct go_function functions[] = {
		{ 0x300, "main.a", 0, PUSHING },
		{ 0x200, "main.b", 0, PUSHING },
		{ 0x400, "main.c", 0, PUSHING },
	};
	_cleanup_(unwind_functions_done) struct unwind_functions list = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, functions, 3);
	assert_int_equal(go_table_read(&table, &list).nr_bad_entries, 1);
	assert_int_equal(list.nr_items, 2);
}

/* A million of functions could share one long table. */
static void the_steps_of_all_functions_together_are_bounded(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	struct unwind_losses losses = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, &function, 1);
	_cleanup_(unwind_source_freep) struct unwind_source *source = go_table_open(&table);
	const struct unwind_function listed = { GO_TEXT + 0x100, GO_TEXT + 0x1000, 0, 0 };
	for (size_t i = 0; i < 4 * GO_TABLE_MAX_BYTES; i++)
		assert_int_equal(source->ops->emit(source, &listed, NULL, &losses), 0);
	assert_in_range(losses.nr_bad_entries, 1, 4 * GO_TABLE_MAX_BYTES - 1);
}

static void a_full_builder_ends_the_function(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	const struct unwind_function listed = { GO_TEXT + 0x100, GO_TEXT + 0x1000, 0, 0 };
	struct unwind_losses losses = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, &function, 1);
	_cleanup_(unwind_source_freep) struct unwind_source *source = go_table_open(&table);
	go_nr_rows = 0;
	go_add_result = -ENOSPC;
	assert_int_equal(source->ops->emit(source, &listed, NULL, &losses), -ENOSPC);
	go_add_result = 0;
	assert_int_equal(go_nr_rows, 1);
	assert_int_equal(losses.nr_bad_entries, 0);
}

static void references_to_no_function_give_no_rows(void **state)
{
	const struct go_function function = { 0x100, "main.main", 0, PUSHING };
	const struct unwind_function wrong = { GO_TEXT + 0x100, GO_TEXT + 0x1000, UINT64_MAX, 0 };
	struct unwind_losses losses = { 0 };
	struct go_table table;
	(void)state;

	go_table_make(&table, GO_NEWEST, &function, 1);
	_cleanup_(unwind_source_freep) struct unwind_source *source = go_table_open(&table);
	go_nr_rows = 0;
	assert_int_equal(source->ops->emit(source, &wrong, NULL, &losses), 0);
	assert_int_equal(go_nr_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_follow_the_stack_pointer_in_every_format),
		cmocka_unit_test(rbp_is_saved_one_instruction_after_an_old_frame_is_open),
		cmocka_unit_test(nobody_called_the_functions_at_the_top_of_stacks),
		cmocka_unit_test(the_frame_of_a_stack_switch_is_where_rbp_points_to),
		cmocka_unit_test(a_stack_switch_without_a_frame_is_one_everywhere),
		cmocka_unit_test(mcall_ends_the_schedulers_stack),
		cmocka_unit_test(signal_handlers_return_to_one_byte_before_the_trampoline),
		cmocka_unit_test(registers_of_c_are_found_where_it_calls_go),
		cmocka_unit_test(a_popped_return_address_leaves_the_frame_pointer),
		cmocka_unit_test(functions_without_a_table_are_not_listed),
		cmocka_unit_test(other_headers_are_refused),
		cmocka_unit_test(truncated_tables_are_refused_or_lose_functions),
		cmocka_unit_test(damaged_steps_are_counted_and_the_rows_before_stay),
		cmocka_unit_test(functions_in_descending_order_are_counted),
		cmocka_unit_test(the_steps_of_all_functions_together_are_bounded),
		cmocka_unit_test(a_full_builder_ends_the_function),
		cmocka_unit_test(references_to_no_function_give_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
