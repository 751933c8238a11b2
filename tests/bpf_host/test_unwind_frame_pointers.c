/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c: code without CFI, by frame pointers. Function 0 has none, nor has
 * SCENE_JIT. */
#include "scene.h"

#include "base/err.h"

#define IN_JIT (SCENE_JIT + 0x123)
#define IN_HOLE (SCENE_JIT_END + 0x123)
#define RESTORER (SCENE_JIT + 0x500) /* what a signal handler returns to */

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	fake_state()->ip = IN_FUNCTION(0);
	return 0;
}

static void frame_pointer_leads_to_the_caller(void **state)
{
	(void)state;
	fake_state()->regs[CFI_RBP] = STACK_WORD(1);
	scene_stack(1, 42, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(3));
	assert_int_equal(fake_state()->regs[CFI_RBP], 42);
	assert_int_equal(fake_state()->known, REGISTER_BIT(CFI_RSP) | REGISTER_BIT(CFI_RBP));
}

static void frames_with_and_without_cfi_may_alternate(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 16);

	(void)state;
	rule.saved[0] = -2;
	scene_set_rule(2, rule);
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	scene_stack(1, IN_FUNCTION(2), STACK_WORD(4), IN_JIT, 1, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0), IN_FUNCTION(2), IN_JIT, IN_ROOT);
}

static void frame_pointer_of_0_is_the_first_frames(void **state)
{
	(void)state;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0));
}

static void return_address_of_0_is_the_first_frames(void **state)
{
	(void)state;
	fake_state()->regs[CFI_RBP] = SCENE_STACK;
	scene_stack(0, 0);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(0));
}

static void what_cannot_be_a_frame_pointer_is_refused(void **state)
{
	static const struct {
		uint64_t fp;
		int result;
	} cases[] = {
		{ STACK_WORD(0) + 1, UNWIND_BAD_FRAME_POINTER },
		{ STACK_WORD(0) + 4, UNWIND_BAD_FRAME_POINTER },
		{ STACK_WORD(-1), UNWIND_BAD_FRAME_POINTER },
		{ 8, UNWIND_BAD_FRAME_POINTER },
		{ UINT64_MAX - 7, UNWIND_BAD_FRAME_POINTER },
		{ 0x100000000000000, UNWIND_BAD_FRAME_POINTER },
		{ 0xffffffffffff8, UNWIND_UNREADABLE_STACK },
		{ STACK_WORD(1), UNWIND_UNREADABLE_STACK }, /* the return address is not there */
		{ STACK_WORD(2), UNWIND_UNREADABLE_STACK },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		begin_scene(NULL);
		fake_state()->regs[CFI_RBP] = cases[i].fp;
		fake_add_memory(STACK_WORD(-1), &(uint64_t){ 1 }, 8);
		scene_stack(IN_ROOT, IN_ROOT);
		assert_unwinds(cases[i].result, IN_FUNCTION(0));
	}
}

static void what_cannot_be_a_return_address_is_refused(void **state)
{
	static const uint64_t addresses[] = { 1, 4095, UINT64_MAX, 0xffffffff81000000 };

	(void)state;
	for (size_t i = 0; i < array_len(addresses); i++) {
		begin_scene(NULL);
		fake_state()->regs[CFI_RBP] = SCENE_STACK;
		scene_stack(1, addresses[i]);
		assert_unwinds(UNWIND_BAD_RETURN_ADDRESS, IN_FUNCTION(0));
	}
}

static void step_from_code_leads_to_code(void **state)
{
	static const struct {
		uint64_t from;
		uint64_t to;
		int result;
	} cases[] = {
		{ IN_FUNCTION(0), IN_HOLE, UNWIND_BAD_FRAME_POINTER },
		{ IN_FUNCTION(0), 4096, UNWIND_BAD_FRAME_POINTER },
		{ IN_FUNCTION(0), SCENE_CODE,
		  UNWIND_BAD_FRAME_POINTER }, /* the call is before it */
		{ IN_FUNCTION(0), SCENE_CODE_END + 1, UNWIND_BAD_FRAME_POINTER },
		{ IN_JIT, IN_HOLE, UNWIND_BAD_FRAME_POINTER },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		begin_scene(NULL);
		fake_state()->ip = cases[i].from;
		fake_state()->regs[CFI_RBP] = SCENE_STACK;
		scene_stack(1, cases[i].to);
		assert_unwinds(cases[i].result, cases[i].from);
	}
}

/* The agent may not have heard of a mapping yet. */
static void step_from_a_hole_may_lead_anywhere(void **state)
{
	(void)state;
	fake_state()->ip = IN_HOLE;
	fake_state()->regs[CFI_RBP] = SCENE_STACK;
	scene_stack(STACK_WORD(2), IN_HOLE + 1, STACK_WORD(4), IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_HOLE, IN_HOLE + 1, IN_ROOT);
}

static void step_from_the_last_byte_of_code_is_one_from_code(void **state)
{
	(void)state;
	scene_set_rule(1, scene_rule(CFA_NONE, CFI_RAX, 0));
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_RBP] = SCENE_STACK;
	scene_stack(STACK_WORD(2), SCENE_JIT_END, STACK_WORD(4), IN_HOLE);
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_FUNCTION(1), SCENE_JIT_END);
}

