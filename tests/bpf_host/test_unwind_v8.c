/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of V8 among native ones, with a heap made by hand. Compiled code is in SCENE_JIT; the
 * functions from BUILTIN on are builtins: the interpreter, entries from C++ and others. */
#include "bpf/shared/runtime.h"
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define BUILTIN 20 /* functions of the scene */
#define BUILTIN_WITH_RULE 21
#define BUILTINS_END 22

#define HEAP 0x3a0000000000ULL
#define OBJECT_WORDS 8
#define OBJECT(i) (HEAP + 8ULL * OBJECT_WORDS * (i) + V8_OBJECT_TAG)

enum {
	MAP_OF_SHARED,
	MAP_OF_BYTECODES,
	MAP_OF_OTHERS,
	SHARED,
	FUNCTION,
	BYTECODES,
	CONTEXT,
	NR_OBJECTS,
};

#define TYPE_SHARED 262
#define TYPE_BYTECODES 191
#define NR_BYTECODES 20ULL
#define CHECK_BYTES 0x0003000200010004ULL
#define CHECK_NUMBERS 0x0000002a00000000ULL

#define TOP_WORD 3 /* of the stack, where some tests put its top */
#define FP_WORD 12 /* of the stack, to which frame pointers of tests point */
#define CALLER_FP STACK_WORD(30)
#define CODE (SCENE_JIT + 0x40)

#define CHECK runtime_check(v8_check_bytes(CHECK_BYTES, CHECK_NUMBERS))
#define COMPILED(address) RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, CHECK, 0), (address), OBJECT(SHARED)
#define INTERPRETED(offset) RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, CHECK, offset), OBJECT(SHARED)

/* As in Node 20. */
static const struct v8_layout layout_20 = {
	.kind = RUNTIME_V8,
	.map_type = 16,
	.function_shared = 24,
	.shared_type = TYPE_SHARED,
	.bytecode_type = TYPE_BYTECODES,
	.shared_check = 40,
	.bytecode_length = 8,
	.builtins_start = SCENE_FILE_OFFSET + 0x100 * BUILTIN,
	.builtins_end = SCENE_FILE_OFFSET + 0x100 * BUILTINS_END,
};

struct process {
	struct v8_layout layout;
	uint32_t slot; /* of the file with V8 */
	uint64_t heap[NR_OBJECTS][OBJECT_WORDS];
	uint8_t code[256];
	uint64_t stack[32];
};

static struct process process;

static void make_heap(void)
{
	process.heap[MAP_OF_SHARED][2] = TYPE_SHARED;
	process.heap[MAP_OF_BYTECODES][2] = TYPE_BYTECODES;
	process.heap[SHARED][0] = OBJECT(MAP_OF_SHARED);
	process.heap[SHARED][5] = CHECK_BYTES;
	process.heap[SHARED][6] = CHECK_NUMBERS;
	process.heap[FUNCTION][0] = OBJECT(MAP_OF_OTHERS);
	process.heap[FUNCTION][3] = OBJECT(SHARED);
	process.heap[BYTECODES][0] = OBJECT(MAP_OF_BYTECODES);
	process.heap[BYTECODES][1] = NR_BYTECODES << V8_SMI_SHIFT;
	process.heap[CONTEXT][0] = OBJECT(MAP_OF_OTHERS);
}

static void begin(void)
{
	scene_begin();
	memset(&process, 0, sizeof(process));
	process.layout = layout_20;
	process.slot = SCENE_SLOT;
	make_heap();
	scene_set_rule(BUILTIN, scene_rule(CFA_NONE, 0, 0));
	for (unsigned int i = 10; i < BUILTIN; i++)
		scene_set_rule(i, scene_rule(CFA_END, 0, 0));
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
}

static void put_memory(void)
{
	fake_add_memory(HEAP, process.heap, sizeof(process.heap));
	fake_add_memory(SCENE_JIT, process.code, sizeof(process.code));
	scene_set_stack(process.stack, array_len(process.stack));
	scene_put_v8(&process.layout, process.slot);
}

#define assert_node(result, ...)                                                                   \
	do {                                                                                       \
		put_memory();                                                                      \
		assert_unwinds(result, __VA_ARGS__);                                               \
	} while (0)

/* Puts a frame of a function at FP_WORD. */
static void put_function(uint64_t returns_to)
{
	process.stack[FP_WORD - 2] = OBJECT(FUNCTION);
	process.stack[FP_WORD - 1] = OBJECT(CONTEXT);
	process.stack[FP_WORD] = CALLER_FP;
	process.stack[FP_WORD + 1] = returns_to;
}

