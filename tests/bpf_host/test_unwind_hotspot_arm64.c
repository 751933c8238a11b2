/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/hotspot_arm64.bpf.h: frames of a HotSpot JVM by the code and the registers of arm64. Steps
 * that are the same on all processors are in test_unwind_hotspot.c. */
#include "hotspot_scene.h"

#include "base/err.h"

#define BODY 0x80 /* an offset behind the prologue */

#define NOP 0xd503201fU
#define RET 0xd65f03c0U
#define BRANCH 0x14000010U
#define SUB_SP 0xd10083ffU /* sub sp, sp, #32 */
#define SUB_SP_X8 0xcb2863ffU /* sub sp, sp, x8 */
#define ADD_SP 0x910083ffU /* add sp, sp, #32 */
#define STORE_RECORD 0xa9017bfdU /* stp x29, x30, [sp, #16] */
#define LOAD_RECORD 0xa9417bfdU /* ldp x29, x30, [sp, #16] */
#define PUSH_RECORD 0xa9bf7bfdU /* stp x29, x30, [sp, #-16]! */
#define POP_RECORD 0xa8c17bfdU /* ldp x29, x30, [sp], #16 */
#define SET_INTERPRETED_FP 0x910143fdU /* add x29, sp, #80 */
#define PUSH_BREADCRUMB 0xa9bf27ffU /* stp xzr, x9, [sp, #-16]! */
#define CALL_X8 0xd63f0100U /* blr x8 */

/* As in JDK 17, but for the places in a blob. */
static const struct hotspot_layout layout = {
	.kind = RUNTIME_HOTSPOT,
	.log2_segment = LOG2_SEGMENT,
	.frame_complete_bytes = 4,
	.bcp = 9,
	.heap_block = HEAP_BLOCK,
	.name = 8,
	.code = 36,
	.frame_size = 44,
	.frame_complete = 56,
	.compile_id = 212,
	.deopt = HOTSPOT_NONE,
	.orig_pc = 208,
	.const_method = 8,
	.const_method_bytes = 56,
	.code_size = 34,
	.continuation = HOTSPOT_NONE,
	.continuation_bytes = HOTSPOT_NONE,
};

static void set_code(uint32_t blob, uint64_t offset, uint32_t code)
{
	hotspot_scene_set_code(blob, offset, &code, sizeof(code));
}

static int begin(void **state)
{
	(void)state;
	hotspot_scene_begin_with(&layout);
	return 0;
}

static void set_leaf(uint64_t address)
{
	hotspot_scene_set_leaf(address);
	fake_state()->regs[CFI_LR] = IN_FUNCTION(10);
}

static void the_record_is_at_the_upper_end_of_a_compiled_frame(void **state)
{
	(void)state;
	jvm.stack[0] = CODE(NMETHOD) + BODY;
	jvm.stack[FRAME_WORDS - 1] = STACK_WORD(30);
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(BODY - 1), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], STACK_WORD(30));
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(FRAME_WORDS + 1));
}

/* A call of a function of the JVM puts two words onto the stack. */
static void a_breadcrumb_is_stepped_over(void **state)
{
	(void)state;
	set_code(NMETHOD, BODY - 8, PUSH_BREADCRUMB);
	set_code(NMETHOD, BODY - 4, CALL_X8);
	jvm.stack[0] = CODE(NMETHOD) + BODY;
	jvm.stack[FRAME_WORDS + 2] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(BODY - 1), IN_ROOT);
}

/* The function that is the caller, and how many words of the stack the leaf has. */
struct way {
	uint32_t function, nr_words;
};

#define BARE                                                                                       \
	{                                                                                          \
		10, 0                                                                              \
	}
#define PUSHED                                                                                     \
	{                                                                                          \
		11, 2                                                                              \
	}
#define UNSAVED                                                                                    \
	{                                                                                          \
		10, FRAME_WORDS                                                                    \
	}
#define FRAME                                                                                      \
	{                                                                                          \
		12, FRAME_WORDS                                                                    \
	}

