/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c: the step to the caller by each kind of rule. */
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define VALUE 0xaa55aa55ULL

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

static void leaf_returns_to_its_caller(void **state)
{
	(void)state;
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(2));
}

/* The CFA's register, each in a frame of its own: only in the leaf all of them are known. */
static void cfa_is_a_register_and_an_offset(void **state)
{
	static const struct {
		enum unwind_register reg;
		int64_t word; /* of the stack, to which the register points */
		int32_t offset;
	} cases[] = {
		{ CFI_RSP, 0, 24 }, { CFI_RBP, 1, 16 },	 { CFI_RBX, 10, -56 },	 { CFI_R10, 3, 0 },
		{ CFI_RAX, 0, 24 }, { CFI_R15, -2, 40 }, { CFI_R11, 100, -776 }, { CFI_RDI, 2, 8 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(CFA_REGISTER, cases[i].reg, cases[i].offset));
		fake_state()->regs[cases[i].reg] = STACK_WORD(cases[i].word);
		scene_stack(1, 2, IN_ROOT);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(3));
	}
}

static void cfa_is_where_a_word_of_the_stack_says(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_DEREF, CFI_RSP, 8);

	(void)state;
	rule.arg = 16;
	scene_set_rule(1, rule);
	scene_stack(1, STACK_WORD(2), 2, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(4));
}

/* libgcc's _Unwind_Resume(): pop %rcx; jmp *%rcx. */
static void a_return_address_may_be_in_a_register(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 0);

	(void)state;
	rule.flags = CFI_RETURN_IN_REGISTER;
	rule.arg = CFI_RCX;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_RCX] = IN_FUNCTION(2);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
}

/* It is unknown in the frames further up. */
static void a_register_with_a_return_address_is_the_leafs(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 0);

	(void)state;
	rule.flags = CFI_RETURN_IN_REGISTER;
	rule.arg = CFI_RCX;
	scene_set_rule(2, rule);
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2));
}

/* gcc, for a function with an aligned stack frame: DW_OP_breg6 (rbp) -8; DW_OP_deref. */
static void cfa_is_at_a_place_below_a_register(void **state)
{
	(void)state;
	scene_set_rule(1, scene_rule(CFA_DEREF, CFI_RBP, -8));
	fake_state()->regs[CFI_RBP] = STACK_WORD(2);
	scene_stack(1, STACK_WORD(4), 2, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
}

static void what_is_added_to_a_word_of_the_stack_may_be_negative(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_DEREF, CFI_RSP, 0);

	(void)state;
	rule.arg = (uint16_t)-8;
	scene_set_rule(1, rule);
	scene_stack(STACK_WORD(4), 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
}

static void unreadable_word_of_a_deref_ends_the_stack(void **state)
{
	(void)state;
	scene_set_rule(1, scene_rule(CFA_DEREF, CFI_RSP, 800));
	scene_stack(IN_ROOT, IN_ROOT);
	assert_unwinds(UNWIND_UNREADABLE_STACK, IN_FUNCTION(1));
}

/* jmp *slot; push $index; jmp PLT0: the push ends at byte 11. */
static void plt_entry_has_its_cfa_by_the_byte_it_is_at(void **state)
{
	(void)state;
	for (unsigned int byte = 0; byte < 16; byte++) {
		struct cfi_rule rule = scene_rule(CFA_PLT, CFI_RSP, 8);

		scene_begin();
		rule.arg = 11;
		scene_set_rule(1, rule);
		fake_state()->ip = AT_FUNCTION(1) + byte;
		if (byte < 11)
			scene_stack(IN_FUNCTION(2), IN_ROOT);
		else
			scene_stack(33, IN_FUNCTION(2), IN_ROOT);
		assert_unwinds(UNWIND_COMPLETE, AT_FUNCTION(1) + byte, IN_FUNCTION(2), IN_ROOT);
	}
}

static void runs_count_the_pushes_and_pops_that_were_passed(void **state)
{
	/* push %r15 (2 bytes) … push %rbx (1 byte): ends at bytes 2, 4, 6, 7, 8; the last bit
	 * there is. */
	const uint16_t passed_at = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 15;

	(void)state;
	for (unsigned int byte = 0; byte < 32; byte++) {
		for (unsigned int up = 0; up < 2; up++) {
			struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, up ? 8 : 56);
			uint32_t passed = 0;

			for (unsigned int i = 0; i <= byte && i < 16; i++)
				passed += passed_at >> i & 1;
			scene_begin();
			rule.flags = up ? CFI_RUN_UP : CFI_RUN_DOWN;
			rule.arg = passed_at;
			scene_set_rule(1, rule);
			fake_state()->ip = SCENE_CODE + 0x100 + byte;
			uint64_t words[8] = { 0 };
			words[up ? passed : 6 - passed] = IN_ROOT;
			scene_set_stack(words, array_len(words));
			assert_unwinds(UNWIND_COMPLETE, SCENE_CODE + 0x100 + byte, IN_ROOT);
		}
	}
}