static void put_interpreted(uint64_t offset, uint64_t returns_to)
{
	put_function(returns_to);
	process.stack[FP_WORD - 4] = OBJECT(BYTECODES);
	process.stack[FP_WORD - 5] = offset << V8_SMI_SHIFT;
}

static void compiled_code_has_its_address_and_its_function(void **state)
{
	(void)state;
	begin();
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(CODE), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], CALLER_FP);
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(FP_WORD + 2));
}

/* Where the code of the leaf says that its caller is, and its function. */
enum way {
	BY_FRAME,
	BY_FRAME_WITHOUT_FUNCTION,
	BY_PUSHED,
	BY_RETURN_ADDRESS,
	BY_RETURN_ADDRESS_LEFT, /* the function is below the stack */
	BY_RETURN_ADDRESS_NAMELESS,
};

struct phase {
	uint8_t before[8];
	uint8_t at[16];
	enum way way;
};

#define PHASE_BYTES offsetof(struct phase, way)

static const struct phase phases[] = {
	/* The prologue: checks, push %rbp, mov %rsp, %rbp, then the context and the function. */
	{ { 0x90 }, { 0x8b, 0x59, 0xcc, 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57 }, BY_RETURN_ADDRESS },
	{ { 0x90 }, { 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57 }, BY_RETURN_ADDRESS },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x55 }, { 0x48, 0x89, 0xe5, 0x56, 0x57 }, BY_PUSHED },
	{ { 0, 0, 0, 0, 0x55, 0x48, 0x89, 0xe5 }, { 0x56, 0x57 }, BY_FRAME_WITHOUT_FUNCTION },
	{ { 0, 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0x90 }, { 0x90 }, BY_FRAME_WITHOUT_FUNCTION },
	{ { 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0x50, 0x90 }, { 0x90 }, BY_FRAME },
	/* The body. */
	{ { 0x90 }, { 0x90 }, BY_FRAME },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0x90 }, BY_FRAME },
	/* The epilogue: pop %rbp, then ret, or a count of arguments. */
	{ { 0x90 }, { 0x5d, 0xc3 }, BY_FRAME },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0xc3 }, BY_RETURN_ADDRESS_LEFT },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0xc2, 0x10 }, BY_RETURN_ADDRESS_LEFT },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0x48, 0x83, 0xf9, 2 }, BY_RETURN_ADDRESS_LEFT },
	{ { 0, 0, 0, 0x5d, 0x48, 0x83, 0xf9, 2 }, { 0x7f, 3 }, BY_RETURN_ADDRESS_LEFT },
	{ { 0, 0, 0, 0, 0x7f, 3, 0xc2, 0x10 }, { 0x90 }, BY_FRAME },
	{ { 0, 0, 0, 0x7f, 3, 0xc2, 0x10, 0 }, { 0x41, 0x5a }, BY_RETURN_ADDRESS_LEFT },
	/* The same at the end of it, above the arguments: push %r10; ret. */
	{ { 0, 0, 0, 0, 0, 0, 0x41, 0x52 }, { 0xc3 }, BY_RETURN_ADDRESS_NAMELESS },
};

/* Checks the stack by the way that must be taken. Other ways lead to other functions. */
static void check_way(enum way way, uint64_t leaf)
{
	switch (way) {
	case BY_FRAME:
	case BY_FRAME_WITHOUT_FUNCTION:
		assert_node(UNWIND_COMPLETE, COMPILED(leaf + 1), IN_FUNCTION(12));
		return;
	case BY_PUSHED:
		assert_node(UNWIND_COMPLETE, COMPILED(leaf + 1), IN_FUNCTION(11));
		return;
	case BY_RETURN_ADDRESS:
	case BY_RETURN_ADDRESS_LEFT:
		assert_node(UNWIND_COMPLETE, COMPILED(leaf + 1), IN_FUNCTION(10));
		return;
	case BY_RETURN_ADDRESS_NAMELESS:
		assert_node(UNWIND_COMPLETE, leaf, IN_FUNCTION(10));
		return;
	}
}

/* Puts return addresses on top of the stack, and the function where this way has it. */
static void put_top(enum way way)
{
	uint64_t *top = &process.stack[TOP_WORD];

	fake_state()->regs[CFI_RSP] = STACK_WORD(TOP_WORD);
	top[0] = IN_FUNCTION(10);
	top[1] = IN_FUNCTION(11);
	if (way == BY_FRAME)
		return;
	process.stack[FP_WORD - 2] = 0;
	if (way == BY_RETURN_ADDRESS_LEFT || way == BY_RETURN_ADDRESS_NAMELESS)
		top[-3] = OBJECT(FUNCTION);
	else
		fake_state()->regs[CFI_RDI] = OBJECT(FUNCTION);
}

