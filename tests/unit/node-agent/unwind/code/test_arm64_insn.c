/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_insn.h"

#include <string.h>

#include "unit.h"

#define REG(number) (1U << (number))
#define NONE CODE_NO_REGISTER
#define FP ARM64_X29
#define LR ARM64_X30
#define SP ARM64_SP

static int decode(uint32_t code, struct code_insn *ret_insn)
{
	uint8_t bytes[4];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(code >> 8 * i);
	return code_insn_decode(bytes, sizeof(bytes), ret_insn);
}

struct effect_case {
	uint32_t code;
	enum code_op op;
	uint8_t reg, reg2, base;
	int32_t value, step;
};

static void check_effects(const struct effect_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		struct code_insn insn;

		assert_int_equal(decode(cases[i].code, &insn), 0);
		assert_int_equal(insn.len, 4);
		assert_int_equal(insn.op, cases[i].op);
		assert_int_equal(insn.reg, cases[i].reg);
		assert_int_equal(insn.reg2, cases[i].reg2);
		assert_int_equal(insn.base, cases[i].base);
		assert_int_equal(insn.value, cases[i].value);
		assert_int_equal(insn.step, cases[i].step);
	}
}

static void what_matters_to_a_stack_is_told(void **state)
{
	static const struct effect_case cases[] = {
		{ 0xd10143ff, CODE_ADDRESS, SP, NONE, SP, -80, 0 }, /* sub sp,sp,#80 */
		{ 0xd1400fff, CODE_ADDRESS, SP, NONE, SP, -12288, 0 }, /* sub sp,sp,#3,lsl #12 */
		{ 0x910143ff, CODE_ADDRESS, SP, NONE, SP, 80, 0 },
		{ 0x910003fd, CODE_ADDRESS, FP, NONE, SP, 0, 0 }, /* mov x29,sp */
		{ 0x910043fd, CODE_ADDRESS, FP, NONE, SP, 16, 0 },
		{ 0x910003bf, CODE_ADDRESS, SP, NONE, FP, 0, 0 }, /* mov sp,x29 */
		{ 0xd10043bf, CODE_ADDRESS, SP, NONE, FP, -16, 0 },
		{ 0xb100403d, CODE_ADDRESS, FP, NONE, 1, 16, 0 }, /* adds x29,x1,#16 */
		{ 0xf10043ff, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* cmp sp,#16 */
		{ 0x1100403d, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* 32 bits */
		{ 0xd2848c0c, CODE_CONSTANT, 12, NONE, NONE, 0x2460, 0 },
		{ 0xf2a0006c, CODE_CONSTANT_HIGH, 12, NONE, NONE, 0x30000, 0 },
		{ 0x9280006c, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* movn */
		{ 0xd280001f, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* mov xzr,#0 */
		{ 0x9000001d, CODE_PAGE, FP, NONE, NONE, 0, 0 }, /* adrp */
		{ 0xf0fffffd, CODE_PAGE, FP, NONE, NONE, -1, 0 },
		{ 0x1000005e, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* adr */
		{ 0xcb2c63ff, CODE_ADD_REGISTER, SP, NONE, 12, -1, 0 }, /* sub sp,sp,x12 */
		{ 0x8b2c63ff, CODE_ADD_REGISTER, SP, NONE, 12, 1, 0 },
		{ 0xcb2c6bff, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* … lsl #2 */
		{ 0xa9bd7bfd, CODE_STORE, FP, LR, SP, -48, -48 }, /* stp x29,x30,[sp,#-48]! */
		{ 0xa90153f3, CODE_STORE, 19, 20, SP, 16, 0 },
		{ 0xa8c37bfd, CODE_LOAD, FP, LR, SP, 0, 48 }, /* ldp x29,x30,[sp],#48 */
		{ 0xa9417bfd, CODE_LOAD, FP, LR, SP, 16, 0 },
		{ 0xa9be7ff4, CODE_STORE, 20, NONE, SP, -32, -32 }, /* stp x20,xzr,… */
		{ 0xf81f0ffe, CODE_STORE, LR, NONE, SP, -16, -16 }, /* str x30,[sp,#-16]! */
		{ 0xf84107fe, CODE_LOAD, LR, NONE, SP, 0, 16 },
		{ 0xf90007fe, CODE_STORE, LR, NONE, SP, 8, 0 },
		{ 0xf94007fe, CODE_LOAD, LR, NONE, SP, 8, 0 },
		{ 0xf81f83fe, CODE_STORE, LR, NONE, SP, -8, 0 }, /* stur */
		{ 0xf90007ff, CODE_STORE, NONE, NONE, SP, 8, 0 }, /* str xzr,[sp,#8] */
		{ 0x6dbc27e8, CODE_STORE, NONE, NONE, SP, -64, -64 }, /* stp d8,d9,[sp,#-64]! */
		{ 0x6cc427e8, CODE_LOAD, NONE, NONE, SP, 0, 64 },
		{ 0xfc1f0fe8, CODE_STORE, NONE, NONE, SP, -16, -16 }, /* str d8,… */
		{ 0x3cc207e0, CODE_LOAD, NONE, NONE, SP, 0, 32 }, /* ldr q0,… */
		{ 0xb81f0fe0, CODE_STORE, NONE, NONE, SP, -16, -16 }, /* str w0,… */
		{ 0x69bf7bfd, CODE_STORE, NONE, NONE, SP, -32, -32 }, /* stgp */
		{ 0xd9a027ff, CODE_STORE, NONE, NONE, SP, 0, 32 }, /* st2g sp,[sp],#32 */
		{ 0xf98007e0, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* prfm */
		{ 0xf8616be0, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* ldr x0,[sp,x1] */
	};

	(void)state;
	check_effects(cases, sizeof(cases) / sizeof(cases[0]));
}

static void where_the_code_goes_on_is_told(void **state)
{
	static const struct effect_case cases[] = {
		{ 0xd65f03c0, CODE_RETURN, NONE, NONE, NONE, 0, 0 },
		{ 0xd65f0040, CODE_RETURN, NONE, NONE, NONE, 0, 0 }, /* ret x2 */
		{ 0xd65f0bff, CODE_RETURN, NONE, NONE, NONE, 0, 0 }, /* retaa */
		{ 0xd69f03e0, CODE_RETURN, NONE, NONE, NONE, 0, 0 }, /* eret */
		{ 0xd4200020, CODE_TRAP, NONE, NONE, NONE, 0, 0 }, /* brk */
		{ 0xd4400020, CODE_TRAP, NONE, NONE, NONE, 0, 0 }, /* hlt */
		{ 0x00000000, CODE_TRAP, NONE, NONE, NONE, 0, 0 }, /* udf */
		{ 0x00000007, CODE_TRAP, NONE, NONE, NONE, 0, 0 },
		{ 0xd4000001, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* svc */
		{ 0x14000002, CODE_JUMP, NONE, NONE, NONE, 4, 0 },
		{ 0x17ffffff, CODE_JUMP, NONE, NONE, NONE, -8, 0 },
		{ 0x94000002, CODE_CALL, NONE, NONE, NONE, 4, 0 },
		{ 0x94000001, CODE_OTHER, NONE, NONE, NONE, 0, 0 }, /* of what is behind it */
		{ 0x54ffffc1, CODE_BRANCH, NONE, NONE, NONE, -12, 0 },
		{ 0xb4000060, CODE_BRANCH, NONE, NONE, NONE, 8, 0 }, /* cbz */
		{ 0x35000060, CODE_BRANCH, NONE, NONE, NONE, 8, 0 },
		{ 0xb6080060, CODE_BRANCH, NONE, NONE, NONE, 8, 0 }, /* tbz */
		{ 0x371fffa0, CODE_BRANCH, NONE, NONE, NONE, -16, 0 },
		{ 0xd61f0020, CODE_JUMP_INDIRECT, NONE, NONE, NONE, 0, 0 },
		{ 0xd61f0220, CODE_TRAP, NONE, NONE, NONE, 0, 0 }, /* br x17 */
		{ 0xd71f0801, CODE_JUMP_INDIRECT, NONE, NONE, NONE, 0, 0 }, /* braa */
		{ 0xd63f0020, CODE_CALL_INDIRECT, NONE, NONE, NONE, 0, 0 },
		{ 0xd63f081f, CODE_CALL_INDIRECT, NONE, NONE, NONE, 0, 0 }, /* blraaz */
	};

	(void)state;
	check_effects(cases, sizeof(cases) / sizeof(cases[0]));
}

static void changed_registers_are_told(void **state)
{
	static const struct {
		uint32_t code;
		uint32_t writes;
	} cases[] = {
		{ 0xb9400bfd, REG(FP) }, /* ldr w29,[sp,#8] */
		{ 0x69417bfd, REG(FP) | REG(LR) }, /* ldpsw */
		{ 0xa941781d, REG(FP) | REG(LR) }, /* ldp x29,x30,[x0,#16] */
		{ 0xb980001e, REG(LR) }, /* ldrsw */
		{ 0x38401c1e, REG(LR) }, /* ldrb w30,[x0,#1]! */
		{ 0xfd40001d, 0 }, /* ldr d29,[x0] */
		{ 0x5800005d, REG(FP) }, /* of code */
		{ 0xf861681d, REG(FP) }, /* ldr x29,[x0,x1] */
		{ 0xf820003d, REG(FP) }, /* ldadd x0,x29,[x1] */
		{ 0xf820041d, REG(FP) }, /* ldraa */
		{ 0xc85ffc1d, REG(FP) }, /* ldaxr */
		{ 0xc81d7c20, REG(FP) }, /* stxr w29,x0,[x1] */
		{ 0xc87f781d, REG(FP) | REG(LR) }, /* ldxp */
		{ 0xd940801d, REG(FP) }, /* ldapur */
		{ 0x4cdf73e0, REG(SP) }, /* ld1 {v0.16b},[sp],#16 */
		{ 0x4c0073e0, 0 },
		{ 0x8b22603f, REG(SP) }, /* add sp,x1,x2 */
		{ 0x927cec1f, REG(SP) }, /* and sp,x0,#-16 */
		{ 0xf27cec1f, 0 }, /* tst */
		{ 0x918107ff, REG(SP) }, /* addg */
		{ 0x043f57ff, REG(SP) }, /* addvl sp,sp,#-1 */
		{ 0x1100403d, REG(FP) }, /* add w29,w1,#16 */
		{ 0x1000005e, REG(LR) }, /* adr */
		{ 0x9000001d, REG(FP) }, /* adrp */
		{ 0xd240001d, REG(FP) }, /* eor */
		{ 0xd343181d, REG(FP) }, /* ubfx */
		{ 0x93c1101d, REG(FP) }, /* extr */
		{ 0x9a81001d, REG(FP) }, /* csel */
		{ 0x9b017c1e, REG(LR) }, /* mul */
		{ 0xaa02003d, REG(FP) }, /* orr */
		{ 0xeb1e03bf, 0 }, /* cmp */
		{ 0xdac103fe, 0 }, /* pacia x30,sp */
		{ 0xd503233f, 0 }, /* paciasp */
		{ 0xd53bd05d, REG(FP) }, /* mrs */
		{ 0xd51bd05d, 0 }, /* msr */
		{ 0x94000002, REG(LR) }, /* bl */
		{ 0x94000001, REG(LR) },
		{ 0xd63f0020, REG(LR) }, /* blr */
		{ 0x9e66001d, REG(FP) }, /* fmov x29,d0 */
		{ 0x9e67001d, 0 }, /* fmov d29,x0 */
		{ 0x9e78001d, REG(FP) }, /* fcvtzs */
		{ 0x9e62001d, 0 }, /* scvtf */
		{ 0x9e58f01d, REG(FP) }, /* fcvtzs x29,d0,#4 */
		{ 0x0e0c3c1d, REG(FP) }, /* umov */
		{ 0x4e062c1d, REG(FP) }, /* smov */
		{ 0x1e62283d, 0 }, /* fadd */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_insn insn;

		assert_int_equal(decode(cases[i].code, &insn), 0);
		assert_int_equal(insn.writes, cases[i].writes);
	}
}

static void padding_and_landing_pads_are_told(void **state)
{
	static const struct {
		uint32_t code;
		bool is_padding, is_landing_pad;
	} cases[] = {
		{ 0xd503201f, true, false }, /* nop */
		{ 0x00000000, true, false },  { 0x00000007, false, false },
		{ 0xd503245f, false, true }, /* bti c */
		{ 0xd503249f, false, false }, /* bti j: of a jump table */
		{ 0xd503233f, false, true }, /* paciasp */
		{ 0xd50323bf, false, false }, /* autiasp */
		{ 0xd503203f, false, false }, /* yield */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_insn insn;

		assert_int_equal(decode(cases[i].code, &insn), 0);
		assert_int_equal(insn.is_padding, cases[i].is_padding);
		assert_int_equal(insn.is_landing_pad, cases[i].is_landing_pad);
	}
}

static void what_is_cut_off_is_no_instruction(void **state)
{
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
	struct code_insn insn = { .len = 99 };

	(void)state;
	for (size_t len = 0; len < sizeof(nop); len++)
		assert_int_equal(code_insn_decode(nop, len, &insn), -EBADMSG);
	assert_int_equal(insn.len, 99);
	assert_int_equal(code_insn_decode(nop, sizeof(nop), &insn), 0);
}

static void what_is_not_allocated_is_refused(void **state)
{
	static const uint32_t bad[] = {
		0x00010000, /* reserved, but not udf */
		0x60000000, 0x02000000, /* groups without instructions */
		0x23456789, 0x06ffffff, 0xe7ffffff,
		0x32800000, /* move wide with an operation that there is not */
		0xb2800000, 0x55000000, /* branches */
		0x74000000, 0xd6600000, /* to a register, with an operation that there is not */
		0xd61e0020, 0xd67f03c0, 0xf4000000,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct code_insn insn = { .len = 99 };

		assert_int_equal(decode(bad[i], &insn), -EBADMSG);
		assert_int_equal(insn.len, 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matters_to_a_stack_is_told),
		cmocka_unit_test(where_the_code_goes_on_is_told),
		cmocka_unit_test(changed_registers_are_told),
		cmocka_unit_test(padding_and_landing_pads_are_told),
		cmocka_unit_test(what_is_cut_off_is_no_instruction),
		cmocka_unit_test(what_is_not_allocated_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
