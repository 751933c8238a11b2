/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a HotSpot JVM among native ones: stubs. */
#include "hotspot_scene.h"

#include "base/err.h"

#include <string.h>

static void begin_in_stub(uint32_t blob)
{
	hotspot_scene_begin();
	hotspot_scene_set_leaf(CODE(blob) + 0x80);
}

static void stubs_have_a_return_address_or_a_frame_record(void **state)
{
	static const struct {
		uint32_t blob;
		uint64_t frame_pointer;
		uint64_t top; /* of the stack */
		unsigned int word; /* with the return address */
	} cases[] = {
		{ STUBS, STACK_WORD(FP_WORD), 0, 0 },
		{ STUBS, STACK_WORD(FP_WORD), 0, FP_WORD + 1 },
		{ STUBS, 1, 0, 3 }, /* behind pushes, without a record */
		{ RUNTIME_STUB, STACK_WORD(FP_WORD), 0, 0 }, /* it took its frame down */
		{ RUNTIME_STUB, 1, CODE(NMETHOD) + 0x50, FRAME_WORDS - 1 },
		{ PUSHING_STUB, STACK_WORD(FP_WORD), 0x1234, FP_WORD + 1 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		begin_in_stub(cases[i].blob);
		fake_state()->regs[CFI_RBP] = cases[i].frame_pointer;
		jvm.stack[0] = cases[i].top;
		jvm.stack[cases[i].word] = CODE(NMETHOD) + 0x40;
		jvm.stack[cases[i].word + FRAME_WORDS] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, COMPILED(cases[i].blob, 0, 0x80), IN_NMETHOD(0x3f),
			    IN_ROOT);
	}
}

/* Such as the one that flushes the caches of code. Below its return address may be anything. */
static void a_stub_may_be_called_by_native_code(void **state)
{
	static const uint8_t call[8] = { 0, 0, 0, 0xe8 };
	(void)state;

	begin_in_stub(STUBS);
	fake_add_memory(IN_ROOT - sizeof(call), call, sizeof(call));
	jvm.stack[0] = IN_ROOT;
	jvm.stack[1] = CODE(NMETHOD) + 0x40;
	jvm.stack[FP_WORD + 1] = CODE(NMETHOD) + 0x40;
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, 0x80), IN_ROOT);
}

/* The compiler C1 has stubs whose size is -1. What they call may find the stack aligned. Some make
 * a frame record. */
static void a_stub_without_a_frame_has_its_return_address_on_top(void **state)
{
	static const unsigned int words[] = { 1, 2, FP_WORD + 1 };
	(void)state;

	for (size_t i = 0; i < array_len(words); i++) {
		hotspot_scene_begin();
		fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
		jvm.stack[0] = CODE(BARE_STUB) + 0x40;
		jvm.stack[words[i]] = CODE(NMETHOD) + 0x40;
		jvm.stack[words[i] + FRAME_WORDS] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(BARE_STUB, 0, 0x3f),
			    IN_NMETHOD(0x3f), IN_ROOT);
	}
}

static void the_entry_barrier_has_a_cookie_in_its_frame(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CODE(STUBS) + 0x80;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	jvm.stack[FP_WORD + 1] = UINT64_MAX;
	jvm.stack[FP_WORD + 2] = CODE(NMETHOD) + 0x40;
	jvm.stack[FP_WORD + 2 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(STUBS, 0, 0x7f), IN_NMETHOD(0x3f),
		    IN_ROOT);
}

static void the_call_stub_gives_the_native_caller_its_registers(void **state)
{
	(void)state;
	hotspot_scene_begin();
	jvm.stack[0] = CALL_STUB;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	for (int i = 1; i < FP_WORD; i++)
		jvm.stack[i] = 0x1000 + (uint64_t)i;
	jvm.stack[FP_WORD] = 0x2000;
	jvm.stack[FP_WORD + 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(STUBS, 0, 0x2f), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], 0x2000);
	assert_int_equal(fake_state()->regs[CFI_RBX], 0x1000 + FP_WORD - 7);
	assert_int_equal(fake_state()->regs[CFI_R12], 0x1000 + FP_WORD - 8);
	assert_int_equal(fake_state()->regs[CFI_R15], 0x1000 + FP_WORD - 11);
	assert_true(scene_knows(CFI_RBX) && scene_knows(CFI_R15));
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(FP_WORD + 2));
}

/* The carrier's frames begin at the thread's continuation entry. */
static void a_virtual_thread_goes_on_in_its_carrier(void **state)
{
	uint8_t thread[2048] = { 0 };
	const uint64_t entry = STACK_WORD(8);
	(void)state;

	hotspot_scene_begin();
	memcpy(thread + layout_25.continuation, &entry, sizeof(entry));
	fake_add_memory(THREAD, thread, sizeof(thread));
	fake_state()->regs[CFI_R15] = THREAD;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	jvm.stack[17] = CODE(NMETHOD) + 0x40;
	jvm.stack[17 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION), IN_NMETHOD(0x3f), IN_ROOT);
	hotspot_scene_begin();
	fake_add_memory(THREAD, thread, sizeof(thread));
	fake_state()->regs[CFI_R15] = THREAD;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	jvm.stack[17] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION));
	hotspot_scene_begin();
	jvm.layout.continuation = HOTSPOT_NONE;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stubs_have_a_return_address_or_a_frame_record),
		cmocka_unit_test(a_stub_may_be_called_by_native_code),
		cmocka_unit_test(a_stub_without_a_frame_has_its_return_address_on_top),
		cmocka_unit_test(the_entry_barrier_has_a_cookie_in_its_frame),
		cmocka_unit_test(the_call_stub_gives_the_native_caller_its_registers),
		cmocka_unit_test(a_virtual_thread_goes_on_in_its_carrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