static const struct phase {
	uint32_t code[4]; /* the last one is the leaf's */
	uint32_t offset;
	struct way way;
} phases[] = {
	/* The prologue of a small frame, and that of another one. */
	{ { NOP, NOP, NOP, SUB_SP }, 0, BARE },
	{ { NOP, NOP, SUB_SP, STORE_RECORD }, 4, UNSAVED },
	{ { NOP, SUB_SP, STORE_RECORD, NOP }, 8, FRAME },
	{ { NOP, NOP, NOP, STORE_RECORD }, 4, BARE },
	{ { NOP, NOP, NOP, PUSH_RECORD }, 0, BARE },
	{ { NOP, NOP, PUSH_RECORD, NOP }, 4, PUSHED },
	{ { NOP, PUSH_RECORD, NOP, SUB_SP_X8 }, 8, PUSHED },
	{ { PUSH_RECORD, NOP, SUB_SP_X8, NOP }, 12, FRAME },
	{ { NOP, PUSH_RECORD, SUB_SP, NOP }, 8, FRAME },
	/* The body. */
	{ { NOP, NOP, NOP, NOP }, BODY, FRAME },
	{ { STORE_RECORD, PUSH_RECORD, SUB_SP, NOP }, BODY, FRAME },
	/* The epilogue. */
	{ { NOP, NOP, NOP, LOAD_RECORD }, BODY, FRAME },
	{ { NOP, NOP, LOAD_RECORD, ADD_SP }, BODY, UNSAVED },
	{ { NOP, LOAD_RECORD, ADD_SP, NOP }, BODY, BARE },
	{ { LOAD_RECORD, ADD_SP, NOP, RET }, BODY, BARE },
	{ { LOAD_RECORD, ADD_SP, RET, NOP }, BODY, FRAME },
	{ { LOAD_RECORD, ADD_SP, BRANCH, NOP }, BODY, FRAME },
	{ { NOP, NOP, ADD_SP, POP_RECORD }, BODY, PUSHED },
	{ { NOP, ADD_SP, POP_RECORD, RET }, BODY, BARE },
};

static void the_code_at_the_leaf_tells_how_much_of_a_frame_is_there(void **state)
{
	for (size_t i = 0; i < array_len(phases); i++) {
		const struct phase *phase = &phases[i];

		begin(state);
		for (uint32_t word = 0; word < 4; word++)
			set_code(NMETHOD, phase->offset + 4ULL * word - 12, phase->code[word]);
		set_leaf(CODE(NMETHOD) + phase->offset);
		jvm.stack[1] = IN_FUNCTION(11);
		jvm.stack[FRAME_WORDS - 1] = IN_FUNCTION(12);
		assert_java(UNWIND_COMPLETE, IN_NMETHOD(phase->offset),
			    IN_FUNCTION(phase->way.function));
		assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(phase->way.nr_words));
	}
}

/* Puts a frame of the interpreter at FP_WORD. */
static void put_interpreted(uint64_t bci, uint64_t sender_sp, uint64_t returns_to)
{
	jvm.stack[FP_WORD - 9] = CONST_METHOD + layout.const_method_bytes + bci;
	jvm.stack[FP_WORD - 3] = METHOD;
	jvm.stack[FP_WORD - 1] = sender_sp;
	jvm.stack[FP_WORD] = STACK_WORD(30);
	jvm.stack[FP_WORD + 1] = returns_to;
}

static void an_interpreted_frame_tells_method_and_bytecode(void **state)
{
	(void)state;
	jvm.stack[0] = CODE(INTERPRETER) + BODY;
	fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
	put_interpreted(7, STACK_WORD(20), CODE(NMETHOD) + BODY);
	jvm.stack[20 + FRAME_WORDS - 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(7), IN_NMETHOD(BODY - 1), IN_ROOT);
}

static void the_bytecode_of_the_leaf_is_in_x22(void **state)
{
	(void)state;
	set_leaf(CODE(INTERPRETER) + BODY);
	put_interpreted(7, 0, IN_ROOT);
	fake_state()->regs[CFI_X0 + 22] = CONST_METHOD + layout.const_method_bytes + 5;
	assert_java(UNWIND_COMPLETE, INTERPRETED(5), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(FP_WORD + 2));
}

