/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a HotSpot JVM among native ones: compiled and interpreted methods. */
#include "hotspot_scene.h"

#include "base/err.h"

#include <string.h>

static void a_compiled_frame_has_a_fixed_size(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
	hotspot_scene_begin();
	jvm.stack[0] = CODE(RUNTIME_STUB) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(RUNTIME_STUB, 0, 0x3f), IN_ROOT);
}

static void blobs_told_by_pointers_are_those_of_older_versions(void **state)
{
	const uint64_t code = CODE(NMETHOD);
	(void)state;

	hotspot_scene_begin();
	jvm.layout.is_code_pointer = true;
	jvm.layout.code = 64;
	jvm.layout.frame_complete_bytes = 4;
	jvm.layout.frame_complete = 56;
	memcpy(jvm.code_cache + HEAP_BLOCK + jvm.layout.code, &code, sizeof(code));
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
}

/* The places where the return address of the leaf is, by its code. */
struct phase {
	uint8_t before[8];
	uint8_t at[16];
	uint32_t offset;
	uint32_t word; /* of the stack */
};

#define BARE 0
#define PUSHED 1
#define FRAME (FRAME_WORDS - 1)

static const struct phase phases[] = {
	/* The prologue: stack bang, push, sub; or sub, mov. */
	{ { 0x90 }, { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55 }, 0, BARE },
	{ { 0, 0, 0, 0, 0x00, 0xc0, 0xfe, 0xff }, { 0x55, 0x48, 0x83, 0xec, 0x10 }, 7, BARE },
	{ { 0, 0, 0, 0, 0, 0xfe, 0xff, 0x55 }, { 0x48, 0x83, 0xec, 0x10 }, 8, PUSHED },
	{ { 0, 0, 0, 0, 0x55, 0x48, 0x8b, 0xec }, { 0x48, 0x83, 0xec, 0x10 }, 11, PUSHED },
	{ { 0, 0, 0, 0x55, 0x48, 0x83, 0xec, 0x10 }, { 0x90 }, 12, FRAME },
	{ { 0x55, 0x48, 0x81, 0xec, 0, 1, 0, 0 }, { 0x90 }, 15, FRAME },
	{ { 0, 0x48, 0x81, 0xec, 0x10, 0, 0, 0 }, { 0x48, 0x89, 0x6c, 0x24, 0x08 }, 7, FRAME },
	{ { 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x08 }, { 0x90 }, 12, FRAME },
	{ { 0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0 }, { 0x0f, 0x85, 0, 0, 0, 0 }, 24, FRAME },
	/* The body. */
	{ { 0x90 }, { 0x90 }, 0x40, FRAME },
	{ { 0x55 }, { 0x90 }, 0x40, FRAME },
	{ { 0x48, 0x83, 0xec, 0x10 }, { 0x90 }, 0x40, FRAME },
	/* The epilogue: add, pop, poll, ret. */
	{ { 0x90 }, { 0x48, 0x83, 0xc4, 0x10, 0x5d }, 0x40, FRAME },
	{ { 0x48, 0x83, 0xc4, 0x10 }, { 0x5d, 0xc3 }, 0x44, PUSHED },
	{ { 0x5d }, { 0xc3 }, 0x45, BARE },
	{ { 0x5d }, { 0xc2, 0x10, 0x00 }, 0x45, BARE },
	{ { 0x5d }, { 0x49, 0x3b, 0xa7, 0x48, 3, 0, 0, 0x0f, 0x87 }, 0x45, BARE },
	{ { 0x5d, 0x49, 0x3b, 0xa7, 0x48, 3, 0, 0 }, { 0x0f, 0x87, 0, 0, 0, 0, 0xc3 }, 0x4c, BARE },
	{ { 0x5d }, { 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87 }, 0x45, BARE },
	{ { 0, 0, 0, 0x5d, 0x49, 0x3b, 0x67, 0x28 }, { 0x0f, 0x87, 0, 0, 0, 0 }, 0x49, BARE },
	{ { 0x90 }, { 0x0f, 0x87, 0, 0, 0, 0, 0xc3 }, 0x49, FRAME },
	{ { 0x5d }, { 0x85, 0x05, 1, 2, 3, 4, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x85, 0x05, 1, 2, 3, 4, 0x90 }, 0x45, FRAME },
	{ { 0x5d }, { 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0x90 }, 0x45, FRAME },
	{ { 0x90 }, { 0x41, 0x85, 0x02, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x41, 0x85, 0x02, 0x90 }, 0x45, FRAME },
};

