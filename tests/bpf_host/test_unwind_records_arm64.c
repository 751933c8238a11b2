/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c for arm64: code without CFI, by frame records and by lr; signals.
 * Function 0 has no CFI, nor has SCENE_JIT. */
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define IN_JIT (SCENE_JIT + 0x124)
#define IN_HOLE (SCENE_JIT_END + 0x124)
#define TRAMPOLINE (SCENE_JIT + 0x500) /* what a signal handler returns to */

#define CODE_BL 0x94000010U
#define CODE_BLR_X3 0xd63f0060U
#define CODE_BLRAAZ_X3 0xd63f087fU
#define CODE_BLRAB_X3_X4 0xd73f0c64U
#define CODE_BR_X3 0xd61f0060U
#define CODE_RET 0xd65f03c0U
#define CODE_SVC 0xd4000001U

#define SIGNAL_BYTES 4688 /* sizeof(struct rt_sigframe) */
#define SIGNAL_REGS 312

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	fake_state()->ip = IN_FUNCTION(0);
	return 0;
}

static void put_code(uint64_t address, uint32_t first, uint32_t second)
{
	const uint32_t code[] = { first, second };

	fake_add_memory(address, code, sizeof(code));
}

/* A function whose record {fp, lr} is at the bottom of its frame, as gcc makes it. */
static void set_record_rule(unsigned int function, int32_t bytes)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, bytes);

	rule.saved[0] = (cfi_slot)(-bytes / 8);
	rule.return_address = (cfi_slot)(-bytes / 8 + 1);
	scene_set_rule(function, rule);
}

static void record_leads_to_the_caller_but_not_to_its_stack_pointer(void **state)
{
	(void)state;
	fake_state()->regs[CFI_FP] = STACK_WORD(1);
	scene_stack(1, 42, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], 42);
	assert_int_equal(fake_state()->known, REGISTER_BIT(CFI_FP));
}

static void callers_record_tells_where_its_frame_ends(void **state)
{
	(void)state;
	set_record_rule(2, 32);
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	/* A record, the rest of its frame, a frame of 32 bytes, and one that is found by its sp
	 * alone. */
	scene_stack(STACK_WORD(4), IN_FUNCTION(2), 1, 1, 42, IN_FUNCTION(3), 1, 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], 42);
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(9));
}

/* clang: the CFA is at x29 + 16 in all of the body. */
static void cfa_by_frame_pointer_needs_no_stack_pointer(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_FP, 16);

	(void)state;
	rule.saved[0] = -2;
	scene_set_rule(2, rule);
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_stack(STACK_WORD(4), IN_FUNCTION(2), 1, 1, 42, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_ROOT);
}

static void stack_ends_where_the_stack_pointer_is_needed(void **state)
{
	struct cfi_rule rules[6];

	(void)state;
	for (size_t i = 0; i < array_len(rules); i++) {
		rules[i] = scene_rule(CFA_REGISTER, CFI_SP, 32);
		rules[i].saved[0] = -4;
		rules[i].return_address = -3;
	}
	rules[0].saved[0] = CFI_NOT_SAVED;
	rules[1].saved[0] = CFI_LOST;
	rules[2].return_address = -1;
	rules[3].flags = CFI_RETURN_IN_REGISTER;
	rules[3].arg = CFI_LR;
	rules[4].reg = 19;
	rules[5].kind = CFA_DEREF;
	for (size_t i = 0; i < array_len(rules); i++) {
		begin_scene(NULL);
		scene_set_rule(2, rules[i]);
		fake_state()->regs[CFI_FP] = STACK_WORD(0);
		scene_stack(STACK_WORD(4), IN_FUNCTION(2), 1, 1, 42, IN_ROOT, 1, IN_ROOT);
		assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(0), IN_FUNCTION(2));
	}
}

static void records_may_lie_below_those_of_code_without_them(void **state)
{
	(void)state;
	set_record_rule(2, 16);
	fake_state()->ip = IN_JIT;
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_stack(STACK_WORD(2), IN_FUNCTION(2), STACK_WORD(4), IN_JIT, 0, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_JIT, IN_FUNCTION(2), IN_JIT, IN_ROOT);
}

