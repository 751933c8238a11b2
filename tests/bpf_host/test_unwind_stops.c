/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c: how stacks end, and signals, behind which they go on. */
#include "scene.h"

#include "base/err.h"

#define VALUE 0xaa55aa55ULL

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

static void stack_that_does_not_ascend_ends(void **state)
{
	static const int32_t offsets[] = { 0, -8, -4096, INT32_MIN };

	(void)state;
	for (size_t i = 0; i < array_len(offsets); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(CFA_REGISTER, CFI_RSP, offsets[i]));
		scene_stack(IN_ROOT, IN_ROOT);
		assert_unwinds(UNWIND_NOT_ASCENDING, IN_FUNCTION(1));
	}
}

static void cycle_of_frames_ends(void **state)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_RBP, 16);

	(void)state;
	rule.saved[0] = -2;
	scene_set_rule(1, rule);
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	scene_stack(STACK_WORD(2), IN_FUNCTION(1), STACK_WORD(0), IN_FUNCTION(1));
	assert_unwinds(UNWIND_NOT_ASCENDING, IN_FUNCTION(1), IN_FUNCTION(1), IN_FUNCTION(1));
}

static void cfa_beyond_memory_ends_the_stack(void **state)
{
	static const uint64_t bases[] = { 0x7fffffff0000, 0xffffffff81000000, UINT64_MAX - 8,
					  UINT64_MAX - 8 * 127 };

	(void)state;
	for (size_t i = 0; i < array_len(bases); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(CFA_REGISTER, CFI_RBX, 8));
		fake_state()->regs[CFI_RBX] = bases[i];
		scene_stack(IN_ROOT);
		assert_unwinds(UNWIND_UNREADABLE_STACK, IN_FUNCTION(1));
	}
}

static void return_address_tells_how_a_stack_ends(void **state)
{
	static const struct {
		uint64_t address;
		int result;
	} cases[] = {
		{ 0, UNWIND_COMPLETE },
		{ 1, UNWIND_BAD_RETURN_ADDRESS },
		{ 4095, UNWIND_BAD_RETURN_ADDRESS },
		{ UINT64_MAX, UNWIND_BAD_RETURN_ADDRESS },
		{ 0xffffffff81000000, UNWIND_BAD_RETURN_ADDRESS },
		{ 0x8000000000400000, UNWIND_BAD_RETURN_ADDRESS },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		scene_begin();
		scene_stack(cases[i].address);
		assert_unwinds(cases[i].result, IN_FUNCTION(1));
	}
}

/* The kernel leaves this at the stack pointer: uc_flags, uc_link, uc_stack, then the registers. */
static void set_signal_frame(const uint64_t *registers, uint64_t ip)
{
	static const uint8_t order[] = { CFI_R8,  CFI_R9,  CFI_R10, CFI_R11, CFI_R12, CFI_R13,
					 CFI_R14, CFI_R15, CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX,
					 CFI_RDX, CFI_RAX, CFI_RCX, CFI_RSP };
	uint64_t words[5 + array_len(order) + 1] = { 0 };

	for (size_t i = 0; i < array_len(order); i++)
		words[5 + i] = registers[order[i]];
	words[5 + array_len(order)] = ip;
	scene_set_stack(words, array_len(words));
}

static void signal_frame_restores_every_register(void **state)
{
	uint64_t registers[NR_REGS];

	(void)state;
	for (unsigned int i = 0; i < NR_REGS; i++)
		registers[i] = VALUE + i;
	scene_set_rule(1, scene_rule(CFA_SIGNAL, CFI_RAX, 0));
	set_signal_frame(registers, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT | FRAME_INTERRUPTED);
	assert_memory_equal(fake_state()->regs, registers, sizeof(registers));
	assert_int_equal(fake_state()->known, ALL_REGISTERS);
}

/* The alternate stack is above the interrupted one, whose first instruction it was. */
static void signal_may_have_come_on_another_stack_and_anywhere(void **state)
{
	uint64_t registers[NR_REGS] = {
		[CFI_RSP] = SCENE_STACK - 0x8000, [CFI_R10] = SCENE_STACK - 0x8000
	};
	uint64_t interrupted[] = { 0, IN_ROOT };

	(void)state;
	scene_set_rule(1, scene_rule(CFA_SIGNAL, CFI_RAX, 0));
	scene_set_rule(2, scene_rule(CFA_UNSUPPORTED, CFI_RAX, 0));
	scene_set_rule(3, scene_rule(CFA_REGISTER, CFI_R10, 16));
	set_signal_frame(registers, SCENE_CODE + 0x300);
	fake_add_memory(SCENE_STACK - 0x8000, interrupted, sizeof(interrupted));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), (SCENE_CODE + 0x300) | FRAME_INTERRUPTED,
		       IN_ROOT);
}

