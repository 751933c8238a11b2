/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a V8 with compressed pointers. The heap is made by hand, as is the trusted cage, which
 * has bytecode and what belongs to code; the isolate has its address. */
#include "bpf/shared/runtime.h"
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define BUILTIN 20 /* a function of the scene */

#define HEAP 0x3a0000000000ULL
#define TRUSTED 0x3b0000000000ULL
#define ISOLATE 0x3c0000001080ULL
#define OBJECT_WORDS 16
#define WORD_BYTES sizeof(uint32_t)
#define OBJECT(i) (HEAP + WORD_BYTES * OBJECT_WORDS * (i) + V8_OBJECT_TAG)

enum { MAP, SHARED, FUNCTION, CONTEXT, NR_OBJECTS };

#define ARRAY (TRUSTED + 0x40 + V8_OBJECT_TAG)
#define NR_BYTECODES 20
#define CAGE_OFFSET 24 /* in the isolate */
#define CHECK_BYTES 0x0003000200010004ULL
#define CHECK_NUMBERS 0x0000002a00000000ULL

#define FP_WORD 12 /* of the stack, to which the frame pointer points */
#define CODE (SCENE_JIT + 0x40)

#define CHECK runtime_check(v8_check_bytes(CHECK_BYTES, CHECK_NUMBERS))
#define COMPILED(half) RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, CHECK, half), CODE, OBJECT(SHARED)
#define INTERPRETED(offset, array)                                                                 \
	RUNTIME_TAG(RUNTIME_FRAME_V8_ARRAY, CHECK, offset), (array), OBJECT(SHARED)

static struct {
	struct v8_layout layout;
	uint32_t heap[NR_OBJECTS][OBJECT_WORDS];
	uint32_t trusted[64];
	uint64_t isolate[8];
	uint8_t code[256];
	uint64_t stack[32];
} process;

/* As in V8 14.4. */
static const struct v8_layout layout_14 = {
	.kind = RUNTIME_V8,
	.is_compressed = 1,
	.map_type = 8,
	.function_shared = 16,
	.shared_type = V8_UNKNOWN_TYPE,
	.bytecode_type = V8_UNKNOWN_TYPE,
	.shared_check = 24,
	.bytecode_length = 8,
	.trusted_cage = CAGE_OFFSET,
	.builtins_start = SCENE_FILE_OFFSET + 0x100 * BUILTIN,
	.builtins_end = SCENE_FILE_OFFSET + 0x100 * (BUILTIN + 1),
};

static void make_heap(void)
{
	const uint64_t check[] = { CHECK_BYTES, CHECK_NUMBERS };

	process.heap[SHARED][0] = (uint32_t)OBJECT(MAP);
	memcpy(&process.heap[SHARED][6], check, sizeof(check));
	process.heap[FUNCTION][0] = (uint32_t)OBJECT(MAP);
	process.heap[FUNCTION][4] = (uint32_t)OBJECT(SHARED);
	process.trusted[16] = (uint32_t)OBJECT(MAP);
	process.trusted[18] = NR_BYTECODES << 1;
	process.isolate[CAGE_OFFSET / sizeof(uint64_t)] = TRUSTED;
}

static int begin(void **state)
{
	(void)state;
	scene_begin();
	memset(&process, 0, sizeof(process));
	process.layout = layout_14;
	make_heap();
	scene_set_rule(BUILTIN, scene_rule(CFA_NONE, 0, 0));
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	fake_state()->regs[CFI_R13] = ISOLATE;
	process.stack[FP_WORD - 2] = OBJECT(FUNCTION);
	process.stack[FP_WORD - 1] = OBJECT(CONTEXT);
	process.stack[FP_WORD] = STACK_WORD(30);
	process.stack[FP_WORD + 1] = IN_ROOT;
	return 0;
}

static void put_memory(void)
{
	fake_add_memory(HEAP, process.heap, sizeof(process.heap));
	fake_add_memory(TRUSTED, process.trusted, sizeof(process.trusted));
	fake_add_memory(ISOLATE, process.isolate, sizeof(process.isolate));
	fake_add_memory(SCENE_JIT, process.code, sizeof(process.code));
	scene_set_stack(process.stack, array_len(process.stack));
	scene_put_v8(&process.layout, SCENE_SLOT);
}

#define assert_v8(result, ...)                                                                     \
	do {                                                                                       \
		put_memory();                                                                      \
		assert_unwinds(result, __VA_ARGS__);                                               \
	} while (0)

static void put_interpreted(uint64_t array, uint64_t offset)
{
	process.stack[0] = IN_FUNCTION(BUILTIN);
	process.stack[FP_WORD - 4] = array;
	process.stack[FP_WORD - 5] = offset << 1;
}

static void an_interpreted_frame_has_its_bytecode_and_its_function(void **state)
{
	(void)state;
	put_interpreted(ARRAY, 57);
	assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57, ARRAY), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], STACK_WORD(30));
}

