/* SPDX-License-Identifier: Apache-2.0 */
/* What is different on arm64; the rest is in test_code_scan.c. */
#include "unwind/code/code_scan.h"

#include "base/cleanup.h"
#include "code_scan_fixture.h"

#include "unit.h"

#define ADDRESS SCAN_ADDRESS

#define CODE(...)                                                                                  \
	.bytes = (const char *)(const uint32_t[]){ __VA_ARGS__ },                                  \
	.len = sizeof((const uint32_t[]){ __VA_ARGS__ })

#define RET 0xd65f03c0
#define NOP 0xd503201f
#define BRK 0xd4200020
#define MOV_X0 0xd2800000 /* mov x0,#0 */
#define BLR 0xd63f0020 /* blr x1 */
#define BR 0xd61f0020
#define CALL 0x94001000 /* bl: of something far away */
#define STP_48 0xa9bd7bfd /* stp x29,x30,[sp,#-48]! */
#define LDP_48 0xa8c37bfd /* ldp x29,x30,[sp],#48 */
#define MOV_FP 0x910003fd /* mov x29,sp */
#define SUB_80 0xd10143ff /* sub sp,sp,#80 */
#define ADD_80 0x910143ff
#define STP_AT_16 0xa9017bfd /* stp x29,x30,[sp,#16] */
#define LDP_AT_16 0xa9417bfd

#define NO_RULE (-1) /* as a distance */
#define IN_LR 0 /* as a place of the return address */

/* At the n-th instruction. */
struct place {
	uint64_t n;
	int32_t distance; /* of the CFA from sp */
	int return_address;
	int fp; /* 0: not saved */
};

static void assert_place(const struct row_table_bytes *table, const struct place *place)
{
	struct cfi_rule rule = scan_rule_at(table, 4 * place->n);

	if (place->distance == NO_RULE) {
		assert_int_equal(rule.kind, CFA_NONE);
		return;
	}
	assert_int_equal(rule.kind, CFA_REGISTER);
	assert_int_equal(rule.reg, CFI_SP);
	assert_int_equal(rule.offset, place->distance);
	assert_int_equal(rule.saved[0], place->fp == 0 ? CFI_NOT_SAVED : place->fp);
	if (place->return_address == IN_LR) {
		assert_int_equal(rule.flags, CFI_RETURN_IN_REGISTER);
		assert_int_equal(rule.arg, CFI_LR);
	} else {
		assert_int_equal(rule.flags, 0);
		assert_int_equal(rule.return_address, place->return_address);
	}
}

#define MAX_PLACES 6

struct scan_case {
	struct code code;
	struct place places[MAX_PLACES]; /* up to one of n 0 but the first */
};

static void check(const struct scan_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

		scan_code(&cases[i].code, &table);
		for (size_t j = 0; j < MAX_PLACES && (j == 0 || cases[i].places[j].n > 0); j++)
			assert_place(&table, &cases[i].places[j]);
	}
}

