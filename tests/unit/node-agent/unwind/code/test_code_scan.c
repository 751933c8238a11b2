/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_scan.h"

#include "base/cleanup.h"
#include "code_scan_fixture.h"
#include "torture.h"

#include "unit.h"

#define ADDRESS SCAN_ADDRESS
#define RBX 1 /* index in cfi_rule.saved */
#define RBP 0

/* A function without anything to do, and padding. */
#define LEAF "\x31\xc0\xc3"

#define CODE(text) .bytes = (text), .len = sizeof(text) - 1

static void assert_cfa(const struct row_table_bytes *table, uint64_t offset, uint8_t reg,
		       int32_t distance)
{
	struct cfi_rule rule = scan_rule_at(table, offset);

	assert_int_equal(rule.kind, CFA_REGISTER);
	assert_int_equal(rule.reg, reg);
	assert_int_equal(rule.offset, distance);
	assert_int_equal(rule.return_address, -1);
}

/* Distances of rsp from the CFA at offsets; 0: there is no rule. */
struct depth {
	uint64_t offset;
	int32_t distance;
};

static void depths_follow_the_code(void **state)
{
	static const struct {
		struct code code;
		struct depth depths[6]; /* up to one of offset 0 but the first */
	} cases[] = {
		{ { CODE(LEAF) }, { { 0, 8 }, { 2, 8 } } },
		/* push rbp, rbx; sub $24; add $24; pop; ret */
		{ { CODE("\x55\x53\x48\x83\xec\x18\x48\x83\xc4\x18\x5b\x5d\xc3") },
		  { { 0, 8 }, { 1, 16 }, { 2, 24 }, { 6, 48 }, { 10, 24 }, { 12, 8 } } },
		/* lea -40(%rsp),%rsp; lea 40(%rsp),%rsp; ret */
		{ { CODE("\x48\x8d\x64\x24\xd8\x48\x8d\x64\x24\x28\xc3") },
		  { { 0, 8 }, { 5, 48 }, { 10, 8 } } },
		/* push rbx; test; je 1f; pop; ret; 1: xor; pop; ret */
		{ { CODE("\x53\x85\xff\x74\x02\x5b\xc3\x31\xc0\x5b\xc3") },
		  { { 5, 16 }, { 6, 8 }, { 7, 16 }, { 9, 16 }, { 10, 8 } } },
		/* push rbx; jmp 2f; 1: pop; ret; 2: jmp 1b: known from behind */
		{ { CODE("\x53\xeb\x02\x5b\xc3\xeb\xfc") },
		  { { 1, 16 }, { 3, 16 }, { 4, 8 }, { 5, 16 } } },
		/* push rbx; jmp *%rax; mov $1,%eax; pop; ret: a jump table's case */
		{ { CODE("\x53\xff\xe0\xb8\x01\x00\x00\x00\x5b\xc3") },
		  { { 1, 16 }, { 3, 16 }, { 9, 8 } } },
		/* sub $8; je 1f; call; 1: add $8; ret: a call that returns */
		{ { CODE("\x48\x83\xec\x08\x74\x05\xe8\x00\x10\x00\x00\x48\x83\xc4\x08\xc3") },
		  { { 4, 16 }, { 11, 16 }, { 15, 8 } } },
		/* je 1f; sub $8; call; 1: ret: a call that does not */
		{ { CODE("\x74\x09\x48\x83\xec\x08\xe8\x00\x10\x00\x00\xc3") },
		  { { 2, 8 }, { 6, 16 }, { 11, 8 } } },
		/* call 1f; 1: pop %rax; ret */
		{ { CODE("\xe8\x00\x00\x00\x00\x58\xc3") }, { { 0, 8 }, { 5, 16 }, { 6, 8 } } },
		/* pop 64(%rdi); xor; push 64(%rdi); ret: nothing is on the stack in between */
		{ { CODE("\x8f\x47\x40\x31\xc0\xff\x77\x40\xc3") },
		  { { 0, 8 }, { 3, 0 }, { 8, 8 } } },
		/* sub %rax,%rsp without frame pointer */
		{ { CODE("\x53\x48\x29\xc4\x31\xc0\xc3") }, { { 1, 16 }, { 4, 0 }, { 6, 0 } } },
		/* je 1f; push; 1: nop; ret: two ways that contradict each other */
		{ { CODE("\x74\x01\x50\x31\xc0\x31\xc0\xc3") }, { { 2, 8 }, { 3, 0 }, { 7, 0 } } },
		/* push; (bad); xor; ret */
		{ { CODE("\x50\x06\x31\xc0\xc3") }, { { 0, 8 }, { 2, 0 }, { 4, 0 } } },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		scan_code(&cases[i].code, &table);
		for (size_t j = 0; j < 6 && (j == 0 || cases[i].depths[j].offset > 0); j++) {
			const struct depth *depth = &cases[i].depths[j];

			if (depth->distance > 0)
				assert_cfa(&table, depth->offset, CFI_RSP, depth->distance);
			else
				assert_int_equal(scan_rule_at(&table, depth->offset).kind,
						 CFA_NONE);
		}
	}
}

