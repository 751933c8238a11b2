/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"
#include "unwind/code/code_insn.h"

#include <string.h>

#define REG(number) (1U << (number))
#define NONE CODE_NO_REGISTER

/* The bytes of a string without its end. */
#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

struct shape {
	const uint8_t *code;
	size_t len;
};

/* Each one is an instruction, all of it and no more. */
static const struct shape whole[] = {
	{ CODE("\x90") },
	{ CODE("\x00\x00") },
	{ CODE("\x01\x40\x08") }, /* disp8 */
	{ CODE("\x01\x80\x00\x01\x00\x00") }, /* disp32 */
	{ CODE("\x01\x05\x00\x01\x00\x00") }, /* rip */
	{ CODE("\x01\x04\x24") }, /* SIB */
	{ CODE("\x01\x44\x24\x08") },
	{ CODE("\x01\x84\x24\x00\x01\x00\x00") },
	{ CODE("\x01\x04\x25\x00\x01\x00\x00") }, /* SIB without base */
	{ CODE("\x01\x44\x25\x00") }, /* rbp is a base when there is a displacement */
	{ CODE("\x41\x01\x04\x24") }, /* r12 needs SIB as rsp does */
	{ CODE("\x41\x01\x45\x00") }, /* r13 needs a displacement as rbp does */
	{ CODE("\x04\x7f") },
	{ CODE("\x05\x01\x02\x03\x04") },
	{ CODE("\x66\x05\x01\x02") },
	{ CODE("\x48\x05\x01\x02\x03\x04") },
	{ CODE("\x66\x48\x05\x01\x02\x03\x04") }, /* REX.W wins */
	{ CODE("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08") },
	{ CODE("\xb8\x01\x02\x03\x04") },
	{ CODE("\x66\xb8\x01\x02") },
	{ CODE("\xa1\x01\x02\x03\x04\x05\x06\x07\x08") },
	{ CODE("\x67\xa1\x01\x02\x03\x04") },
	{ CODE("\xc2\x08\x00") },
	{ CODE("\xc8\x10\x00\x00") },
	{ CODE("\xe8\x00\x00\x00\x00") },
	{ CODE("\x66\xe8\x00\x00\x00\x00") }, /* the prefix changes no jump */
	{ CODE("\x66\x66\x48\xe8\x00\x00\x00\x00") }, /* call __tls_get_addr */
	{ CODE("\xf2\xff\x25\x00\x00\x00\x00") }, /* bnd jmp of a PLT */
	{ CODE("\xf6\xc0\x01") }, /* test has an immediate, not has none */
	{ CODE("\xf6\xd0") },
	{ CODE("\xf7\xc0\x01\x02\x03\x04") },
	{ CODE("\x66\xf7\xc0\x01\x02") },
	{ CODE("\xf7\xd8") },
	{ CODE("\x69\xc0\x01\x02\x03\x04") },
	{ CODE("\x6b\xc0\x01") },
	{ CODE("\xd9\x7c\x24\x08") }, /* x87 */
	{ CODE("\x0f\x05") },
	{ CODE("\x0f\x84\x00\x00\x00\x00") },
	{ CODE("\x0f\xa2") },
	{ CODE("\x0f\xba\xe0\x03") },
	{ CODE("\x0f\xa4\xc2\x05") },
	{ CODE("\x0f\x20\xc0") }, /* control registers: no memory, whatever mod says */
	{ CODE("\x0f\x20\x05") },
	{ CODE("\x0f\xc6\xc0\x55") },
	{ CODE("\x0f\x0f\xc1\x9e") }, /* 3DNow! */
	{ CODE("\x66\x0f\x78\xc0\x01\x02") }, /* extrq */
	{ CODE("\xf3\x0f\x1e\xfa") }, /* endbr64 */
	{ CODE("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00") },
	{ CODE("\x66\x0f\x38\x00\xc1") },
	{ CODE("\x66\x0f\x3a\x0f\xc1\x08") },
	{ CODE("\xc5\xf8\x77") }, /* vzeroupper */
	{ CODE("\xc5\xf9\x6f\x44\x24\x10") },
	{ CODE("\xc5\xfd\x70\xc0\x1b") }, /* vpshufd */
	{ CODE("\xc4\xe2\x7d\x18\x05\x00\x00\x00\x00") }, /* map 0f 38 */
	{ CODE("\xc4\xe3\x7d\x39\xc0\x01") }, /* map 0f 3a */
	{ CODE("\xc4\xe3\xfb\xf0\xc0\x0d") }, /* rorx */
	{ CODE("\x62\xf1\xfe\x48\x6f\x46\x01") }, /* EVEX with disp8 */
	{ CODE("\x62\xf1\x7d\x48\x70\xc0\x1b") }, /* … with an immediate */
	{ CODE("\x62\xf3\x75\x48\x25\xc2\xff") },
	{ CODE("\x62\xf5\x7c\x48\x58\xc1") }, /* AVX512-FP16 */
};

