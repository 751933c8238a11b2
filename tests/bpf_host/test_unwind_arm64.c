/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c for arm64: steps by CFI. What does not differ by architecture is in
 * test_unwind_steps.c. */
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define VALUE 0xaa55aa50ULL
#define CODE_BL 0x94000010U
#define CODE_NOP 0xd503201fU

/* Bits that a signature may set: those above an address, but not bit 55. */
#define SIGNED(address) ((address) | 0xff7f000000000000ULL)

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

/* stp x29, x30, [sp, #-bytes]!; mov x29, sp */
static struct cfi_rule record_rule(enum unwind_register reg, int32_t bytes)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, reg, bytes);

	rule.saved[0] = (cfi_slot)(-bytes / 8);
	rule.return_address = (cfi_slot)(-bytes / 8 + 1);
	return rule;
}

/* The row of a function's first instruction, and of a function that calls no other. */
static struct cfi_rule leaf_rule(int32_t bytes)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, bytes);

	rule.flags = CFI_RETURN_IN_REGISTER;
	rule.arg = CFI_LR;
	rule.return_address = 0;
	return rule;
}

static void record_lies_anywhere_in_its_frame(void **state)
{
	static const struct {
		int16_t fp;
		int16_t return_address;
	} cases[] = { { -2, -1 }, { -6, -5 }, { -5, -4 }, { -3, -6 }, { -6, -1 }, { -1, -2 } };

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, 48);
		uint64_t words[6] = { 0 };

		scene_begin();
		rule.saved[0] = cases[i].fp;
		rule.return_address = cases[i].return_address;
		words[6 + cases[i].fp] = VALUE;
		words[6 + cases[i].return_address] = IN_ROOT;
		scene_set_rule(1, rule);
		scene_set_stack(words, array_len(words));
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_FP], VALUE);
		assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(6));
		assert_int_equal(fake_state()->known, REGISTER_BIT(CFI_FP) | REGISTER_BIT(CFI_SP));
	}
}

/* glibc's _dl_runtime_resolve(): behind stp x16, x30, [sp, #-16]! of the PLT its CFA is sp, and
 * lr at CFA + 8. */
static void return_address_that_was_pushed_before_is_above_the_cfa(void **state)
{
	(void)state;
	for (int32_t bytes = 0; bytes <= 16; bytes += 16) {
		struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, bytes);
		uint64_t words[5] = { 0 };

		scene_begin();
		rule.return_address = 1;
		words[bytes / 8 + 1] = IN_FUNCTION(2);
		words[bytes / 8 + 2] = IN_ROOT;
		scene_set_rule(1, rule);
		scene_set_stack(words, array_len(words));
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
	}
}

static void frame_may_be_as_large_as_a_slot_counts(void **state)
{
	static uint64_t words[32768];
	struct cfi_rule rule = record_rule(CFI_SP, 32767 * 8);

	(void)state;
	words[0] = VALUE;
	words[1] = IN_ROOT;
	scene_set_rule(1, rule);
	scene_set_stack(words, array_len(words));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(32767));
	assert_int_equal(fake_state()->regs[CFI_FP], VALUE);
}

/* Each register in a frame of its own: only in the leaf all of them are known. */
static void cfa_is_a_register_and_an_offset(void **state)
{
	static const enum unwind_register registers[] = { CFI_X0, 19, 28, CFI_FP, CFI_LR, CFI_SP };

	(void)state;
	for (size_t i = 0; i < array_len(registers); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(CFA_REGISTER, registers[i], 24));
		fake_state()->regs[registers[i]] = SCENE_STACK;
		scene_stack(1, 2, IN_ROOT);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(3));
	}
}

static void leaf_returns_to_what_lr_says(void **state)
{
	(void)state;
	for (int32_t bytes = 0; bytes <= 16; bytes += 16) {
		scene_begin();
		scene_set_rule(1, leaf_rule(bytes));
		fake_state()->regs[CFI_LR] = IN_FUNCTION(2);
		scene_set_stack((uint64_t[]){ bytes ? 1 : IN_ROOT, 2, IN_ROOT }, 3);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
	}
}