static void frame_pointer_that_was_lost_is_not_followed(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RSP, 8);

	(void)state;
	rule.saved[0] = CFI_LOST;
	scene_set_rule(1, rule);
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_RBP] = STACK_WORD(1);
	scene_stack(IN_JIT, 1, IN_ROOT);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1), IN_JIT);
}

static void only_a_stack_switch_goes_down(void **state)
{
	uint64_t other_stack[] = { STACK_WORD(0), IN_FUNCTION(0) };

	(void)state;
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_RBP] = STACK_WORD(-100);
	fake_add_memory(STACK_WORD(-100), other_stack, sizeof(other_stack));
	scene_stack(1, IN_ROOT);
	scene_set_rule(1, scene_rule(CFA_STACK_SWITCH, CFI_RAX, 0));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(0), IN_ROOT);
}

static void stack_switch_is_refused_what_is_no_frame_pointer(void **state)
{
	(void)state;
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_RBP] = STACK_WORD(-100) + 1;
	scene_set_rule(1, scene_rule(CFA_STACK_SWITCH, CFI_RAX, 0));
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_FUNCTION(1));
}

static void cycle_of_frame_pointers_ends(void **state)
{
	(void)state;
	fake_state()->ip = IN_JIT;
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	scene_stack(STACK_WORD(2), IN_JIT, STACK_WORD(0), IN_JIT);
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_JIT, IN_JIT, IN_JIT);
}

static void cycle_of_stack_switches_ends(void **state)
{
	(void)state;
	scene_set_rule(1, scene_rule(CFA_STACK_SWITCH, CFI_RAX, 0));
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	scene_stack(STACK_WORD(0), IN_FUNCTION(1));
	assert_int_equal(scene_unwind(), UNWIND_TOO_DEEP);
	assert_int_equal(fake_event()->nr_user, MAX_USER_FRAMES);
}

/* A handler in JIT code returns into the C library's restorer, which has no CFI. */
static void set_stack_with_signal_frame(void)
{
	uint64_t words[32] = { [0] = 1, [1] = RESTORER };

	words[2 + 5 + 10] = STACK_WORD(28); /* rbp */
	words[2 + 5 + 15] = STACK_WORD(28); /* rsp */
	words[2 + 5 + 16] = SCENE_JIT + 0x2000; /* rip */
	words[29] = IN_ROOT;
	scene_set_stack(words, array_len(words));
	fake_state()->ip = IN_JIT;
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
}

static void sigreturn_is_recognized_by_its_code(void **state)
{
	static const uint8_t codes[][9] = {
		{ 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, /* mov $15, %rax; syscall */
		{ 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xc3 }, /* mov $15, %eax; syscall; ret */
	};

	(void)state;
	for (size_t i = 0; i < array_len(codes); i++) {
		begin_scene(NULL);
		set_stack_with_signal_frame();
		fake_add_memory(RESTORER, codes[i], sizeof(codes[i]));
		assert_unwinds(UNWIND_COMPLETE, IN_JIT, RESTORER,
			       (SCENE_JIT + 0x2000) | FRAME_INTERRUPTED, IN_ROOT);
	}
}

static void other_code_is_no_sigreturn(void **state)
{
	static const uint8_t codes[][9] = {
		{ 0x48, 0xc7, 0xc0, 0x3c, 0, 0, 0, 0x0f, 0x05 }, /* another system call */
		{ 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x0b, 0xc3, 0xc3 },
		{ 0 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(codes); i++) {
		begin_scene(NULL);
		set_stack_with_signal_frame();
		fake_state()->regs[CFI_RBP] = STACK_WORD(0);
		fake_add_memory(RESTORER, codes[i], sizeof(codes[i]));
		assert_int_equal(scene_unwind(), UNWIND_BAD_FRAME_POINTER);
	}
}

#define FP_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FP_TEST(frame_pointer_leads_to_the_caller),
		FP_TEST(frames_with_and_without_cfi_may_alternate),
		FP_TEST(frame_pointer_of_0_is_the_first_frames),
		FP_TEST(return_address_of_0_is_the_first_frames),
		FP_TEST(what_cannot_be_a_frame_pointer_is_refused),
		FP_TEST(what_cannot_be_a_return_address_is_refused),
		FP_TEST(step_from_code_leads_to_code),
		FP_TEST(step_from_a_hole_may_lead_anywhere),
		FP_TEST(step_from_the_last_byte_of_code_is_one_from_code),
		FP_TEST(frame_pointer_that_was_lost_is_not_followed),
		FP_TEST(only_a_stack_switch_goes_down),
		FP_TEST(stack_switch_is_refused_what_is_no_frame_pointer),
		FP_TEST(cycle_of_frame_pointers_ends),
		FP_TEST(cycle_of_stack_switches_ends),
		FP_TEST(sigreturn_is_recognized_by_its_code),
		FP_TEST(other_code_is_no_sigreturn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