static void a_guess_that_makes_no_sense_is_dropped(void **state)
{
	/* pop rbx; ret: what returns to elsewhere than its caller is no function */
	const struct code code = { CODE("\x5b\xc3") };
	struct row_table_bytes table = { 0 };
	(void)state;

	assert_int_equal(scan_build(&code, &table), -ENODATA);
}

static void a_frame_pointer_is_used_where_there_is_one(void **state)
{
	/* push rbp; mov rsp,rbp; sub rax,rsp; lea -8(rbp),rsp; leave; ret */
	const struct code code = { CODE("\x55\x48\x89\xe5\x48\x29\xc4\x48\x8d\x65\xf8\xc9\xc3") };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 1, CFI_RSP, 16);
	assert_cfa(&table, 4, CFI_RBP, 16);
	assert_cfa(&table, 7, CFI_RBP, 16);
	assert_int_equal(scan_rule_at(&table, 7).saved[RBP], -2);
	assert_cfa(&table, 12, CFI_RSP, 8);
	assert_int_equal(scan_rule_at(&table, 12).saved[RBP], CFI_NOT_SAVED);
}

static void enter_makes_the_same_frame(void **state)
{
	/* enter $16; leave; ret */
	const struct code code = { CODE("\xc8\x10\x00\x00\xc9\xc3") };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 4, CFI_RBP, 16);
	assert_cfa(&table, 5, CFI_RSP, 8);
}

static void registers_are_where_they_were_saved_first(void **state)
{
	/* sub $24; mov rbx,8(rsp); xor ebx,ebx; push rbx; pop rax; mov 8(rsp),rbx; add $24; ret */
	const struct code code = { CODE("\x48\x83\xec\x18\x48\x89\x5c\x24\x08\x31\xdb\x53\x58"
					"\x48\x8b\x5c\x24\x08\x48\x83\xc4\x18\xc3") };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_int_equal(scan_rule_at(&table, 4).saved[RBX], CFI_NOT_SAVED);
	assert_int_equal(scan_rule_at(&table, 9).saved[RBX], -3);
	assert_int_equal(scan_rule_at(&table, 12).saved[RBX], -3);
	assert_int_equal(scan_rule_at(&table, 18).saved[RBX], CFI_NOT_SAVED);
}

static void a_register_that_nobody_saved_is_lost(void **state)
{
	/* xor ebx,ebx; push rbx; pop rbx; ret */
	const struct code code = { CODE("\x31\xdb\x53\x5b\xc3") };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_int_equal(scan_rule_at(&table, 0).saved[RBX], CFI_NOT_SAVED);
	for (uint64_t at = 2; at < 5; at++)
		assert_int_equal(scan_rule_at(&table, at).saved[RBX], CFI_LOST);
}

static void functions_begin_behind_padding_at_their_calls_and_symbols(void **state)
{
	/* push; push; ud2 | nops | leaf at 16 | push; call 26; … | leaf at 26 | push; ud2 | leaf
	 * at 32 */
	const struct code code = {
		CODE("\x50\x50\x0f\x0b\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\x66\x90" LEAF
		     "\x50\xe8\x01\x00\x00\x00\xf4" LEAF "\x50\x0f\x0b" LEAF),
		(const struct scan_start[]){ { ADDRESS + 19, false }, { ADDRESS + 32, true } }, 2
	};
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 2, CFI_RSP, 24);
	assert_cfa(&table, 16, CFI_RSP, 8);
	assert_cfa(&table, 19, CFI_RSP, 8);
	assert_cfa(&table, 20, CFI_RSP, 16);
	assert_cfa(&table, 26, CFI_RSP, 8);
	assert_cfa(&table, 32, CFI_RSP, 8);
}

static void a_cold_part_has_the_stack_of_who_jumps_there(void **state)
{
	/* cold: call; pop; ret | hot: push; jne cold; pop; ret */
	const struct code code = {
		CODE("\xe8\x00\x10\x00\x00\x5b\xc3\x53\x75\xf6\x5b\xc3"),
		(const struct scan_start[]){ { ADDRESS, true }, { ADDRESS + 7, false } }, 2
	};
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 0, CFI_RSP, 16);
	assert_cfa(&table, 6, CFI_RSP, 8);
	assert_cfa(&table, 7, CFI_RSP, 8);
	assert_cfa(&table, 10, CFI_RSP, 16);
}