static void the_code_at_the_leaf_tells_how_much_of_a_frame_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(phases); i++) {
		const struct phase *phase = &phases[i];

		hotspot_scene_begin();
		hotspot_scene_set_code(NMETHOD, phase->offset - 8ULL, phase->before,
				       sizeof(phase->before));
		hotspot_scene_set_code(NMETHOD, phase->offset, phase->at, sizeof(phase->at));
		hotspot_scene_set_leaf(CODE(NMETHOD) + phase->offset);
		for (uint32_t word = 0; word < FRAME_WORDS; word++)
			jvm.stack[word] = IN_FUNCTION(10 + word);
		assert_java(UNWIND_COMPLETE, IN_NMETHOD(phase->offset),
			    IN_FUNCTION(10 + phase->word));
	}
}

/* Native methods of method handles never have a frame. */
/* As intrinsics of strings do it. What is not in a code cache is no return address. */
static void registers_that_compiled_code_pushed_are_skipped(void **state)
{
	static const unsigned int pushed[] = { 0, 1, 4, 11 };
	(void)state;

	for (size_t i = 0; i < array_len(pushed); i++) {
		unsigned int word = FRAME_WORDS - 1 + pushed[i];

		hotspot_scene_begin();
		hotspot_scene_set_leaf(CODE(NMETHOD) + 0x80);
		jvm.stack[word] = CODE(RUNTIME_STUB) + 0x40;
		jvm.stack[word + FRAME_WORDS] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, IN_NMETHOD(0x80), COMPILED(RUNTIME_STUB, 0, 0x3f),
			    IN_ROOT);
	}
}

/* Above the registers that were pushed may be any return address of before. */
static void a_pushed_stack_pointer_leads_to_the_frame(void **state)
{
	(void)state;
	for (unsigned int pushed = 3; pushed < 8; pushed++) {
		unsigned int word = pushed + FRAME_WORDS - 1;

		hotspot_scene_begin();
		hotspot_scene_set_leaf(CODE(NMETHOD) + 0x80);
		jvm.stack[word - 1] = CODE(RUNTIME_STUB) + 0x50;
		jvm.stack[2] = STACK_WORD(pushed);
		jvm.stack[word] = CODE(RUNTIME_STUB) + 0x40;
		jvm.stack[word + FRAME_WORDS] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, IN_NMETHOD(0x80), COMPILED(RUNTIME_STUB, 0, 0x3f),
			    IN_ROOT);
	}
}

static void a_frame_that_is_never_complete_has_its_return_address_on_top(void **state)
{
	(void)state;
	hotspot_scene_begin();
	hotspot_scene_make_blob(NMETHOD + 5, "native nmethod", 0);
	hotspot_scene_set_u32(NMETHOD + 5, layout_25.frame_complete - 2, 0xffff0000);
	hotspot_scene_set_leaf(CODE(NMETHOD + 5) + 0x80);
	jvm.stack[0] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(NMETHOD + 5, 0, 0x80), IN_ROOT);
}

static void deoptimized_code_goes_on_where_it_was(void **state)
{
	(void)state;
	hotspot_scene_begin();
	hotspot_scene_set_u32(NMETHOD, layout_25.deopt, CODE_OFFSET + 0x80);
	hotspot_scene_set_u32(NMETHOD, layout_25.orig_pc, 8);
	jvm.stack[0] = CODE(NMETHOD) + 0x80;
	jvm.stack[2] = CODE(NMETHOD) + 0x50;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x4f), IN_ROOT);
	hotspot_scene_begin();
	hotspot_scene_set_u32(NMETHOD, layout_25.deopt, CODE_OFFSET + 0x80);
	hotspot_scene_set_u32(NMETHOD, layout_25.orig_pc, 8);
	jvm.stack[0] = CODE(NMETHOD) + 0x80;
	jvm.stack[2] = 0x1234;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x7f), IN_ROOT);
}

/* Puts a frame of the interpreter at FP_WORD. */
static void put_interpreted(uint64_t bci, uint64_t sender_sp, uint64_t returns_to)
{
	jvm.stack[FP_WORD - 8] = CONST_METHOD + layout_25.const_method_bytes + bci;
	jvm.stack[FP_WORD - 3] = METHOD;
	jvm.stack[FP_WORD - 1] = sender_sp;
	jvm.stack[FP_WORD] = STACK_WORD(30);
	jvm.stack[FP_WORD + 1] = returns_to;
}

static void an_interpreted_frame_tells_method_and_bytecode(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(7), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], STACK_WORD(30));
}

static void the_bytecode_of_the_leaf_is_in_a_register(void **state)
{
	(void)state;
	hotspot_scene_begin();
	hotspot_scene_set_leaf(CODE(INTERPRETER) + 0x40);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	fake_state()->regs[CFI_R13] = CONST_METHOD + layout_25.const_method_bytes + 5;
	assert_java(UNWIND_COMPLETE, INTERPRETED(5), IN_ROOT);
	hotspot_scene_begin();
	hotspot_scene_set_leaf(CODE(INTERPRETER) + 0x40);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	fake_state()->regs[CFI_R13] = CONST_METHOD + layout_25.const_method_bytes + BYTECODES;
	assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_ROOT);
}

