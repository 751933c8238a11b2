/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/v8_code_arm64.bpf.h: frames of code that V8 made, by the code and the registers of arm64.
 * Steps that are the same on all processors are in test_unwind_v8.c. The heap is made by hand. */
#include "bpf/shared/runtime.h"
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define HEAP 0x3a0000000000ULL
#define OBJECT_WORDS 8
#define OBJECT(i) (HEAP + 8ULL * OBJECT_WORDS * (i) + V8_OBJECT_TAG)

enum { MAP_OF_SHARED, MAP_OF_OTHERS, SHARED, FUNCTION, CONTEXT, NR_OBJECTS };

#define TYPE_SHARED 262
#define FP_WORD 12 /* of the stack, to which frame pointers of tests point */
#define CODE (SCENE_JIT + 0x40)
#define NR_CODE_WORDS 64
#define LEAF_WORD 16 /* of the code, at CODE */

#define CHECK runtime_check(v8_check_bytes(0, 0))
#define COMPILED(address) RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, CHECK, 0), (address), OBJECT(SHARED)

#define NOP 0xd503201fU
#define RET 0xd65f03c0U
#define PUSH_RECORD 0xa9bf7bfdU /* stp x29, x30, [sp, #-16]! */
#define POP_RECORD 0xa8c17bfdU /* ldp x29, x30, [sp], #16 */
#define SET_FP 0x910003fdU /* mov x29, sp */
#define SET_FP_ABOVE 0x910043fdU /* add x29, sp, #16 */
#define PUSH_FUNCTION 0xa9be6fe1U /* stp x1, x27, [sp, #-32]! */

static struct {
	uint64_t heap[NR_OBJECTS][OBJECT_WORDS];
	uint32_t code[NR_CODE_WORDS];
	uint64_t stack[32];
} process;

static int begin(void **state)
{
	(void)state;
	scene_begin();
	memset(&process, 0, sizeof(process));
	for (size_t i = 0; i < NR_CODE_WORDS; i++)
		process.code[i] = NOP;
	process.heap[MAP_OF_SHARED][2] = TYPE_SHARED;
	process.heap[SHARED][0] = OBJECT(MAP_OF_SHARED);
	process.heap[FUNCTION][0] = OBJECT(MAP_OF_OTHERS);
	process.heap[FUNCTION][3] = OBJECT(SHARED);
	process.heap[CONTEXT][0] = OBJECT(MAP_OF_OTHERS);
	for (unsigned int i = 10; i < 20; i++)
		scene_set_rule(i, scene_rule(CFA_END, 0, 0));
	fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
	fake_state()->regs[CFI_LR] = IN_FUNCTION(10);
	process.stack[FP_WORD - 2] = OBJECT(FUNCTION);
	process.stack[FP_WORD - 1] = OBJECT(CONTEXT);
	process.stack[FP_WORD] = STACK_WORD(30);
	process.stack[FP_WORD + 1] = IN_FUNCTION(12);
	return 0;
}

static void put_memory(void)
{
	static const struct v8_layout layout = { .kind = RUNTIME_V8,
						 .map_type = 16,
						 .function_shared = 24,
						 .shared_type = TYPE_SHARED,
						 .bytecode_type = 191,
						 .shared_check = 40,
						 .bytecode_length = 8 };

	fake_add_memory(HEAP, process.heap, sizeof(process.heap));
	fake_add_memory(SCENE_JIT, process.code, sizeof(process.code));
	scene_set_stack(process.stack, array_len(process.stack));
	scene_put_v8(&layout, SCENE_SLOT);
}

#define assert_node(result, ...)                                                                   \
	do {                                                                                       \
		put_memory();                                                                      \
		assert_unwinds(result, __VA_ARGS__);                                               \
	} while (0)

static void a_frame_of_compiled_code_has_a_record_and_its_function(void **state)
{
	(void)state;
	process.stack[0] = CODE;
	assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(CODE), IN_FUNCTION(12));
	assert_int_equal(fake_state()->regs[CFI_FP], STACK_WORD(30));
}