static void frame_pointer_of_0_is_the_first_frames(void **state)
{
	(void)state;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0));
}

static void what_cannot_be_a_record_is_refused(void **state)
{
	static const struct {
		uint64_t fp;
		int result;
	} cases[] = {
		{ STACK_WORD(0) + 4, UNWIND_BAD_FRAME_POINTER },
		{ STACK_WORD(-1), UNWIND_BAD_FRAME_POINTER },
		{ 1ULL << 48, UNWIND_BAD_FRAME_POINTER },
		{ 0xffff800008010000, UNWIND_BAD_FRAME_POINTER },
		{ (1ULL << 48) - 8, UNWIND_UNREADABLE_STACK },
		{ STACK_WORD(1), UNWIND_UNREADABLE_STACK },
		{ STACK_WORD(0), UNWIND_BAD_FRAME_POINTER }, /* leads into a hole */
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		begin_scene(NULL);
		fake_state()->regs[CFI_FP] = cases[i].fp;
		scene_stack(1, IN_HOLE);
		assert_unwinds(cases[i].result, IN_FUNCTION(0));
	}
}

/* A leaf without CFI and without a record: function 0 called by function 2. */
static void begin_leaf(uint64_t lr)
{
	begin_scene(NULL);
	set_record_rule(2, 16);
	fake_state()->regs[CFI_LR] = lr;
	fake_state()->regs[CFI_FP] = STACK_WORD(4);
	scene_stack(1, 1, 1, 1, 42, IN_ROOT);
}

static void leafs_caller_is_in_lr(void **state)
{
	static const uint32_t calls[] = { CODE_BL, CODE_BLR_X3, CODE_BLRAAZ_X3, CODE_BLRAB_X3_X4 };

	(void)state;
	for (size_t i = 0; i < array_len(calls); i++) {
		begin_leaf(IN_FUNCTION(2) | 0x5500000000000000);
		put_code(IN_FUNCTION(2) - 4, calls[i], 0);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_ROOT);
		assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(6));
	}
}

static void leafs_caller_may_be_in_another_mapping_without_cfi(void **state)
{
	(void)state;
	begin_leaf(IN_JIT);
	put_code(IN_JIT - 4, CODE_BLR_X3, 0);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_JIT, IN_ROOT);
}

/* As in the agent, which has a copy of the stack alone. */
static void code_that_cannot_be_read_may_be_a_call(void **state)
{
	(void)state;
	begin_leaf(IN_FUNCTION(2));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_ROOT);
}

/* Go's runtime.systemstack() has called a function before it leaves the stack. */
static void lr_that_leads_to_the_function_itself_is_not_believed(void **state)
{
	(void)state;
	begin_leaf(IN_FUNCTION(3) + 8);
	scene_set_rule(3, scene_rule(CFA_STACK_SWITCH, 0, 0));
	put_code(IN_FUNCTION(3) + 4, CODE_BL, 0);
	fake_state()->ip = IN_FUNCTION(3) + 8;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(3) + 8, IN_ROOT);
}

/* Its last call left it there, or something else did. */
static void lr_is_not_believed_elsewhere(void **state)
{
	static const struct {
		uint64_t lr;
		uint32_t before;
	} cases[] = {
		{ IN_FUNCTION(2), CODE_BR_X3 },	    { IN_FUNCTION(2), CODE_RET },
		{ IN_FUNCTION(2) + 2, 0 },	    { IN_HOLE, 0 },
		{ IN_FUNCTION(0) + 8, 0 },	    { IN_FUNCTION(0) + 8, CODE_BL },
		{ IN_FUNCTION(0) - 0x20, CODE_BL }, { 0, 0 },
		{ 0xffff800008010000, 0 },	    { IN_FUNCTION(2) | 1ULL << 55, 0 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		begin_leaf(cases[i].lr);
		if (cases[i].before)
			put_code(cases[i].lr - 4, cases[i].before, 0);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_ROOT);
	}
}