static void a_compiled_caller_is_where_the_interpreted_frame_says(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(1, STACK_WORD(20), CODE(NMETHOD) + 0x40);
	jvm.stack[20 + FRAME_WORDS - 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(1), IN_NMETHOD(0x3f), IN_ROOT);
}

static void an_interpreted_frame_that_is_being_made_is_known(void **state)
{
	(void)state;
	/* Before the frame record: the return address is on top of the stack, or in rax. */
	for (int is_on_stack = 0; is_on_stack < 2; is_on_stack++) {
		hotspot_scene_begin();
		hotspot_scene_set_leaf(CODE(INTERPRETER) + 0x80);
		fake_state()->regs[CFI_RBX] = METHOD;
		fake_state()->regs[CFI_R13] = STACK_WORD(4);
		if (is_on_stack)
			jvm.stack[0] = CODE(NMETHOD) + 0x40;
		else
			fake_state()->regs[CFI_RAX] = CODE(NMETHOD) + 0x40;
		jvm.stack[4 + FRAME_WORDS - 1] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_NMETHOD(0x3f), IN_ROOT);
	}
	/* Behind it. */
	hotspot_scene_begin();
	fake_state()->ip = CODE(INTERPRETER) + 0x90;
	fake_state()->regs[CFI_RBX] = METHOD;
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	fake_state()->regs[CFI_R13] = STACK_WORD(4);
	jvm.stack[1] = CODE(NMETHOD) + 0x40;
	jvm.stack[4 + FRAME_WORDS - 1] = IN_ROOT;
	fake_add_memory(SCENE_STACK - 128, (uint64_t[16]){ 0 }, 128);
	assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_NMETHOD(0x3f), IN_ROOT);
}

/* Sets a frame record that leads from there to the root. */
static void set_record(void)
{
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	jvm.stack[FP_WORD + 1] = IN_ROOT;
}

static void the_frame_pointer_leads_out_of_what_is_damaged(void **state)
{
	static const struct {
		uint32_t segment; /* of the map */
		uint8_t distance;
	} damages[] = { { 1, 0xff }, { 1, 2 }, { 1, 0xfe } };
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		hotspot_scene_begin();
		jvm.segment_map[damages[i].segment] = damages[i].distance;
		jvm.segment_map[0] = 0;
		jvm.segment_map[2] = 1;
		jvm.stack[0] = CODE(NMETHOD) + 0x10;
		set_record();
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(NMETHOD) + 0x10, IN_ROOT);
	}
}

static void a_long_way_in_the_segment_map_ends(void **state)
{
	(void)state;
	hotspot_scene_begin();
	for (uint32_t i = 1; i < sizeof(jvm.segment_map); i++)
		jvm.segment_map[i] = 1;
	jvm.stack[0] = CODE(8) + 0x10;
	set_record();
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(8) + 0x10, IN_ROOT);
}

static void forged_frames_end_the_stack(void **state)
{
	static const uint32_t sizes[] = { 1U << 21, UINT32_MAX, 1U << 31 };
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		hotspot_scene_begin();
		hotspot_scene_set_u32(NMETHOD, layout_25.frame_size, sizes[i]);
		jvm.stack[0] = CODE(NMETHOD) + 0x40;
		set_record();
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
	}
	hotspot_scene_begin();
	hotspot_scene_set_u32(NMETHOD, layout_25.frame_size, 1U << 20);
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	fake_state()->regs[CFI_RBP] = 0;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f));
}

static void methods_that_are_none_leave_the_frame_pointer(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(1, STACK_WORD(FP_WORD + 2), IN_ROOT);
	jvm.stack[FP_WORD - 3] = 0x1234;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(INTERPRETER) + 0x40, IN_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compiled_frame_has_a_fixed_size),
		cmocka_unit_test(blobs_told_by_pointers_are_those_of_older_versions),
		cmocka_unit_test(the_code_at_the_leaf_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test(registers_that_compiled_code_pushed_are_skipped),
		cmocka_unit_test(a_pushed_stack_pointer_leads_to_the_frame),
		cmocka_unit_test(a_frame_that_is_never_complete_has_its_return_address_on_top),
		cmocka_unit_test(deoptimized_code_goes_on_where_it_was),
		cmocka_unit_test(an_interpreted_frame_tells_method_and_bytecode),
		cmocka_unit_test(the_bytecode_of_the_leaf_is_in_a_register),
		cmocka_unit_test(a_compiled_caller_is_where_the_interpreted_frame_says),
		cmocka_unit_test(an_interpreted_frame_that_is_being_made_is_known),
		cmocka_unit_test(the_frame_pointer_leads_out_of_what_is_damaged),
		cmocka_unit_test(a_long_way_in_the_segment_map_ends),
		cmocka_unit_test(forged_frames_end_the_stack),
		cmocka_unit_test(methods_that_are_none_leave_the_frame_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