static void unreadable_signal_frame_ends_the_stack(void **state)
{
	uint64_t words[21] = { 0 };

	(void)state;
	scene_set_rule(1, scene_rule(CFA_SIGNAL, CFI_RAX, 0));
	scene_set_stack(words, array_len(words));
	assert_unwinds(UNWIND_UNREADABLE_STACK, IN_FUNCTION(1));
}

static void signal_that_interrupted_no_code_ends_the_stack(void **state)
{
	uint64_t registers[NR_REGS] = { 0 };

	(void)state;
	scene_set_rule(1, scene_rule(CFA_SIGNAL, CFI_RAX, 0));
	set_signal_frame(registers, 0xffffffffff600000);
	assert_unwinds(UNWIND_BAD_RETURN_ADDRESS, IN_FUNCTION(1));
}

static void first_frame_completes_the_stack(void **state)
{
	(void)state;
	fake_state()->ip = IN_ROOT;
	assert_unwinds(UNWIND_COMPLETE, IN_ROOT);
}

static void unknown_rule_ends_the_stack(void **state)
{
	static const uint8_t kinds[] = { CFA_UNSUPPORTED, CFA_NR_KINDS, 0xff };

	(void)state;
	for (size_t i = 0; i < array_len(kinds); i++) {
		scene_begin();
		scene_set_rule(1, scene_rule(kinds[i], CFI_RSP, 8));
		scene_stack(IN_ROOT);
		assert_unwinds(UNWIND_UNSUPPORTED_RULE, IN_FUNCTION(1));
	}
}

static void set_deep_stack(size_t nr_words)
{
	static uint64_t words[2 * MAX_FRAMES];

	for (size_t i = 0; i < nr_words; i++)
		words[i] = IN_FUNCTION(1);
	words[nr_words - 1] = IN_ROOT;
	scene_set_stack(words, nr_words);
}

static void as_many_frames_as_a_record_holds_are_complete(void **state)
{
	(void)state;
	set_deep_stack(MAX_USER_FRAMES - 1);
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(fake_event()->nr_user, MAX_USER_FRAMES);
	assert_int_equal(fake_event()->frames[MAX_USER_FRAMES - 1], IN_ROOT);
}

static void one_frame_more_is_too_deep(void **state)
{
	(void)state;
	set_deep_stack(MAX_USER_FRAMES);
	assert_int_equal(scene_unwind(), UNWIND_TOO_DEEP);
	assert_int_equal(fake_event()->nr_user, MAX_USER_FRAMES);
	assert_int_equal(fake_event()->frames[MAX_USER_FRAMES - 1], IN_FUNCTION(1));
}

static void user_frames_follow_the_kernels(void **state)
{
	(void)state;
	fake_event()->nr_kernel = MAX_KERNEL_FRAMES;
	fake_event()->frames[MAX_KERNEL_FRAMES - 1] = VALUE;
	set_deep_stack(MAX_USER_FRAMES);
	assert_int_equal(scene_unwind(), UNWIND_TOO_DEEP);
	assert_int_equal(fake_event()->frames[MAX_KERNEL_FRAMES - 1], VALUE);
	assert_int_equal(fake_event()->frames[MAX_KERNEL_FRAMES], IN_FUNCTION(1));
	assert_int_equal(fake_event()->frames[MAX_KERNEL_FRAMES + MAX_USER_FRAMES - 1],
			 IN_FUNCTION(1));
}

/* glibc's __start_context(), to which the function of makecontext(3) returns. Behind it on the
 * stack is what is no return address. */