/* Where the caller and the function are. */
enum way { BY_FRAME, UNFILLED, ENTERED, LEFT };

static const struct phase {
	uint32_t code[4]; /* the third one is the leaf's */
	enum way way;
} phases[] = {
	/* The prologues of optimized code and of Sparkplug. */
	{ { NOP, NOP, PUSH_FUNCTION, SET_FP_ABOVE }, ENTERED },
	{ { NOP, PUSH_FUNCTION, SET_FP_ABOVE, NOP }, ENTERED },
	{ { PUSH_FUNCTION, SET_FP_ABOVE, NOP, NOP }, BY_FRAME },
	{ { NOP, NOP, PUSH_RECORD, SET_FP }, ENTERED },
	{ { NOP, PUSH_RECORD, SET_FP, NOP }, ENTERED },
	{ { PUSH_RECORD, SET_FP, NOP, NOP }, UNFILLED },
	/* The body. */
	{ { NOP, NOP, NOP, NOP }, BY_FRAME },
	{ { NOP, NOP, RET, SET_FP }, BY_FRAME },
	/* The epilogue. */
	{ { NOP, NOP, POP_RECORD, RET }, BY_FRAME },
	{ { NOP, POP_RECORD, RET, NOP }, LEFT },
	{ { POP_RECORD, NOP, RET, NOP }, LEFT },
	{ { POP_RECORD, RET, NOP, NOP }, BY_FRAME },
};

static void check_way(enum way way)
{
	switch (way) {
	case BY_FRAME:
	case UNFILLED:
		assert_node(UNWIND_COMPLETE, COMPILED(CODE + 1), IN_FUNCTION(12));
		return;
	case ENTERED:
		assert_node(UNWIND_COMPLETE, COMPILED(CODE + 1), IN_FUNCTION(10));
		return;
	case LEFT:
		assert_node(UNWIND_COMPLETE, CODE, IN_FUNCTION(10));
		return;
	}
}

static void the_code_at_the_leaf_tells_how_much_of_a_frame_is_there(void **state)
{
	for (size_t i = 0; i < array_len(phases); i++) {
		begin(state);
		memcpy(process.code + LEAF_WORD - 2, phases[i].code, sizeof(phases[i].code));
		fake_state()->ip = CODE;
		if (phases[i].way != BY_FRAME) {
			process.stack[FP_WORD - 2] = 0;
			fake_state()->regs[CFI_X0 + 1] = OBJECT(FUNCTION);
		}
		check_way(phases[i].way);
	}
}

static void functions_that_are_none_cost_no_caller(void **state)
{
	static const uint64_t functions[] = { 0, OBJECT(FUNCTION) - V8_OBJECT_TAG,
					      OBJECT(NR_OBJECTS), OBJECT(CONTEXT), UINT64_MAX };

	for (size_t i = 0; i < array_len(functions); i++) {
		begin(state);
		process.stack[0] = CODE;
		process.stack[FP_WORD - 2] = functions[i];
		assert_node(UNWIND_COMPLETE, IN_FUNCTION(1), CODE, IN_FUNCTION(12));
	}
}

static void frame_pointers_that_lead_nowhere_end_the_stack(void **state)
{
	static const uint64_t pointers[] = { STACK_WORD(FP_WORD) + 4, STACK_WORD(0) - 16,
					     STACK_WORD(1000), UINT64_MAX - 7 };

	for (size_t i = 0; i < array_len(pointers); i++) {
		begin(state);
		fake_state()->regs[CFI_FP] = pointers[i];
		process.stack[0] = CODE;
		put_memory();
		assert_int_not_equal(scene_unwind(), UNWIND_COMPLETE);
		assert_int_equal(fake_event()->nr_user, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_frame_of_compiled_code_has_a_record_and_its_function,
				       begin),
		cmocka_unit_test(the_code_at_the_leaf_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test(functions_that_are_none_cost_no_caller),
		cmocka_unit_test(frame_pointers_that_lead_nowhere_end_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