static void lengths_are_those_of_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		uint8_t code[2 * CODE_MAX_INSN_BYTES] = { 0 };
		struct code_insn insn;

		memcpy(code, whole[i].code, whole[i].len);
		assert_int_equal(code_insn_decode(code, sizeof(code), &insn), 0);
		assert_int_equal(insn.len, whole[i].len);
	}
}

static void what_is_cut_off_is_no_instruction(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		for (size_t len = 0; len < whole[i].len; len++) {
			struct code_insn insn = { .len = 99 };

			if (code_insn_decode(whole[i].code, len, &insn) == 0)
				assert_true(insn.len <= len);
			else
				assert_int_equal(insn.len, 99);
		}
		struct code_insn insn;
		assert_int_equal(code_insn_decode(whole[i].code, whole[i].len - 1, &insn),
				 -EBADMSG);
	}
}

static void what_is_invalid_in_64_bit_mode_is_refused(void **state)
{
	static const struct shape bad[] = {
		{ CODE("\x06") }, /* push %es */
		{ CODE("\x27") },
		{ CODE("\x3f") },
		{ CODE("\x60") },
		{ CODE("\x82\xc0\x01") },
		{ CODE("\x9a\x00\x00\x00\x00\x00\x00") }, /* far call */
		{ CODE("\xce") },
		{ CODE("\xd4\x0a") },
		{ CODE("\xd6") },
		{ CODE("\xea\x00\x00\x00\x00\x00\x00") },
		{ CODE("\xff\xff") },
		{ CODE("\xfe\xd0") },
		{ CODE("\x8f\xc8") },
		{ CODE("\x8d\xc0") }, /* lea of a register */
		{ CODE("\x0f\x04") },
		{ CODE("\x0f\x24\xc0") },
		{ CODE("\x66\xc5\xf8\x28\xc0") }, /* prefixes that VEX has inside */
		{ CODE("\x48\xc5\xf8\x28\xc0") },
		{ CODE("\xc4\xe0\x78\x28\xc0") }, /* no such map */
		{ CODE("\xc4\xff\x78\x28\xc0") },
		{ CODE("\x62\xf1\x7a\x48\x6f\xc0") }, /* EVEX without its fixed bit */
		{ CODE("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t code[2 * CODE_MAX_INSN_BYTES] = { 0 };
		struct code_insn insn;

		memcpy(code, bad[i].code, bad[i].len);
		assert_int_equal(code_insn_decode(code, sizeof(code), &insn), -EBADMSG);
	}
}

struct effect_case {
	const uint8_t *code;
	size_t len;
	enum code_op op;
	uint8_t reg, base;
	int32_t value, step;
};

static void check_effects(const struct effect_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		struct code_insn insn;

		assert_int_equal(code_insn_decode(cases[i].code, cases[i].len, &insn), 0);
		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(insn.op, cases[i].op);
		assert_int_equal(insn.reg, cases[i].reg);
		assert_int_equal(insn.base, cases[i].base);
		assert_int_equal(insn.value, cases[i].value);
		assert_int_equal(insn.step, cases[i].step);
	}
}

static void what_matters_to_a_stack_is_told(void **state)
{
	static const struct effect_case cases[] = {
		{ CODE("\x55"), CODE_STORE, X86_RBP, X86_RSP, -8, -8 },
		{ CODE("\x41\x57"), CODE_STORE, X86_R15, X86_RSP, -8, -8 },
		{ CODE("\x66\x53"), CODE_STORE, NONE, X86_RSP, -2, -2 },
		{ CODE("\x6a\x01"), CODE_STORE, NONE, X86_RSP, -8, -8 },
		{ CODE("\x68\x01\x00\x00\x00"), CODE_STORE, NONE, X86_RSP, -8, -8 },
		{ CODE("\xff\x75\x08"), CODE_STORE, NONE, X86_RSP, -8, -8 },
		{ CODE("\x9c"), CODE_STORE, NONE, X86_RSP, -8, -8 },
		{ CODE("\x5b"), CODE_LOAD, X86_RBX, X86_RSP, 0, 8 },
		{ CODE("\x41\x5c"), CODE_LOAD, X86_R12, X86_RSP, 0, 8 },
		{ CODE("\x8f\x47\x40"), CODE_LOAD, NONE, X86_RSP, 0, 8 },
		{ CODE("\x48\x83\xec\x18"), CODE_ADDRESS, X86_RSP, X86_RSP, -24, 0 },
		{ CODE("\x48\x83\xec\x80"), CODE_ADDRESS, X86_RSP, X86_RSP, 128, 0 },
		{ CODE("\x48\x81\xc4\x00\x01\x00\x00"), CODE_ADDRESS, X86_RSP, X86_RSP, 256, 0 },
		{ CODE("\x48\x83\xe4\xf0"), CODE_OTHER, NONE, NONE, 0, 0 }, /* and */
		{ CODE("\x83\xec\x18"), CODE_OTHER, NONE, NONE, 0, 0 }, /* 32 bits */
		{ CODE("\x48\x29\xc4"), CODE_OTHER, NONE, NONE, 0, 0 }, /* sub %rax,%rsp */
		{ CODE("\x48\x8d\x64\x24\xd8"), CODE_ADDRESS, X86_RSP, X86_RSP, -40, 0 },
		{ CODE("\x48\x8d\x65\xd8"), CODE_ADDRESS, X86_RSP, X86_RBP, -40, 0 },
		{ CODE("\x48\x8d\x24\x04"), CODE_OTHER, NONE, NONE, 0, 0 }, /* with an index */
		{ CODE("\x48\x8d\x3d\x10\x00\x00\x00"), CODE_ADDRESS_OF_CODE, X86_RDI, NONE, 16,
		  0 },
		{ CODE("\x48\x89\xe5"), CODE_ADDRESS, X86_RBP, X86_RSP, 0, 0 },
		{ CODE("\x48\x8b\xec"), CODE_ADDRESS, X86_RBP, X86_RSP, 0, 0 },
		{ CODE("\x48\x89\xec"), CODE_ADDRESS, X86_RSP, X86_RBP, 0, 0 },
		{ CODE("\x48\x89\x5c\x24\x08"), CODE_STORE, X86_RBX, X86_RSP, 8, 0 },
		{ CODE("\x4c\x89\x65\xf0"), CODE_STORE, X86_R12, X86_RBP, -16, 0 },
		{ CODE("\x48\x8b\x5c\x24\x08"), CODE_LOAD, X86_RBX, X86_RSP, 8, 0 },
		{ CODE("\x89\x5c\x24\x08"), CODE_OTHER, NONE, NONE, 0, 0 },
		{ CODE("\xc9"), CODE_LEAVE, NONE, NONE, 0, 0 },
		{ CODE("\xc8\x10\x00\x00"), CODE_ENTER, NONE, NONE, 16, 0 },
		{ CODE("\xc8\x10\x00\x01"), CODE_OTHER, NONE, NONE, 0, 0 },
	};

	(void)state;
	check_effects(cases, sizeof(cases) / sizeof(cases[0]));
}

static void where_the_code_goes_on_is_told(void **state)
{
	static const struct effect_case cases[] = {
		{ CODE("\xc3"), CODE_RETURN, NONE, NONE, 0, 0 },
		{ CODE("\xf3\xc3"), CODE_RETURN, NONE, NONE, 0, 0 },
		{ CODE("\x0f\x0b"), CODE_TRAP, NONE, NONE, 0, 0 },
		{ CODE("\xf4"), CODE_TRAP, NONE, NONE, 0, 0 },
		{ CODE("\xe8\x10\x00\x00\x00"), CODE_CALL, NONE, NONE, 16, 0 },
		{ CODE("\xe8\x00\x00\x00\x00"), CODE_STORE, NONE, X86_RSP, -8,
		  -8 }, /* what it pushes */
		{ CODE("\xff\xd0"), CODE_CALL_INDIRECT, NONE, NONE, 0, 0 },
		{ CODE("\xeb\xfe"), CODE_JUMP, NONE, NONE, -2, 0 },
		{ CODE("\xe9\x00\x01\x00\x00"), CODE_JUMP, NONE, NONE, 256, 0 },
		{ CODE("\x3e\xff\xe0"), CODE_JUMP_INDIRECT, NONE, NONE, 0, 0 },
		{ CODE("\x75\x05"), CODE_BRANCH, NONE, NONE, 5, 0 },
		{ CODE("\x0f\x85\x00\x01\x00\x00"), CODE_BRANCH, NONE, NONE, 256, 0 },
		{ CODE("\xe3\x05"), CODE_BRANCH, NONE, NONE, 5, 0 },
	};

	(void)state;
	check_effects(cases, sizeof(cases) / sizeof(cases[0]));
}

static void what_fills_the_space_between_functions_is_told(void **state)
{
	static const struct {
		const uint8_t *code;
		size_t len;
		bool is_padding;
	} cases[] = {
		{ CODE("\x90"), true },
		{ CODE("\x66\x90"), true },
		{ CODE("\x0f\x1f\x40\x00"), true },
		{ CODE("\xcc"), true },
		{ CODE("\xf3\x90"), false }, /* pause */
		{ CODE("\x41\x90"), false }, /* xchg */
		{ CODE("\x0f\x0b"), false },
		{ CODE("\xc3"), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_insn insn;

		assert_int_equal(code_insn_decode(cases[i].code, cases[i].len, &insn), 0);
		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(insn.is_padding, cases[i].is_padding);
	}
}

static void changed_registers_are_told(void **state)
{
	static const struct {
		const uint8_t *code;
		size_t len;
		unsigned writes;
	} cases[] = {
		{ CODE("\x48\x89\xc3"), REG(X86_RBX) },
		{ CODE("\x48\x8b\x1f"), REG(X86_RBX) },
		{ CODE("\x48\x89\x1f"), 0 }, /* to memory */
		{ CODE("\x31\xed"), REG(X86_RBP) },
		{ CODE("\x39\xdd"), 0 }, /* cmp */
		{ CODE("\x83\xfb\x01"), 0 },
		{ CODE("\x83\xc3\x01"), REG(X86_RBX) },
		{ CODE("\x85\xdb"), 0 }, /* test */
		{ CODE("\xf7\xdb"), REG(X86_RBX) },
		{ CODE("\xf7\xe3"), 0 }, /* mul: rax, rdx */
		{ CODE("\x8a\xff"), REG(X86_RBX) }, /* bh */
		{ CODE("\x40\x8a\xff"), REG(X86_RDI) }, /* dil */
		{ CODE("\xb7\x01"), REG(X86_RBX) },
		{ CODE("\x41\xbc\x01\x00\x00\x00"), REG(X86_R12) },
		{ CODE("\x93"), REG(X86_RBX) }, /* xchg with rax */
		{ CODE("\x0f\x94\xc3"), REG(X86_RBX) }, /* setcc */
		{ CODE("\x0f\xb6\xdb"), REG(X86_RBX) },
		{ CODE("\x48\x0f\xaf\xd8"), REG(X86_RBX) },
		{ CODE("\x48\x0f\x44\xd8"), REG(X86_RBX) },
		{ CODE("\x0f\xcb"), REG(X86_RBX) }, /* bswap */
		{ CODE("\x0f\xa2"), REG(X86_RBX) }, /* cpuid, which matters for rbx only */
		{ CODE("\x0f\x01\xdc"), 0 },
		{ CODE("\x66\x48\x0f\x7e\xc3"), REG(X86_RBX) }, /* movq %xmm0,%rbx */
		{ CODE("\xf3\x0f\x7e\xdd"), 0 }, /* movq %xmm5,%xmm3 */
		{ CODE("\xf2\x48\x0f\x2c\xd8"), REG(X86_RBX) }, /* cvttsd2si */
		{ CODE("\x66\x0f\xd7\xd8"), REG(X86_RBX) }, /* pmovmskb */
		{ CODE("\x0f\x28\xdd"), 0 }, /* movaps */
		{ CODE("\xc5\xf8\x28\xdd"), 0 },
		{ CODE("\xc5\xf9\x7e\xc3"), REG(X86_RBX) }, /* vmovd */
		{ CODE("\xc5\xfa\x7e\xdd"), 0 }, /* vmovq */
		{ CODE("\xc4\xe2\xe3\xf6\xe8"), REG(X86_RBP) | REG(X86_RBX) }, /* mulx */
		{ CODE("\xc4\xe2\xe0\xf3\xc8"), REG(X86_RBX) }, /* blsr */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_insn insn;

		assert_int_equal(code_insn_decode(cases[i].code, cases[i].len, &insn), 0);
		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(insn.writes, cases[i].writes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_are_those_of_the_manual),
		cmocka_unit_test(what_is_cut_off_is_no_instruction),
		cmocka_unit_test(what_is_invalid_in_64_bit_mode_is_refused),
		cmocka_unit_test(what_matters_to_a_stack_is_told),
		cmocka_unit_test(where_the_code_goes_on_is_told),
		cmocka_unit_test(what_fills_the_space_between_functions_is_told),
		cmocka_unit_test(changed_registers_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