static void the_code_at_the_leaf_tells_how_much_of_a_frame_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(phases); i++) {
		begin();
		memcpy(process.code + 0x38, phases[i].before, sizeof(phases[i].before));
		memcpy(process.code + 0x40, phases[i].at, sizeof(phases[i].at));
		fake_state()->ip = CODE;
		put_function(IN_FUNCTION(12));
		put_top(phases[i].way);
		check_way(phases[i].way, CODE);
	}
}

/* Below the stack of a function that has left its frame is anything else. */
static void a_function_that_was_overwritten_costs_no_caller(void **state)
{
	static const uint64_t words[] = { 0, OBJECT(CONTEXT), OBJECT(NR_OBJECTS), UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(words); i++) {
		begin();
		process.code[0x40] = 0xc3;
		fake_state()->ip = CODE;
		put_function(IN_FUNCTION(12));
		put_top(BY_RETURN_ADDRESS_LEFT);
		process.stack[0] = words[i];
		assert_node(UNWIND_COMPLETE, CODE, IN_FUNCTION(10));
	}
}

static void an_interpreted_frame_tells_function_and_bytecode(void **state)
{
	(void)state;
	begin();
	process.stack[0] = IN_FUNCTION(BUILTIN);
	put_interpreted(57, IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], CALLER_FP);
}

static void the_bytecode_of_the_leaf_is_in_a_register(void **state)
{
	static const struct {
		uint64_t offset;
		uint64_t array;
		uint64_t expected;
	} cases[] = {
		{ 60, OBJECT(BYTECODES), 60 },
		{ 60, OBJECT(BYTECODES) + 8, 57 }, /* the registers hold something else */
		{ 64 + NR_BYTECODES, OBJECT(BYTECODES), 57 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		begin();
		fake_state()->ip = IN_FUNCTION(BUILTIN);
		fake_state()->regs[CFI_R9] = cases[i].offset;
		fake_state()->regs[CFI_R12] = cases[i].array;
		put_interpreted(57, IN_ROOT);
		assert_node(UNWIND_COMPLETE, INTERPRETED(cases[i].expected), IN_ROOT);
	}
}

static void the_entry_from_native_code_gives_it_back_its_registers(void **state)
{
	static const uint64_t markers[] = { V8_MARKER_ENTRY, V8_MARKER_CONSTRUCT_ENTRY };
	(void)state;

	for (size_t i = 0; i < array_len(markers); i++) {
		begin();
		process.stack[0] = IN_FUNCTION(BUILTIN);
		for (int word = 1; word < FP_WORD; word++)
			process.stack[word] = 0x1000 + (uint64_t)word;
		put_function(IN_ROOT);
		process.stack[FP_WORD - 1] = markers[i];
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
		assert_true(scene_knows(CFI_RBX) && scene_knows(CFI_R12) && scene_knows(CFI_R15));
		assert_int_equal(fake_state()->regs[CFI_RBX], 0x1000 + FP_WORD - 7);
		assert_int_equal(fake_state()->regs[CFI_R15], 0x1000 + FP_WORD - 6);
		assert_int_equal(fake_state()->regs[CFI_R12], 0x1000 + FP_WORD - 3);
	}
}

static void other_builtins_stay_addresses(void **state)
{
	(void)state;
	begin();
	process.stack[0] = IN_FUNCTION(BUILTIN);
	put_interpreted(57, IN_ROOT);
	process.stack[FP_WORD - 1] = 17 << 1;
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
	assert_false(scene_knows(CFI_RBX));
}

static void a_builtin_without_a_frame_has_its_return_address_on_top(void **state)
{
	(void)state;
	begin();
	fake_state()->ip = IN_FUNCTION(BUILTIN_WITH_RULE);
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(BUILTIN_WITH_RULE), COMPILED(CODE), IN_ROOT);
	/* As a caller, it has a frame. */
	begin();
	process.stack[0] = IN_FUNCTION(BUILTIN_WITH_RULE);
	put_interpreted(57, IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57), IN_ROOT);
}