static void function_that_is_entered_by_return_was_not_called(void **state)
{
	const struct cfi_rule none = { .kind = CFA_NONE };
	const struct cfi_rule first = scene_rule(CFA_REGISTER, CFI_RSP, 8);
	const struct cfi_rule later = scene_rule(CFA_REGISTER, CFI_RSP, 16);
	const struct cfi_rule lost = scene_rule(CFA_REGISTER, CFI_R10, 8);
	const struct cfi_rule end = scene_rule(CFA_END, 0, 0);
	const uint64_t padding = 0x00000000801f0fc3; /* ret; nopl 0x0(%rax) */
	const struct {
		struct cfi_rule before, rule;
		uint64_t code; /* before; 0: cannot be read */
		int result; /* not complete: as without all this */
	} cases[] = {
		{ none, first, padding, UNWIND_COMPLETE },
		{ none, first, 0, UNWIND_COMPLETE },
		{ none, end, padding, UNWIND_COMPLETE },
		{ none, later, padding, UNWIND_BAD_FRAME_POINTER },
		{ none, first, 0x00001234e8909090, UNWIND_BAD_FRAME_POINTER }, /* call rel32 */
		{ none, first, 0xd0ff909090909090, UNWIND_BAD_FRAME_POINTER }, /* call *%rax */
		{ none, first, 0x001234158bff15ff, UNWIND_COMPLETE }, /* too long for one */
		{ none, first, 0x0000123415ff9090, UNWIND_BAD_FRAME_POINTER }, /* call *m(%rip) */
		{ none, first, 0x0000123490ff4190, UNWIND_BAD_FRAME_POINTER }, /* call *m(%r8) */
		{ none, first, 0x000012342494ff90, UNWIND_BAD_FRAME_POINTER }, /* call *m(%rsp) */
		{ lost, first, padding, UNWIND_COMPLETE },
		{ lost, later, padding, UNWIND_LOST_REGISTER },
		{ first, first, padding, UNWIND_COMPLETE },
		{ first, later, padding, UNWIND_BAD_RETURN_ADDRESS },
		{ first, first, 0, UNWIND_COMPLETE }, /* as its caller is none */
		{ later, first, padding, UNWIND_COMPLETE },
		{ later, later, padding, UNWIND_BAD_RETURN_ADDRESS },
		{ later, first, 0, UNWIND_BAD_RETURN_ADDRESS },
		{ later, first, 0x00001234e8909090, UNWIND_BAD_RETURN_ADDRESS },
		{ first, first, 0xd0ff909090909090, UNWIND_BAD_RETURN_ADDRESS },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t start = AT_FUNCTION(3);
		bool is_entered = cases[i].result == UNWIND_COMPLETE;

		scene_begin();
		scene_set_rule(2, cases[i].before);
		scene_set_rule(3, cases[i].rule);
		if (cases[i].code != 0)
			fake_add_memory(start - 8, &cases[i].code, sizeof(cases[i].code));
		fake_state()->regs[CFI_RBP] = VALUE | 1;
		fake_state()->missing = REGISTER_BIT(CFI_R10);
		scene_stack(start, 1, 1);
		assert_unwinds(cases[i].result, IN_FUNCTION(1),
			       start | (is_entered ? FRAME_ENTERED : 0));
	}
}

/* The CPU may be at a function's first instruction at any time. */
static void first_instruction_of_the_first_frame_was_called(void **state)
{
	(void)state;
	scene_set_rule(0, (struct cfi_rule){ .kind = CFA_NONE });
	fake_state()->ip = SCENE_CODE + 0x100;
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, SCENE_CODE + 0x100, IN_ROOT);
}

#define STOP_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STOP_TEST(stack_that_does_not_ascend_ends),
		STOP_TEST(cycle_of_frames_ends),
		STOP_TEST(cfa_beyond_memory_ends_the_stack),
		STOP_TEST(return_address_tells_how_a_stack_ends),
		STOP_TEST(signal_frame_restores_every_register),
		STOP_TEST(signal_may_have_come_on_another_stack_and_anywhere),
		STOP_TEST(unreadable_signal_frame_ends_the_stack),
		STOP_TEST(signal_that_interrupted_no_code_ends_the_stack),
		STOP_TEST(function_that_is_entered_by_return_was_not_called),
		STOP_TEST(first_instruction_of_the_first_frame_was_called),
		STOP_TEST(first_frame_completes_the_stack),
		STOP_TEST(unknown_rule_ends_the_stack),
		STOP_TEST(as_many_frames_as_a_record_holds_are_complete),
		STOP_TEST(one_frame_more_is_too_deep),
		STOP_TEST(user_frames_follow_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