static void run_at_the_end_of_all_offsets_is_no_accident(void **state)
{
	static const struct {
		uint8_t flags;
		int32_t offset;
		int result;
	} cases[] = {
		{ CFI_RUN_UP, INT32_MAX, UNWIND_NOT_ASCENDING },
		{ CFI_RUN_DOWN, INT32_MIN, UNWIND_UNREADABLE_STACK },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, cases[i].offset);

		scene_begin();
		rule.flags = cases[i].flags;
		rule.arg = 0xffff;
		scene_set_rule(1, rule);
		scene_stack(IN_ROOT);
		assert_unwinds(cases[i].result, IN_FUNCTION(1));
	}
}

static void rule_without_a_run_ignores_its_argument(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	rule.arg = 0xffff;
	scene_set_rule(1, rule);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
}

static void saved_registers_get_their_values_back(void **state)
{
	static const enum unwind_register registers[] = { CFI_RBP, CFI_RBX, CFI_R12,
							  CFI_R13, CFI_R14, CFI_R15 };
	static const int8_t places[] = { -2, -3, -7, -8, -9, -16 }; /* the window ends at -8 */
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 128);
	uint64_t words[16] = { [15] = IN_ROOT };

	(void)state;
	for (unsigned int i = 0; i < NR_SAVED_REGS; i++) {
		rule.saved[i] = places[i];
		words[16 + places[i]] = VALUE + i;
	}
	scene_set_rule(1, rule);
	scene_set_stack(words, array_len(words));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	for (unsigned int i = 0; i < NR_SAVED_REGS; i++) {
		assert_int_equal(fake_state()->regs[registers[i]], VALUE + i);
		assert_true(scene_knows(registers[i]));
	}
	assert_false(scene_knows(CFI_RAX));
	assert_false(scene_knows(CFI_R10));
}

static void register_that_is_not_saved_keeps_its_value(void **state)
{
	(void)state;
	fake_state()->regs[CFI_R12] = VALUE;
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_R12], VALUE);
	assert_true(scene_knows(CFI_R12));
}

/* As between the pushes of a prologue. */
static void place_below_the_stack_pointer_holds_nothing_yet(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 16);

	(void)state;
	rule.saved[0] = -2;
	rule.saved[1] = -3;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_RBX] = VALUE;
	fake_add_memory(SCENE_STACK - 8, &(uint64_t){ 4711 }, 8);
	scene_stack(VALUE + 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], VALUE + 1);
	assert_int_equal(fake_state()->regs[CFI_RBX], VALUE);
	assert_true(scene_knows(CFI_RBX));
}

static void registers_may_be_saved_relative_to_rbp(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_DEREF, CFI_RBP, -8);

	(void)state;
	rule.flags = CFI_SAVED_AT_RBP;
	rule.saved[0] = 0;
	rule.saved[5] = -2;
	rule.saved[1] = CFI_LOST;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_RBP] = STACK_WORD(2);
	scene_stack(VALUE, STACK_WORD(5), VALUE + 1, 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], VALUE + 1);
	assert_int_equal(fake_state()->regs[CFI_R15], VALUE);
	assert_false(scene_knows(CFI_RBX));
}

/* pop %rbp; lea -8(%r10),%rsp; ret: GCC's rule for all of them has the places of before the pop. */
static void registers_are_not_saved_by_an_rbp_that_is_the_callers(void **state)
{
	const uint64_t values[] = {
		0, 5, SCENE_STACK - 8, STACK_WORD(2), STACK_WORD(3), UINT64_MAX
	};

	(void)state;
	for (size_t i = 0; i < array_len(values); i++) {
		struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_R10, 0);

		scene_begin();
		rule.flags = CFI_SAVED_AT_RBP;
		rule.saved[0] = 0;
		rule.saved[1] = -1;
		rule.saved[5] = -2;
		rule.saved[4] = CFI_LOST;
		scene_set_rule(1, rule);
		fake_state()->regs[CFI_R10] = STACK_WORD(2);
		fake_state()->regs[CFI_RBP] = values[i];
		fake_state()->regs[CFI_RBX] = VALUE;
		scene_stack(VALUE + 1, IN_ROOT, VALUE + 2, VALUE + 3);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_RBP], values[i]);
		assert_int_equal(fake_state()->regs[CFI_RBX], VALUE);
		assert_true(scene_knows(CFI_RBP) && scene_knows(CFI_RBX) && scene_knows(CFI_R15));
		assert_false(scene_knows(CFI_R14));
	}
}

/* Whatever rbp is: a lost register has no place that could lie below the stack pointer. */
static void lost_register_is_lost_wherever_rbp_points(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	rule.flags = CFI_SAVED_AT_RBP;
	rule.saved[1] = CFI_LOST;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_RBP] = SCENE_STACK - 0x10000;
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_false(scene_knows(CFI_RBX));
}