/* Without a rule, its code tells. */
static void the_code_of_a_builtin_tells_how_much_of_a_frame_is_there(void **state)
{
	static const struct phase builtins[] = {
		{ { 0x90 }, { 0x55, 0x48, 0x89, 0xe5 }, BY_RETURN_ADDRESS },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x55 }, { 0x48, 0x89, 0xe5 }, BY_PUSHED },
		{ { 0x90 }, { 0x90, 0x55, 0x48, 0x89, 0xe5 }, BY_FRAME },
		{ { 0x90 }, { 0x5d, 0xc3 }, BY_FRAME },
		{ { 0 }, { 0xc3 }, BY_RETURN_ADDRESS },
		{ { 0 }, { 0xc2, 0x10 }, BY_RETURN_ADDRESS },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0x48, 0x83, 0xf9 }, BY_RETURN_ADDRESS },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x5d }, { 0x48, 0x83, 0xe9 }, BY_FRAME },
	};
	static const uint32_t callers[] = {
		[BY_FRAME] = 12, [BY_PUSHED] = 11, [BY_RETURN_ADDRESS] = 10
	};
	uint64_t leaf = IN_FUNCTION(BUILTIN);
	(void)state;

	for (size_t i = 0; i < array_len(builtins); i++) {
		begin();
		fake_add_memory(leaf - sizeof(builtins[i].before), &builtins[i], PHASE_BYTES);
		fake_state()->ip = leaf;
		put_function(IN_FUNCTION(12));
		put_top(builtins[i].way);
		assert_node(UNWIND_COMPLETE, leaf, IN_FUNCTION(callers[builtins[i].way]));
	}
}

static void code_beside_the_builtins_is_native(void **state)
{
	(void)state;
	begin();
	process.stack[0] = IN_FUNCTION(BUILTINS_END);
	process.stack[1] = IN_FUNCTION(10);
	put_interpreted(57, IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTINS_END), IN_FUNCTION(10));
	begin();
	process.slot = SCENE_SLOT + 1;
	process.stack[0] = IN_FUNCTION(BUILTIN_WITH_RULE);
	process.stack[1] = IN_FUNCTION(10);
	put_interpreted(57, IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN_WITH_RULE),
		    IN_FUNCTION(10));
}

#define MARK RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, RUNTIME_MARK_V8_COMPRESSED)

static void functions_that_cannot_be_named_are_marks(void **state)
{
	(void)state;
	begin();
	process.layout.is_compressed = process.layout.is_marked = 1;
	process.heap[FUNCTION][3] = 0;
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), MARK, IN_ROOT);
	begin();
	process.layout.is_compressed = process.layout.is_marked = 1;
	process.stack[0] = IN_FUNCTION(BUILTIN);
	put_interpreted(0, IN_ROOT);
	process.stack[FP_WORD - 5] = 57 << 1;
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), MARK, IN_ROOT);
}

static void other_frames_than_those_are_addresses(void **state)
{
	/* Of the offset, or the function, in the interpreter's frame. */
	static const struct {
		uint32_t slot;
		uint64_t value;
	} others[] = {
		{ 5, 57 }, { 5, 0 }, { 5, 57ULL << 32 }, { 2, 0 }, { 4, 0 }, { 1, 22 << 1 }
	};
	(void)state;

	for (size_t i = 0; i < array_len(others); i++) {
		begin();
		process.layout.is_compressed = process.layout.is_marked = 1;
		process.stack[0] = IN_FUNCTION(BUILTIN);
		put_interpreted(0, IN_ROOT);
		process.stack[FP_WORD - 5] = 57 << 1;
		process.stack[FP_WORD - others[i].slot] = others[i].value;
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
	}
	begin();
	process.layout.is_compressed = process.layout.is_marked = 1;
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	process.stack[FP_WORD - 2] = 0;
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), CODE, IN_ROOT);
}

static void unknown_types_are_any(void **state)
{
	(void)state;
	begin();
	process.layout.shared_type = process.layout.bytecode_type = V8_UNKNOWN_TYPE;
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(CODE), IN_ROOT);
	begin();
	process.layout.shared_type = process.layout.bytecode_type = V8_UNKNOWN_TYPE;
	process.stack[0] = IN_FUNCTION(BUILTIN);
	put_interpreted(57, IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(57), IN_ROOT);
}

/* Its words may be objects and small integers as well: only the array has a length. */
static void builtins_are_not_interpreted_where_types_are_unknown(void **state)
{
	static const struct {
		uint64_t array;
		uint64_t offset;
	} others[] = {
		{ OBJECT(BYTECODES), 31 },	  { OBJECT(BYTECODES), 64 + NR_BYTECODES },
		{ OBJECT(SHARED), 57 },		  { OBJECT(CONTEXT), 57 },
		{ OBJECT(NR_OBJECTS) + 512, 57 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(others); i++) {
		begin();
		process.layout.shared_type = process.layout.bytecode_type = V8_UNKNOWN_TYPE;
		process.heap[SHARED][1] = OBJECT(CONTEXT);
		process.stack[0] = IN_FUNCTION(BUILTIN);
		put_interpreted(others[i].offset, IN_ROOT);
		process.stack[FP_WORD - 4] = others[i].array;
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
	}
}

static void other_layouts_are_not_read(void **state)
{
	(void)state;
	begin();
	process.layout.kind = RUNTIME_HOTSPOT;
	process.stack[0] = CODE;
	put_function(IN_ROOT);
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), CODE, IN_ROOT);
}