/* Behind the first instructions of a function that has a record and has not called anything yet. */
static void lr_that_is_in_the_record_is_one_frame(void **state)
{
	(void)state;
	begin_leaf(IN_FUNCTION(2));
	put_code(IN_FUNCTION(2) - 4, CODE_BL, 0);
	fake_state()->regs[CFI_FP] = STACK_WORD(-2);
	fake_state()->regs[CFI_SP] = STACK_WORD(-2);
	fake_add_memory(STACK_WORD(-2), (uint64_t[]){ STACK_WORD(4), IN_FUNCTION(2) }, 16);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_ROOT);
}

static void lr_of_a_caller_is_not_known(void **state)
{
	(void)state;
	begin_leaf(IN_FUNCTION(2));
	put_code(IN_FUNCTION(2) - 4, CODE_BL, 0);
	fake_state()->ip = IN_FUNCTION(1);
	fake_add_memory(SCENE_STACK - 64, (uint64_t[]){ IN_FUNCTION(0) }, 8);
	fake_state()->regs[CFI_SP] = SCENE_STACK - 64;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(0), IN_ROOT);
}

/* The kernel's frame at `address`, of a signal that interrupted IN_JIT, and the record behind
 * it. */
static void put_signal_frame(uint64_t address, const uint64_t *registers)
{
	uint64_t words[SIGNAL_BYTES / 8 + 2] = { 0 };

	memcpy(words + SIGNAL_REGS / 8, registers, NR_REGS * sizeof(*registers));
	words[SIGNAL_REGS / 8 + NR_REGS] = IN_JIT;
	words[SIGNAL_BYTES / 8] = registers[CFI_FP];
	words[SIGNAL_BYTES / 8 + 1] = registers[CFI_LR];
	fake_add_memory(address, words, sizeof(words));
}

/* A handler of function 2, with or without CFI, on the stack of JIT code that function 3 called. */
static void begin_signal(bool has_cfi)
{
	uint64_t registers[NR_REGS], frame = SCENE_STACK - 0x2000;
	const uint64_t handler[] = { frame + SIGNAL_BYTES, TRAMPOLINE };

	begin_scene(NULL);
	for (unsigned int i = 0; i < NR_REGS; i++)
		registers[i] = 0x1000 + i;
	registers[CFI_FP] = STACK_WORD(0);
	registers[CFI_SP] = STACK_WORD(0);
	put_signal_frame(frame, registers);
	put_code(TRAMPOLINE, 0xd2801168, CODE_SVC);
	fake_add_memory(frame - sizeof(handler), handler, sizeof(handler));
	set_record_rule(2, sizeof(handler));
	if (!has_cfi)
		scene_set_rule(2, scene_rule(CFA_NONE, 0, 0));
	fake_state()->ip = IN_FUNCTION(2);
	fake_state()->regs[CFI_FP] = frame - sizeof(handler);
	fake_state()->regs[CFI_SP] = frame - sizeof(handler);
	scene_stack(0, IN_ROOT);
}

static void signals_frame_is_at_the_stack_pointer(void **state)
{
	(void)state;
	begin_signal(true);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(2), TRAMPOLINE, IN_JIT | FRAME_INTERRUPTED,
		       IN_ROOT);
}

/* The handler's record leads to one of the kernel's, right behind the signal's frame. */
static void signals_frame_is_found_without_a_stack_pointer(void **state)
{
	(void)state;
	begin_signal(false);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(2), TRAMPOLINE, IN_JIT | FRAME_INTERRUPTED,
		       IN_ROOT);
}

static void signals_frame_of_another_size_is_not_found(void **state)
{
	(void)state;
	begin_signal(false);
	fake_state()->ip = IN_JIT;
	fake_state()->regs[CFI_FP] = STACK_WORD(100);
	fake_add_memory(STACK_WORD(100), (uint64_t[]){ STACK_WORD(102), TRAMPOLINE, 1, 2 }, 32);
	fake_add_memory(STACK_WORD(102) - SIGNAL_BYTES + SIGNAL_REGS + 29 * 8, (uint64_t[]){ 1, 3 },
			16);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_JIT, TRAMPOLINE);
}