static void rules_follow_the_code(void **state)
{
	const struct scan_case cases[] = {
		{ { CODE(MOV_X0, RET) }, { { 0, 0, IN_LR, 0 }, { 1, 0, IN_LR, 0 } } },
		/* a frame record at the bottom of the frame */
		{ { CODE(STP_48, MOV_FP, CALL, LDP_48, RET) },
		  { { 0, 0, IN_LR, 0 },
		    { 1, 48, -5, -6 },
		    { 2, 48, -5, -6 },
		    { 3, 48, -5, -6 },
		    { 4, 0, IN_LR, 0 } } },
		/* … above other things in it */
		{ { CODE(SUB_80, STP_AT_16, CALL, LDP_AT_16, ADD_80, RET) },
		  { { 1, 80, IN_LR, 0 },
		    { 2, 80, -7, -8 },
		    { 3, 80, -7, -8 },
		    { 4, 80, IN_LR, 0 },
		    { 5, 0, IN_LR, 0 } } },
		/* lr alone: str x30,[sp,#-16]!; bl; ldr x30,[sp],#16; ret */
		{ { CODE(0xf81f0ffe, CALL, 0xf84107fe, RET) },
		  { { 0, 0, IN_LR, 0 }, { 1, 16, -2, 0 }, { 2, 16, -2, 0 }, { 3, 0, IN_LR, 0 } } },
		/* … whose place is left behind: str x30,[sp,#-16]!; add sp,sp,#16; ret */
		{ { CODE(0xf81f0ffe, 0x910043ff, RET) }, { { 1, 16, -2, 0 }, { 2, 0, IN_LR, 0 } } },
		/* the size in a register: mov x12,#0x2460; movk x12,#3,lsl #16; sub sp,sp,x12;
		 * brk */
		{ { CODE(0xd2848c0c, 0xf2a0006c, 0xcb2c63ff, MOV_X0, BRK) },
		  { { 2, 0, IN_LR, 0 }, { 3, 0x32460, IN_LR, 0 } } },
		/* … that is not known: sub sp,sp,x12 */
		{ { CODE(0xcb2c63ff, MOV_X0, RET) },
		  { { 0, 0, IN_LR, 0 }, { 1, NO_RULE, 0, 0 }, { 2, NO_RULE, 0, 0 } } },
		/* … or not any more: mov x12,#0x2460; bl; sub sp,sp,x12 */
		{ { CODE(STP_48, 0xd2848c0c, CALL, 0xcb2c63ff, MOV_X0) },
		  { { 3, 48, -5, -6 }, { 4, NO_RULE, 0, 0 } } },
		/* cbz x0,1f; stp; bl; ldp; ret; 1: ret */
		{ { CODE(0xb40000a0, STP_48, CALL, LDP_48, RET, RET) },
		  { { 2, 48, -5, -6 }, { 4, 0, IN_LR, 0 }, { 5, 0, IN_LR, 0 } } },
		/* stp; br x1; mov; ldp; ret: a case of a jump table */
		{ { CODE(STP_48, BR, MOV_X0, LDP_48, RET) },
		  { { 2, 48, -5, -6 }, { 4, 0, IN_LR, 0 } } },
	};
	(void)state;

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void what_makes_no_sense_has_no_rule(void **state)
{
	const struct scan_start start = { ADDRESS, false };
	const struct scan_case cases[] = {
		/* bl; ret: nobody saved lr */
		{ { CODE(CALL, MOV_X0, RET), .starts = &start, .nr_starts = 1 },
		  { { 0, 0, IN_LR, 0 }, { 1, NO_RULE, 0, 0 }, { 2, NO_RULE, 0, 0 } } },
		/* no instruction */
		{ { CODE(MOV_X0, 0x23456789, MOV_X0, RET) },
		  { { 0, 0, IN_LR, 0 }, { 1, NO_RULE, 0, 0 }, { 2, NO_RULE, 0, 0 } } },
		/* cbz x0,1f; sub sp,sp,#80; 1: mov: two ways that contradict each other */
		{ { CODE(0xb4000040, SUB_80, MOV_X0, RET) },
		  { { 1, 0, IN_LR, 0 }, { 2, NO_RULE, 0, 0 }, { 3, NO_RULE, 0, 0 } } },
	};
	(void)state;

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_guess_that_makes_no_sense_is_dropped(void **state)
{
	static const uint32_t words[][2] = {
		{ LDP_48, RET }, /* takes what nobody put there */
		{ ADD_80, RET }, { LDP_AT_16, RET }, { 0x910003bf, RET }, /* mov sp,x29 */
		{ SUB_80, RET }, /* leaves something */
		{ CALL, RET }, /* returns to behind the call */
	};
	struct row_table_bytes table = { 0 };
	(void)state;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct code code = { CODE(words[i][0], words[i][1]) };

		assert_int_equal(scan_build(&code, &table), -ENODATA);
	}
}

static void the_frame_pointer_tells_what_sp_does_not(void **state)
{
	/* stp; mov x29,sp; sub sp,sp,x0; bl; mov sp,x29; ldp; ret */
	const struct code code = { CODE(STP_48, MOV_FP, 0xcb2063ff, CALL, 0x910003bf, LDP_48,
					RET) };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct cfi_rule rule;
	(void)state;

	scan_code(&code, &table);
	assert_place(&table, &(struct place){ 2, 48, -5, -6 });
	for (uint64_t n = 3; n < 5; n++) {
		rule = scan_rule_at(&table, 4 * n);
		assert_int_equal(rule.kind, CFA_REGISTER);
		assert_int_equal(rule.reg, CFI_FP);
		assert_int_equal(rule.offset, 48);
		assert_int_equal(rule.return_address, -5);
		assert_int_equal(rule.saved[0], -6);
	}
	assert_place(&table, &(struct place){ 5, 48, -5, -6 });
	assert_place(&table, &(struct place){ 6, 0, IN_LR, 0 });
}

static void a_frame_pointer_that_nobody_saved_is_lost(void **state)
{
	/* str x30,[sp,#-16]!; orr x29,x1,x2; bl; ldr x30,[sp],#16; ret */
	const struct code code = { CODE(0xf81f0ffe, 0xaa02003d, CALL, 0xf84107fe, RET) };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_place(&table, &(struct place){ 1, 16, -2, 0 });
	for (uint64_t n = 2; n < 5; n++)
		assert_int_equal(scan_rule_at(&table, 4 * n).saved[0], CFI_LOST);
}

static void functions_begin_where_a_frame_is_opened(void **state)
{
	const struct scan_case cases[] = {
		/* Behind a call that may not return, right there and behind padding, */
		{ { CODE(STP_48, CALL, STP_48, CALL, NOP, SUB_80, BRK) },
		  { { 2, 0, IN_LR, 0 },
		    { 3, 48, -5, -6 },
		    { 5, 0, IN_LR, 0 },
		    { 6, 80, IN_LR, 0 } } },
		/* behind a function's end, aligned or not; also if there is a jump table in it, */
		{ { CODE(STP_48, BR, MOV_X0, LDP_48, RET, STP_48, CALL, LDP_48, RET) },
		  { { 3, 48, -5, -6 }, { 5, 0, IN_LR, 0 }, { 6, 48, -5, -6 } } },
		/* and at landing pads: stp; bl; bti c; mov; ret. */
		{ { CODE(STP_48, CALL, 0xd503245f, MOV_X0, RET) },
		  { { 1, 48, -5, -6 }, { 2, 0, IN_LR, 0 }, { 4, 0, IN_LR, 0 } } },
		/* Also where its address is taken: stp; adrp x3,.; add x3,x3,#24; bl; brk; …;
		 * mov; ret. */
		{ { CODE(STP_48, 0x90000003, 0x91006063, CALL, BRK, NOP, MOV_X0, RET) },
		  { { 3, 48, -5, -6 }, { 6, 0, IN_LR, 0 }, { 7, 0, IN_LR, 0 } } },
		/* A label behind a call may be padded as well. */
		{ { CODE(STP_48, CALL, NOP, NOP, MOV_X0, LDP_48, RET) }, { { 4, 48, -5, -6 } } },
	};
	(void)state;

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_call_before_a_variable_array_is_no_end(void **state)
{
	/* stp; mov x29,sp; bl; sub sp,sp,#80; bl; mov sp,x29; ldp; ret */
	const struct code code = { CODE(STP_48, MOV_FP, CALL, SUB_80, CALL, 0x910003bf, LDP_48,
					RET) };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_place(&table, &(struct place){ 4, 128, -5, -6 });
	assert_place(&table, &(struct place){ 6, 48, -5, -6 });
}

static void the_end_of_a_signal_handler_is_a_signals(void **state)
{
	/* ret; nop; mov x8,#139; svc; nop; stp; brk */
	const struct scan_start next = { ADDRESS + 20, false };
	const struct code code = { CODE(RET, NOP, 0xd2801168, 0xd4000001, NOP, STP_48, BRK),
				   .starts = &next, .nr_starts = 1 };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	for (uint64_t at = 7; at < 20; at++)
		assert_int_equal(scan_rule_at(&table, at).kind, CFA_SIGNAL);
	assert_place(&table, &(struct place){ 5, 0, IN_LR, 0 });
	assert_place(&table, &(struct place){ 6, 48, -5, -6 });
}

/* As in the vDSO, where a task in the system call seems to be in what comes next. */
static void so_is_what_follows_it_where_code_ends(void **state)
{
	const struct code code = { CODE(RET, NOP, 0xd2801168, 0xd4000001) };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	for (uint64_t at = 7; at < 20; at++)
		assert_int_equal(scan_rule_at(&table, at).kind, CFA_SIGNAL);
	assert_int_equal(scan_rule_at(&table, 20).kind, CFA_NONE);
}

static void the_first_call_of_a_thread_ends_the_stack(void **state)
{
	/* ldp x1,x0,[sp],#16; blr x1; mov x8,#93; svc */
	const struct code code = { CODE(0xa8c103e1, BLR, 0xd2800ba8, 0xd4000001) };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	scan_code(&code, &table);
	assert_int_equal(scan_rule_at(&table, 4).kind, CFA_END);
	assert_int_equal(scan_rule_at(&table, 8).kind, CFA_NONE);
}

static void misaligned_code_has_no_rules(void **state)
{
	const struct scan_start start = { ADDRESS + 2, false };
	const struct code code = { CODE(MOV_X0, STP_48, RET), .starts = &start, .nr_starts = 1 };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	(void)state;

	if (scan_build(&code, &table) == 0)
		assert_int_equal(scan_rule_at(&table, 0).kind, CFA_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_follow_the_code),
		cmocka_unit_test(what_makes_no_sense_has_no_rule),
		cmocka_unit_test(a_guess_that_makes_no_sense_is_dropped),
		cmocka_unit_test(the_frame_pointer_tells_what_sp_does_not),
		cmocka_unit_test(a_frame_pointer_that_nobody_saved_is_lost),
		cmocka_unit_test(functions_begin_where_a_frame_is_opened),
		cmocka_unit_test(a_call_before_a_variable_array_is_no_end),
		cmocka_unit_test(the_end_of_a_signal_handler_is_a_signals),
		cmocka_unit_test(so_is_what_follows_it_where_code_ends),
		cmocka_unit_test(the_first_call_of_a_thread_ends_the_stack),
		cmocka_unit_test(misaligned_code_has_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