/* A word of the heap that is not what it must be: the frame has no name, but a caller. */
static void objects_that_are_none_cost_no_caller(void **state)
{
	static const struct {
		uint32_t object;
		uint32_t word;
		uint64_t value;
	} damages[] = {
		{ FUNCTION, 3, OBJECT(SHARED) - V8_OBJECT_TAG },
		{ FUNCTION, 3, OBJECT(NR_OBJECTS) },
		{ FUNCTION, 3, OBJECT(BYTECODES) },
		{ FUNCTION, 3, UINT64_MAX },
		{ SHARED, 0, OBJECT(MAP_OF_BYTECODES) },
		{ SHARED, 0, OBJECT(MAP_OF_SHARED) - V8_OBJECT_TAG + 0x10000 },
		{ MAP_OF_SHARED, 2, TYPE_SHARED + 1 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		begin();
		process.heap[damages[i].object][damages[i].word] = damages[i].value;
		process.stack[0] = CODE;
		put_function(IN_ROOT);
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), CODE, IN_ROOT);
	}
}

/* The same for words of an interpreted frame. */
static void frames_that_are_damaged_stay_addresses(void **state)
{
	static const struct {
		uint32_t slot; /* below the frame pointer */
		uint64_t value;
	} damages[] = {
		{ 2, 0 },  { 2, OBJECT(NR_OBJECTS) }, { 4, OBJECT(SHARED) }, { 4, UINT64_MAX },
		{ 5, 57 }, /* no small integer */
		{ 1, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		begin();
		process.stack[0] = IN_FUNCTION(BUILTIN);
		put_interpreted(57, IN_ROOT);
		process.stack[FP_WORD - damages[i].slot] = damages[i].value;
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(BUILTIN), IN_ROOT);
	}
}

static void frame_pointers_that_lead_nowhere_end_the_stack(void **state)
{
	static const uint64_t pointers[] = { STACK_WORD(FP_WORD) + 4, STACK_WORD(0) - 16,
					     STACK_WORD(1000), UINT64_MAX - 7 };
	(void)state;

	for (size_t i = 0; i < array_len(pointers); i++) {
		begin();
		fake_state()->regs[CFI_RBP] = pointers[i];
		process.stack[0] = CODE;
		put_function(IN_ROOT);
		put_memory();
		assert_int_not_equal(scene_unwind(), UNWIND_COMPLETE);
		assert_int_equal(fake_event()->nr_user, 2);
		assert_int_equal(fake_event()->frames[1], CODE);
	}
}

static void a_circle_of_frames_ends(void **state)
{
	(void)state;
	begin();
	process.stack[0] = CODE;
	put_function(CODE);
	process.stack[FP_WORD] = STACK_WORD(FP_WORD);
	put_memory();
	assert_int_not_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_in_range(fake_event()->nr_user, 4, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_code_has_its_address_and_its_function),
		cmocka_unit_test(the_code_at_the_leaf_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test(a_function_that_was_overwritten_costs_no_caller),
		cmocka_unit_test(an_interpreted_frame_tells_function_and_bytecode),
		cmocka_unit_test(the_bytecode_of_the_leaf_is_in_a_register),
		cmocka_unit_test(the_entry_from_native_code_gives_it_back_its_registers),
		cmocka_unit_test(other_builtins_stay_addresses),
		cmocka_unit_test(a_builtin_without_a_frame_has_its_return_address_on_top),
		cmocka_unit_test(the_code_of_a_builtin_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test(code_beside_the_builtins_is_native),
		cmocka_unit_test(functions_that_cannot_be_named_are_marks),
		cmocka_unit_test(other_frames_than_those_are_addresses),
		cmocka_unit_test(unknown_types_are_any),
		cmocka_unit_test(builtins_are_not_interpreted_where_types_are_unknown),
		cmocka_unit_test(other_layouts_are_not_read),
		cmocka_unit_test(objects_that_are_none_cost_no_caller),
		cmocka_unit_test(frames_that_are_damaged_stay_addresses),
		cmocka_unit_test(frame_pointers_that_lead_nowhere_end_the_stack),
		cmocka_unit_test(a_circle_of_frames_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