static void signal_restores_every_register(void **state)
{
	uint64_t registers[NR_REGS];

	(void)state;
	for (unsigned int i = 0; i < NR_REGS; i++)
		registers[i] = 0x55aa0000 + 8 * i;
	scene_set_rule(1, scene_rule(CFA_SIGNAL, 0, 0));
	scene_set_rule(2, scene_rule(CFA_NONE, 0, 0));
	put_signal_frame(SCENE_STACK, registers);
	fake_state()->ip = IN_FUNCTION(1);
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_FUNCTION(1), IN_JIT | FRAME_INTERRUPTED);
	assert_memory_equal(fake_state()->regs, registers, sizeof(registers));
	assert_int_equal(fake_state()->known, ALL_REGISTERS);
}

/* musl's clone(): blr x1; mov x8, #93; svc #0. The frame pointer is that of the thread that made
 * this one. */
static void end_of_a_thread_completes_its_stack(void **state)
{
	(void)state;
	put_code(IN_JIT, 0xd2800ba8, CODE_SVC);
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_stack(STACK_WORD(2), IN_JIT, STACK_WORD(4), IN_FUNCTION(2), 0, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_JIT);
}

static void other_system_calls_end_nothing(void **state)
{
	static const uint32_t codes[][2] = { { 0xd2800ba8, CODE_RET },
					     { 0xd2800bc8, CODE_SVC },
					     { 0xd2801168, CODE_RET } };

	(void)state;
	for (size_t i = 0; i < array_len(codes); i++) {
		begin_scene(NULL);
		put_code(IN_JIT, codes[i][0], codes[i][1]);
		fake_state()->regs[CFI_FP] = STACK_WORD(0);
		scene_stack(STACK_WORD(2), IN_JIT, 0, IN_ROOT);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_JIT, IN_ROOT);
	}
}

/* Go's system stack is below or above the goroutine's. */
static void only_a_stack_switch_goes_down(void **state)
{
	const uint64_t below[] = { 0, IN_ROOT };

	(void)state;
	fake_add_memory(STACK_WORD(-100), below, sizeof(below));
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_FP] = STACK_WORD(-100);
	scene_set_rule(1, scene_rule(CFA_STACK_SWITCH, 0, 0));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
}

#define RECORD_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORD_TEST(record_leads_to_the_caller_but_not_to_its_stack_pointer),
		RECORD_TEST(callers_record_tells_where_its_frame_ends),
		RECORD_TEST(cfa_by_frame_pointer_needs_no_stack_pointer),
		RECORD_TEST(stack_ends_where_the_stack_pointer_is_needed),
		RECORD_TEST(records_may_lie_below_those_of_code_without_them),
		RECORD_TEST(frame_pointer_of_0_is_the_first_frames),
		RECORD_TEST(what_cannot_be_a_record_is_refused),
		RECORD_TEST(leafs_caller_is_in_lr),
		RECORD_TEST(leafs_caller_may_be_in_another_mapping_without_cfi),
		RECORD_TEST(code_that_cannot_be_read_may_be_a_call),
		RECORD_TEST(lr_that_leads_to_the_function_itself_is_not_believed),
		RECORD_TEST(lr_is_not_believed_elsewhere),
		RECORD_TEST(lr_that_is_in_the_record_is_one_frame),
		RECORD_TEST(lr_of_a_caller_is_not_known),
		RECORD_TEST(signals_frame_is_at_the_stack_pointer),
		RECORD_TEST(signals_frame_is_found_without_a_stack_pointer),
		RECORD_TEST(signals_frame_of_another_size_is_not_found),
		RECORD_TEST(signal_restores_every_register),
		RECORD_TEST(end_of_a_thread_completes_its_stack),
		RECORD_TEST(other_system_calls_end_nothing),
		RECORD_TEST(only_a_stack_switch_goes_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