/* As in code without CFI for its saving of lr. */
static void lr_is_unknown_further_up(void **state)
{
	(void)state;
	scene_set_rule(2, leaf_rule(0));
	fake_state()->regs[CFI_LR] = IN_ROOT;
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2));
}

/* glibc's __startcontext(), to which the function of makecontext(3) returns; in the padding
 * before it is the rule of the function before. */
static void function_that_is_entered_by_return_was_not_called(void **state)
{
	static const struct {
		uint32_t before;
		bool is_leaf_before, is_leaf;
		int result;
	} cases[] = {
		{ CODE_NOP, false, true, UNWIND_COMPLETE },
		{ CODE_BL, false, true, UNWIND_LOST_REGISTER },
		{ CODE_NOP, true, true, UNWIND_COMPLETE },
		{ CODE_BL, true, true, UNWIND_LOST_REGISTER },
		{ CODE_NOP, false, false, UNWIND_LOST_REGISTER },
	};
	const struct cfi_rule unknown = scene_rule(CFA_REGISTER, CFI_X0, 0);

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t start = AT_FUNCTION(3);

		scene_begin();
		scene_set_rule(2, cases[i].is_leaf_before ? leaf_rule(0) : unknown);
		scene_set_rule(3, cases[i].is_leaf ? leaf_rule(0) : unknown);
		fake_add_memory(start - 4, (uint32_t[]){ cases[i].before, 0 }, 8);
		scene_stack(start, IN_ROOT);
		assert_unwinds(cases[i].result, IN_FUNCTION(1),
			       start | (cases[i].result == UNWIND_COMPLETE ? FRAME_ENTERED : 0));
	}
}

static void callee_saved_registers_are_not_followed(void **state)
{
	(void)state;
	scene_set_rule(2, scene_rule(CFA_REGISTER, 19, 0));
	fake_state()->regs[19] = STACK_WORD(2);
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(2));
}

static void signatures_of_return_addresses_are_taken_off(void **state)
{
	struct cfi_rule rule = record_rule(CFI_SP, 16);

	(void)state;
	scene_set_rule(1, leaf_rule(0));
	scene_set_rule(2, rule);
	fake_state()->regs[CFI_LR] = SIGNED(IN_FUNCTION(2));
	scene_stack(VALUE, SIGNED(IN_FUNCTION(3)), SIGNED(IN_ROOT));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
}

static void return_address_tells_how_a_stack_ends(void **state)
{
	static const struct {
		uint64_t address;
		int result;
	} cases[] = {
		{ 0, UNWIND_COMPLETE },
		{ 0x7f00000000000000, UNWIND_COMPLETE }, /* 0, signed */
		{ 4, UNWIND_BAD_RETURN_ADDRESS },
		{ IN_ROOT + 2, UNWIND_BAD_RETURN_ADDRESS },
		{ 0xffff800008010000, UNWIND_BAD_RETURN_ADDRESS },
		{ IN_ROOT | 1ULL << 55, UNWIND_BAD_RETURN_ADDRESS },
		{ UINT64_MAX - 3, UNWIND_BAD_RETURN_ADDRESS },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		scene_begin();
		scene_stack(cases[i].address);
		assert_unwinds(cases[i].result, IN_FUNCTION(1));
	}
}

/* The word below the frame is the record's first: str x30, [sp, #-32]!; stur x29, [sp, #-8]; sub
 * x29, sp, #8. */
static struct cfi_rule go_rule(int32_t bytes)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, bytes);

	rule.flags = CFI_SAVED_BELOW_SP;
	rule.return_address = (cfi_slot)(-bytes / 8);
	rule.saved[0] = (cfi_slot)(-bytes / 8 - 1);
	return rule;
}

static void go_keeps_the_frame_pointer_below_its_frame(void **state)
{
	(void)state;
	scene_set_rule(1, go_rule(32));
	fake_add_memory(STACK_WORD(-1), &(uint64_t){ VALUE }, 8);
	scene_stack(IN_ROOT, 1, 2, 3);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], VALUE);
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(4));
}