static void the_end_of_a_signal_handler_is_a_signals(void **state)
{
	static const struct code codes[] = {
		{ CODE("\x31\xc0\xc3\x90\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05") },
		{ CODE("\x31\xc0\xc3\x90\xb8\x0f\x00\x00\x00\x0f\x05") },
	};
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		scan_code(&codes[i], &table);
		assert_cfa(&table, 2, CFI_RSP, 8);
		for (uint64_t at = 3; at < codes[i].len; at++)
			assert_int_equal(scan_rule_at(&table, at).kind, CFA_SIGNAL);
	}
}

static void a_byte_of_another_function_before_it_has_no_rule(void **state)
{
	const struct code code = { CODE("\x31\xc0\xc3\xb8\x0f\x00\x00\x00\x0f\x05") };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 1, CFI_RSP, 8);
	assert_int_equal(scan_rule_at(&table, 2).kind, CFA_NONE);
	assert_int_equal(scan_rule_at(&table, 3).kind, CFA_SIGNAL);
}

static void the_first_call_of_a_thread_ends_the_stack(void **state)
{
	static const struct {
		struct code code;
		size_t len; /* of the call, which is at 1 */
	} cases[] = {
		{ { CODE("\x50\xff\xd0\x89\xc7\xe8\x00\x10\x00\x00") }, 2 },
		{ { CODE("\x50\x41\xff\xd1\x48\x89\xc7\xe8\x00\x10\x00\x00") }, 3 },
		{ { CODE("\x50\xff\x13\x48\x89\xc7\xe8\x00\x10\x00\x00") }, 2 },
		{ { CODE("\x50\x41\xff\xd1\x89\xc7\x31\xc0\xb0\x3c\x0f\x05") }, 3 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		scan_code(&cases[i].code, &table);
		assert_cfa(&table, 0, CFI_RSP, 8);
		assert_int_equal(scan_rule_at(&table, cases[i].len).kind, CFA_END);
		assert_cfa(&table, cases[i].len + 1, CFI_RSP, 16);
	}
}

static void the_entry_of_a_program_ends_the_stack(void **state)
{
	/* leaf; xor ebp,ebp; mov rsp,rdi; and $-16,rsp; call 1f; hlt; 1: push; ud2 */
	const struct code code = {
		CODE(LEAF
		     "\x31\xed\x48\x89\xe7\x48\x83\xe4\xf0\xe8\x01\x00\x00\x00\xf4\x50\x0f\x0b"),
		.entry = ADDRESS + 3
	};
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_cfa(&table, 2, CFI_RSP, 8);
	for (uint64_t at = 3; at < 18; at++)
		assert_int_equal(scan_rule_at(&table, at).kind, CFA_END);
	assert_cfa(&table, 18, CFI_RSP, 8);
	assert_cfa(&table, 19, CFI_RSP, 16);
}

static void code_over_the_limit_is_refused(void **state)
{
	static const uint8_t byte = 0x90;
	const struct scan_code codes[] = { { &byte, CODE_SCAN_MAX_BYTES, ADDRESS },
					   { &byte, 1, ADDRESS + CODE_SCAN_MAX_BYTES } };
	const struct code_scan_input input = { .codes = codes, .nr_codes = 2 };
	struct unwind_source *source = NULL;
	(void)state;

	assert_int_equal(code_scan_source_new(&input, &source), -ENOSPC);
	assert_null(source);
}

static void failed_allocations_are_reported(void **state)
{
	const struct code code = { CODE("\x53\x85\xff\x74\x02\x5b\xc3\x31\xc0\x5b\xc3") };
	int r = 0;
	(void)state;

	for (unsigned int n = 1;; n++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		torture_begin(n);
		r = scan_build(&code, &table);
		if (!torture_end())
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depths_follow_the_code),
		cmocka_unit_test(a_guess_that_makes_no_sense_is_dropped),
		cmocka_unit_test(a_frame_pointer_is_used_where_there_is_one),
		cmocka_unit_test(enter_makes_the_same_frame),
		cmocka_unit_test(registers_are_where_they_were_saved_first),
		cmocka_unit_test(a_register_that_nobody_saved_is_lost),
		cmocka_unit_test(functions_begin_behind_padding_at_their_calls_and_symbols),
		cmocka_unit_test(a_cold_part_has_the_stack_of_who_jumps_there),
		cmocka_unit_test(the_end_of_a_signal_handler_is_a_signals),
		cmocka_unit_test(a_byte_of_another_function_before_it_has_no_rule),
		cmocka_unit_test(the_first_call_of_a_thread_ends_the_stack),
		cmocka_unit_test(the_entry_of_a_program_ends_the_stack),
		cmocka_unit_test(code_over_the_limit_is_refused),
		cmocka_unit_test(failed_allocations_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