static void lost_register_ends_the_stack_only_where_it_is_needed(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	rule.saved[1] = CFI_LOST;
	scene_set_rule(1, rule);
	scene_set_rule(3, scene_rule(CFA_REGISTER, CFI_RBX, 16));
	scene_stack(IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2), IN_FUNCTION(3));
}

static void caller_saved_register_is_lost_in_the_caller(void **state)
{
	(void)state;
	scene_set_rule(2, scene_rule(CFA_REGISTER, CFI_R10, 16));
	fake_state()->regs[CFI_R10] = STACK_WORD(1);
	scene_stack(IN_FUNCTION(2), 0, IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2));
}

static void lost_rbp_ends_the_stack_where_registers_are_saved_by_it(void **state)
{
	struct cfi_rule lost = scene_rule(CFA_REGISTER, CFI_RSP, 8);
	struct cfi_rule by_rbp = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	lost.saved[0] = CFI_LOST;
	by_rbp.flags = CFI_SAVED_AT_RBP;
	scene_set_rule(1, lost);
	scene_set_rule(2, by_rbp);
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2));
}

static void unreadable_saved_register_is_lost(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	rule.saved[2] = 100;
	scene_set_rule(1, rule);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_false(scene_knows(CFI_R12));
}

static void return_address_may_be_anywhere(void **state)
{
	static const struct {
		int8_t at;
		uint8_t word;
	} cases[] = { { -2, 8 }, { -8, 2 }, { -9, 1 }, { -10, 0 }, { 0, 10 }, { 1, 11 } };

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 80);
		uint64_t words[12] = { 0 };

		scene_begin();
		rule.return_address = cases[i].at;
		words[cases[i].word] = IN_ROOT;
		scene_set_rule(1, rule);
		scene_set_stack(words, array_len(words));
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(10));
	}
}

/* A stack that begins within the window below the CFA. */
static void window_may_begin_before_the_stack(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 24);

	(void)state;
	rule.saved[1] = -3;
	scene_set_rule(1, rule);
	scene_stack(VALUE, 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBX], VALUE);
}

/* A noreturn call is a function's last instruction: what it would return to is another function. */
static void return_address_belongs_to_the_code_before_it(void **state)
{
	(void)state;
	scene_set_rule(3, scene_rule(CFA_UNSUPPORTED, CFI_RAX, 0));
	scene_stack(SCENE_CODE + 0x300, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), SCENE_CODE + 0x300, IN_ROOT);
}

static void cpu_at_the_first_byte_belongs_to_the_code_there(void **state)
{
	(void)state;
	scene_set_rule(2, scene_rule(CFA_UNSUPPORTED, CFI_RAX, 0));
	fake_state()->ip = SCENE_CODE + 0x300;
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, SCENE_CODE + 0x300, IN_ROOT);
}

#define STEP_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STEP_TEST(leaf_returns_to_its_caller),
		STEP_TEST(cfa_is_a_register_and_an_offset),
		STEP_TEST(cfa_is_where_a_word_of_the_stack_says),
		STEP_TEST(a_return_address_may_be_in_a_register),
		STEP_TEST(a_register_with_a_return_address_is_the_leafs),
		STEP_TEST(cfa_is_at_a_place_below_a_register),
		STEP_TEST(what_is_added_to_a_word_of_the_stack_may_be_negative),
		STEP_TEST(unreadable_word_of_a_deref_ends_the_stack),
		STEP_TEST(plt_entry_has_its_cfa_by_the_byte_it_is_at),
		STEP_TEST(runs_count_the_pushes_and_pops_that_were_passed),
		STEP_TEST(run_at_the_end_of_all_offsets_is_no_accident),
		STEP_TEST(rule_without_a_run_ignores_its_argument),
		STEP_TEST(saved_registers_get_their_values_back),
		STEP_TEST(register_that_is_not_saved_keeps_its_value),
		STEP_TEST(place_below_the_stack_pointer_holds_nothing_yet),
		STEP_TEST(registers_may_be_saved_relative_to_rbp),
		STEP_TEST(registers_are_not_saved_by_an_rbp_that_is_the_callers),
		STEP_TEST(lost_register_is_lost_wherever_rbp_points),
		STEP_TEST(lost_register_ends_the_stack_only_where_it_is_needed),
		STEP_TEST(caller_saved_register_is_lost_in_the_caller),
		STEP_TEST(lost_rbp_ends_the_stack_where_registers_are_saved_by_it),
		STEP_TEST(unreadable_saved_register_is_lost),
		STEP_TEST(return_address_may_be_anywhere),
		STEP_TEST(window_may_begin_before_the_stack),
		STEP_TEST(return_address_belongs_to_the_code_before_it),
		STEP_TEST(cpu_at_the_first_byte_belongs_to_the_code_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