/* From JDK 20 on, the stack pointer of the caller is in x19. */
static void an_interpreted_frame_that_is_being_made_is_known(void **state)
{
	static const unsigned int registers[] = { CFI_X0 + 13, CFI_X0 + 19 };

	for (size_t i = 0; i < array_len(registers); i++) {
		begin(state);
		set_leaf(CODE(INTERPRETER) + BODY);
		set_code(INTERPRETER, BODY + 8, SET_INTERPRETED_FP);
		fake_state()->regs[CFI_X0 + 12] = METHOD;
		fake_state()->regs[registers[i]] = STACK_WORD(4);
		assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_FUNCTION(10));
		assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(4));
	}
}

static void an_interpreted_frame_that_was_taken_down_is_known(void **state)
{
	(void)state;
	set_leaf(CODE(INTERPRETER) + BODY);
	set_code(INTERPRETER, BODY - 4, POP_RECORD);
	fake_state()->regs[CFI_X0 + 12] = METHOD;
	fake_state()->regs[CFI_X0 + 20] = STACK_WORD(6);
	assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_FUNCTION(10));
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(6));
}

static void the_call_stub_has_a_frame_record(void **state)
{
	(void)state;
	jvm.stack[0] = CALL_STUB;
	fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
	jvm.stack[FP_WORD] = STACK_WORD(30);
	jvm.stack[FP_WORD + 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(STUBS, 0, 0x2f), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_FP], STACK_WORD(30));
}

static void stubs_have_a_frame_record_or_a_return_address_in_lr(void **state)
{
	set_leaf(CODE(STUBS) + BODY);
	jvm.stack[FP_WORD + 1] = IN_FUNCTION(10);
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, BODY), IN_FUNCTION(10));
	assert_int_equal(fake_state()->regs[CFI_SP], STACK_WORD(FP_WORD + 2));
	begin(state);
	set_leaf(CODE(STUBS) + BODY);
	fake_state()->regs[CFI_LR] = CODE(NMETHOD) + BODY;
	jvm.stack[FRAME_WORDS - 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, BODY), IN_NMETHOD(BODY - 1), IN_ROOT);
}

static void forged_sizes_leave_the_frame_pointer(void **state)
{
	static const uint32_t sizes[] = { (1U << 20) + 1, 1U << 31, UINT32_MAX };

	for (size_t i = 0; i < array_len(sizes); i++) {
		begin(state);
		hotspot_scene_set_u32(NMETHOD, layout.frame_size, sizes[i]);
		jvm.stack[0] = CODE(NMETHOD) + BODY;
		fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
		jvm.stack[FP_WORD + 1] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(BODY - 1), IN_ROOT);
	}
}

static void methods_that_are_none_leave_the_frame_pointer(void **state)
{
	static const uint64_t methods[] = { 0, 0x1234, UINT64_MAX };

	for (size_t i = 0; i < array_len(methods); i++) {
		begin(state);
		jvm.stack[0] = CODE(INTERPRETER) + BODY;
		fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
		put_interpreted(1, 0, IN_ROOT);
		jvm.stack[FP_WORD - 3] = methods[i];
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(INTERPRETER) + BODY, IN_ROOT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_record_is_at_the_upper_end_of_a_compiled_frame, begin),
		cmocka_unit_test_setup(a_breadcrumb_is_stepped_over, begin),
		cmocka_unit_test(the_code_at_the_leaf_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test_setup(an_interpreted_frame_tells_method_and_bytecode, begin),
		cmocka_unit_test_setup(the_bytecode_of_the_leaf_is_in_x22, begin),
		cmocka_unit_test(an_interpreted_frame_that_is_being_made_is_known),
		cmocka_unit_test_setup(an_interpreted_frame_that_was_taken_down_is_known, begin),
		cmocka_unit_test_setup(the_call_stub_has_a_frame_record, begin),
		cmocka_unit_test_setup(stubs_have_a_frame_record_or_a_return_address_in_lr, begin),
		cmocka_unit_test(forged_sizes_leave_the_frame_pointer),
		cmocka_unit_test(methods_that_are_none_leave_the_frame_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