static void bytecode_may_be_in_the_cage_of_the_heap(void **state)
{
	(void)state;
	process.layout.trusted_cage = 0;
	process.layout.bytecode_length = 4;
	process.heap[CONTEXT][1] = NR_BYTECODES << 1;
	put_interpreted(OBJECT(CONTEXT), 57);
	assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57, OBJECT(CONTEXT)), IN_ROOT);
}

static void the_bytecode_of_the_leaf_is_in_a_register(void **state)
{
	(void)state;
	fake_state()->ip = IN_FUNCTION(BUILTIN);
	fake_state()->regs[CFI_R9] = 60;
	fake_state()->regs[CFI_R12] = ARRAY;
	put_interpreted(ARRAY, 57);
	assert_v8(UNWIND_COMPLETE, INTERPRETED(60, ARRAY), IN_ROOT);
}

/* The word of the offset, and the array. */
static void other_frames_of_builtins_are_addresses(void **state)
{
	static const struct {
		uint64_t offset;
		uint64_t array;
	} others[] = {
		{ 57 << 1 | 1, ARRAY },	 { 0, ARRAY },
		{ 57ULL << 32, ARRAY },	 { 31 << 1, ARRAY },
		{ 84 << 1, ARRAY },	 { 57 << 1, ARRAY - 1 },
		{ 57 << 1, 0 },		 { 57 << 1, OBJECT(SHARED) },
		{ 57 << 1, UINT64_MAX },
	};

	for (size_t i = 0; i < array_len(others); i++) {
		begin(state);
		put_interpreted(others[i].array, 0);
		process.stack[FP_WORD - 5] = others[i].offset;
		assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
	}
}

static void compiled_code_has_the_cage_by_the_root_register(void **state)
{
	(void)state;
	process.stack[0] = CODE;
	assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(TRUSTED >> 32), IN_ROOT);
}

/* The register is the same in the caller of a frame of V8. */
static void the_root_register_is_that_of_callers_too(void **state)
{
	(void)state;
	put_interpreted(ARRAY, 57);
	process.stack[FP_WORD] = STACK_WORD(FP_WORD + 8);
	process.stack[FP_WORD + 1] = CODE;
	process.stack[FP_WORD + 6] = OBJECT(FUNCTION);
	process.stack[FP_WORD + 7] = OBJECT(CONTEXT);
	process.stack[FP_WORD + 8] = STACK_WORD(30);
	process.stack[FP_WORD + 9] = IN_ROOT;
	assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57, ARRAY), COMPILED(TRUSTED >> 32),
		  IN_ROOT);
}

static void code_without_a_cage_has_none(void **state)
{
	/* The root register, the word of the isolate, and its offset. */
	static const struct {
		uint64_t root;
		uint64_t word;
		uint16_t offset;
	} others[] = {
		{ ISOLATE, TRUSTED + 8, CAGE_OFFSET },
		{ ISOLATE, 0, CAGE_OFFSET },
		{ 0, TRUSTED, CAGE_OFFSET },
		{ ISOLATE, TRUSTED, 0 },
		{ ISOLATE, TRUSTED, 4096 },
	};

	for (size_t i = 0; i < array_len(others); i++) {
		begin(state);
		fake_state()->regs[CFI_R13] = others[i].root;
		process.isolate[CAGE_OFFSET / sizeof(uint64_t)] = others[i].word;
		process.layout.trusted_cage = others[i].offset;
		process.stack[0] = CODE;
		assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(0), IN_ROOT);
	}
}

/* A word of the heap that is not what it must be: the frame has no name, but a caller. */
static void objects_that_are_none_cost_no_caller(void **state)
{
	static const struct {
		uint32_t object;
		uint32_t word;
		uint32_t value;
	} damages[] = {
		{ FUNCTION, 4, 0 },
		{ FUNCTION, 4, (uint32_t)OBJECT(SHARED) - V8_OBJECT_TAG },
		{ FUNCTION, 4, UINT32_MAX },
		{ SHARED, 0, UINT32_MAX },
	};

	for (size_t i = 0; i < array_len(damages); i++) {
		begin(state);
		process.heap[damages[i].object][damages[i].word] = damages[i].value;
		process.stack[0] = CODE;
		assert_v8(UNWIND_COMPLETE, IN_FUNCTION(1), CODE, IN_ROOT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_interpreted_frame_has_its_bytecode_and_its_function,
				       begin),
		cmocka_unit_test_setup(bytecode_may_be_in_the_cage_of_the_heap, begin),
		cmocka_unit_test_setup(the_bytecode_of_the_leaf_is_in_a_register, begin),
		cmocka_unit_test_setup(other_frames_of_builtins_are_addresses, begin),
		cmocka_unit_test_setup(compiled_code_has_the_cage_by_the_root_register, begin),
		cmocka_unit_test_setup(the_root_register_is_that_of_callers_too, begin),
		cmocka_unit_test_setup(code_without_a_cage_has_none, begin),
		cmocka_unit_test_setup(objects_that_are_none_cost_no_caller, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