/* runtime.nanotime1(), say: until it leaves the stack its frame is like any other. */
static void what_switches_stacks_is_stepped_over_by_sp_before(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_STACK_SWITCH, 0, 32);

	(void)state;
	for (int has_record = 0; has_record < 2; has_record++) {
		begin_scene(NULL);
		scene_set_rule(1, rule);
		fake_state()->regs[CFI_FP] = STACK_WORD(-1);
		if (has_record)
			fake_add_memory(STACK_WORD(-1), &(uint64_t){ VALUE }, 8);
		scene_stack(IN_FUNCTION(2), 1, 2, 3, IN_ROOT);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
		assert_int_equal(fake_state()->known & REGISTER_BIT(CFI_FP),
				 has_record ? REGISTER_BIT(CFI_FP) : 0);
	}
}

static void what_switches_stacks_is_stepped_over_by_its_record_behind(void **state)
{
	static const struct {
		int32_t size;
		int record; /* the word of the stack where it is */
	} cases[] = { { 32, 1 }, { 32, 2 }, { 0, -1 } };

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		const uint64_t record[] = { VALUE & ~15ULL, IN_ROOT };

		begin_scene(NULL);
		scene_set_rule(1, scene_rule(CFA_STACK_SWITCH, 0, cases[i].size));
		fake_state()->regs[CFI_FP] = STACK_WORD(64 + cases[i].record);
		fake_state()->regs[CFI_SP] = STACK_WORD(64);
		fake_add_memory(STACK_WORD(64 + cases[i].record), record, sizeof(record));
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	}
}

static void place_below_the_stack_pointer_else_holds_nothing(void **state)
{
	struct cfi_rule rule = go_rule(32);

	(void)state;
	rule.flags = 0;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_FP] = 42;
	fake_add_memory(STACK_WORD(-1), &(uint64_t){ VALUE }, 8);
	scene_stack(IN_ROOT, 1, 2, 3);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], 42);
}

/* Its stack ends there: what is below is unmapped. */
static void window_may_begin_before_the_stack(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, 16);

	(void)state;
	rule.return_address = -2;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_FP] = 42;
	scene_stack(IN_ROOT, 1);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], 42);
}

static void unreadable_return_address_ends_the_stack(void **state)
{
	(void)state;
	scene_set_rule(1, record_rule(CFI_SP, 16));
	scene_stack(VALUE);
	assert_unwinds(UNWIND_UNREADABLE_STACK, IN_FUNCTION(1));
}

static void stack_that_does_not_ascend_ends(void **state)
{
	static const int32_t offsets[] = { 0, -16, INT32_MIN };

	(void)state;
	for (size_t i = 0; i < array_len(offsets); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(CFA_REGISTER, CFI_SP, offsets[i]));
		scene_stack(IN_ROOT, IN_ROOT);
		assert_unwinds(UNWIND_NOT_ASCENDING, IN_FUNCTION(1));
	}
}

static void leaf_whose_caller_has_no_frame_either_ends(void **state)
{
	(void)state;
	scene_set_rule(1, leaf_rule(0));
	fake_state()->regs[CFI_LR] = IN_FUNCTION(1);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_FUNCTION(1));
}

#define ARM64_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARM64_TEST(record_lies_anywhere_in_its_frame),
		ARM64_TEST(return_address_that_was_pushed_before_is_above_the_cfa),
		ARM64_TEST(frame_may_be_as_large_as_a_slot_counts),
		ARM64_TEST(cfa_is_a_register_and_an_offset),
		ARM64_TEST(leaf_returns_to_what_lr_says),
		ARM64_TEST(lr_is_unknown_further_up),
		ARM64_TEST(function_that_is_entered_by_return_was_not_called),
		ARM64_TEST(callee_saved_registers_are_not_followed),
		ARM64_TEST(signatures_of_return_addresses_are_taken_off),
		ARM64_TEST(return_address_tells_how_a_stack_ends),
		ARM64_TEST(go_keeps_the_frame_pointer_below_its_frame),
		ARM64_TEST(what_switches_stacks_is_stepped_over_by_sp_before),
		ARM64_TEST(what_switches_stacks_is_stepped_over_by_its_record_behind),
		ARM64_TEST(place_below_the_stack_pointer_else_holds_nothing),
		ARM64_TEST(window_may_begin_before_the_stack),
		ARM64_TEST(unreadable_return_address_ends_the_stack),
		ARM64_TEST(stack_that_does_not_ascend_ends),
		ARM64_TEST(leaf_whose_caller_has_no_frame_either_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
