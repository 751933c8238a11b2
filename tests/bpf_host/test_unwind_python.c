/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames among native ones, with a chain made by hand. Function 2 is the eval loop: it has
 * 16 words of stack, in which the shim lies, or the _PyCFrame. */
#include "bpf/shared/runtime.h"
#include "fake_mm.h"
#include "scene.h"

#include "base/err.h"

#include <string.h>

#define EVAL 2
#define EVAL_WORDS 16
#define NATIVE 3
#define OTHER_NATIVE 4

#define LAYOUT_UNIT 20000
#define THREAD 0x7f1100000000ULL
#define TSTATE_PLACE (-24)
#define TSTATE 0x7f2200000000ULL
#define STATE_INTERPRETER 16
#define STATE_CFRAME 48
#define OTHER_TSTATE 0x7f2200001000ULL
#define INTERPRETER 0x7f2200002000ULL
#define RUNTIME 0x7f2200003000ULL
#define HEAP 0x7f3300000000ULL
#define CODES 0x7f4400000000ULL
#define CODE_BYTES 0x400ULL
#define CODE(i) (CODES + CODE_BYTES * (i))
#define FRAME(i) (HEAP + 0x100ULL * (i))
#define SHIM_WORD 3 /* of the eval loop's stack */
#define NR_CODES 8
#define OWNER_SHIM 3

/* The words that stand for code i at a code unit. */
#define CHECK(i) runtime_check_words((const __u64[RUNTIME_CHECK_WORDS]){ 7000 + (i) })
#define TAG(i, unit) RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, CHECK(i), unit)
#define MARK(mark) RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, RUNTIME_MARK_##mark)

static const struct cpython_layout by_shim = {
	.kind = RUNTIME_CPYTHON,
	.chain = CPYTHON_CHAIN_BY_SHIM,
	.instr_kind = CPYTHON_INSTR_POINTER,
	.shim_owner = OWNER_SHIM,
	.nr_place = 1,
	.cframe = CPYTHON_NONE,
	.place = { TSTATE_PLACE },
	.frame = 72,
	.thread_id = 152,
	.code = 0,
	.previous = 8,
	.instr = 56,
	.owner = 70,
	.check = 68,
	.bytecode = 200,
	.frame_bytes = 80,
};

struct frame {
	uint64_t code;
	uint64_t previous;
	uint64_t rest[5];
	uint64_t instr;
	uint8_t stack[6];
	uint8_t owner;
	uint8_t pad;
	uint64_t locals;
};

struct thread_state {
	uint64_t words[22];
};

static void put_codes(unsigned int nr)
{
	uint8_t code[CODE_BYTES] = { 0 };

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t line = 7000 + i;

		memcpy(code + by_shim.check, &line, sizeof(line));
		fake_add_memory(CODE(i), code, sizeof(code));
	}
}

/* A frame that runs code i at a code unit. */
static void put_frame(uint64_t address, unsigned int i, uint64_t unit, uint64_t previous)
{
	const struct frame frame = { .code = CODE(i),
				     .previous = previous,
				     .instr = CODE(i) + by_shim.bytecode + 2 * unit };

	fake_add_memory(address, &frame, sizeof(frame));
}

static void set_layout(const struct cpython_layout *layout)
{
	fake_put(LAYOUT_UNIT, layout, sizeof(*layout));
	fake_set_layout(SCENE_SLOT, LAYOUT_UNIT);
}

/* A thread whose state says that it is in a frame. */
static void set_thread(uint64_t current, uint64_t thread_id)
{
	struct thread_state tstate = { { 0 } };
	const uint64_t place = TSTATE;

	tstate.words[by_shim.frame / 8] = current;
	tstate.words[by_shim.thread_id / 8] = thread_id;
	tstate.words[STATE_INTERPRETER / 8] = INTERPRETER;
	fake_mm_set_thread(THREAD);
	fake_add_memory(THREAD + (uint64_t)TSTATE_PLACE, &place, sizeof(place));
	fake_add_memory(TSTATE, &tstate, sizeof(tstate));
}

static void begin(void)
{
	scene_begin();
	scene_set_rule(EVAL, scene_rule(CFA_REGISTER, CFI_SP, 8 * EVAL_WORDS));
	put_codes(NR_CODES);
	set_layout(&by_shim);
}

/* Puts the words of a call of the eval loop on a stack, with a shim that leads to `previous` if it
 * has one, and the address to which it returns. */
static uint64_t *push_eval(uint64_t *words, bool has_shim, uint64_t previous, uint64_t returns_to)
{
	const struct frame shim = { .previous = previous, .owner = OWNER_SHIM };

	memset(words, 0, EVAL_WORDS * sizeof(*words));
	if (has_shim)
		memcpy(words + SHIM_WORD, &shim, sizeof(shim));
	words[EVAL_WORDS - 1] = returns_to;
	return words + EVAL_WORDS;
}

/* leaf (1), eval (2), native (3), root; the shim is in the eval loop's frame. */
static void set_one_eval(uint64_t previous)
{
	uint64_t words[32], *end = words;

	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, true, previous, IN_FUNCTION(NATIVE));
	*end++ = IN_ROOT;
	scene_set_stack(words, (size_t)(end - words));
}

#define FIRST_SHIM STACK_WORD(1 + SHIM_WORD)

static void a_segment_takes_the_place_of_its_eval_loop(void **state)
{
	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FRAME(1));
	put_frame(FRAME(1), 1, 9, FIRST_SHIM);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 5), CODE(0), TAG(1, 9), CODE(1),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void a_trampoline_is_left_out(void **state)
{
	static const uint8_t trampoline[CODE_BYTES];

	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FRAME(1));
	put_frame(FRAME(1), NR_CODES, 9, FRAME(2));
	put_frame(FRAME(2), 1, 9, FIRST_SHIM);
	fake_add_memory(CODE(NR_CODES), trampoline, sizeof(trampoline));
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 5), CODE(0), TAG(1, 9), CODE(1),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void native_frames_stay_between_two_segments(void **state)
{
	uint64_t words[64], *end = words;

	(void)state;
	begin();
	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, true, FRAME(2), IN_FUNCTION(NATIVE));
	*end++ = IN_FUNCTION(OTHER_NATIVE);
	*end++ = IN_FUNCTION(EVAL);
	uint64_t second_shim = STACK_WORD(end - words + SHIM_WORD);
	end = push_eval(end, true, 0, IN_ROOT);
	scene_set_stack(words, (size_t)(end - words));
	put_frame(FRAME(0), 0, 1, FIRST_SHIM);
	put_frame(FRAME(2), 2, 3, second_shim);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 1), CODE(0), IN_FUNCTION(NATIVE),
		       IN_FUNCTION(OTHER_NATIVE), TAG(2, 3), CODE(2), IN_ROOT);
}

static void the_handler_of_a_tail_calling_build_is_dropped_too(void **state)
{
	struct cpython_layout layout = by_shim;

	(void)state;
	begin();
	layout.drops_handler = 1;
	set_layout(&layout);
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FIRST_SHIM);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, TAG(0, 5), CODE(0), IN_FUNCTION(NATIVE), IN_ROOT);
}

/* Gives the process a descriptor with the address of _PyRuntime, and the file no layout. */
static void set_descriptor(const struct cpython_layout *layout, uint64_t runtime)
{
	struct mapping_table head = { .id = SCENE_LIST_ID,
				      .nr_ranges = 1,
				      .ranges_offset = 64,
				      .runtimes_offset = 128,
				      .nr_runtimes = 1 };
	const struct mapping_range range = { .bias = SCENE_CODE - SCENE_FILE_OFFSET,
					     .slot = SCENE_SLOT };
	struct runtime_descriptor descriptor = {
		.process = { .kind = RUNTIME_CPYTHON, .slot = SCENE_SLOT },
	};
	uint8_t table[128 + sizeof(descriptor)] = { 0 };
	const uint64_t start = SCENE_CODE;

	fake_set_layout(SCENE_SLOT, 0);
	descriptor.layout.cpython = *layout;
	descriptor.process.words[CPYTHON_WORD_RUNTIME] = runtime;
	memcpy(table, &head, sizeof(head));
	memcpy(table + MAPPING_TABLE_STARTS, &start, sizeof(start));
	memcpy(table + head.ranges_offset, &range, sizeof(range));
	memcpy(table + head.runtimes_offset, &descriptor, sizeof(descriptor));
	fake_put(SCENE_LIST, table, sizeof(table));
}

static void a_descriptor_of_the_process_counts_instead_of_the_files_layout(void **state)
{
	(void)state;
	begin();
	set_descriptor(&by_shim, 0);
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FIRST_SHIM);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 5), CODE(0), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void a_state_of_another_thread_is_not_believed(void **state)
{
	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FIRST_SHIM);
	set_thread(FRAME(0), THREAD + 0x1000);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(PYTHON_UNREADABLE), IN_FUNCTION(EVAL),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void a_thread_without_a_state_has_native_frames(void **state)
{
	const uint64_t none = 0;

	(void)state;
	begin();
	set_one_eval(0);
	fake_mm_set_thread(THREAD);
	fake_add_memory(THREAD + (uint64_t)TSTATE_PLACE, &none, sizeof(none));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(EVAL), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void a_frame_that_cannot_be_read_costs_no_native_frame(void **state)
{
	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FRAME(1));
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(PYTHON_UNREADABLE), IN_FUNCTION(EVAL),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void a_chain_of_another_stack_comes_last_and_is_marked(void **state)
{
	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FRAME(1));
	put_frame(FRAME(1), 1, 6, 0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(EVAL), IN_FUNCTION(NATIVE),
		       IN_ROOT, MARK(PYTHON_APART), TAG(0, 5), CODE(0), TAG(1, 6), CODE(1));
}

static void callers_in_python_survive_a_native_stack_that_breaks(void **state)
{
	uint64_t words[32], *end = words;

	(void)state;
	begin();
	scene_set_rule(NATIVE, scene_rule(CFA_UNSUPPORTED, 0, 0));
	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, true, FRAME(1), IN_FUNCTION(NATIVE));
	scene_set_stack(words, (size_t)(end - words));
	put_frame(FRAME(0), 0, 5, FIRST_SHIM);
	put_frame(FRAME(1), 1, 6, 0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_UNSUPPORTED_RULE, IN_FUNCTION(1), TAG(0, 5), CODE(0),
		       IN_FUNCTION(NATIVE), TAG(1, 6), CODE(1));
}

static void a_chain_that_is_a_circle_ends_as_too_deep(void **state)
{
	(void)state;
	begin();
	set_one_eval(0);
	put_frame(FRAME(0), 0, 5, FRAME(1));
	put_frame(FRAME(1), 1, 6, FRAME(0));
	set_thread(FRAME(0), THREAD);
	assert_int_equal(scene_unwind(), UNWIND_TOO_DEEP);
	assert_int_equal(fake_state()->nr_frames, MAX_USER_FRAMES);
	assert_in_range(fake_event()->nr_user, MAX_USER_FRAMES, MAX_USER_WORDS);
	assert_int_equal(fake_event()->frames[1], TAG(0, 5));
	assert_int_equal(fake_event()->frames[4], CODE(1));
}

static void as_many_python_frames_as_fit_keep_their_root(void **state)
{
	const uint32_t nr = 1000;

	(void)state;
	begin();
	set_one_eval(0);
	for (uint32_t i = 0; i < nr; i++)
		put_frame(FRAME(i), 0, i, i + 1 < nr ? FRAME(i + 1) : FIRST_SHIM);
	set_thread(FRAME(0), THREAD);
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(fake_event()->nr_user, 2 * nr + 3);
	assert_int_equal(fake_event()->frames[2 * nr - 1], TAG(0, nr - 1));
	assert_int_equal(fake_event()->frames[2 * nr + 2], IN_ROOT);
}

/* 3.11: the segment ends with the entry frame, and the _PyCFrame is on the stack. */
static void a_cframe_tells_the_eval_loop_of_3_11(void **state)
{
	struct cpython_layout layout = by_shim;
	uint64_t words[64], *end = words;
	struct frame entry = { .code = CODE(1), .previous = FRAME(2), .owner = 1 };
	const struct frame root = { .code = CODE(2),
				    .instr = CODE(2) + by_shim.bytecode,
				    .owner = 1 };
	struct thread_state tstate = { { 0 } };
	const uint64_t place = TSTATE;

	(void)state;
	begin();
	layout.chain = CPYTHON_CHAIN_BY_CFRAME;
	layout.cframe = 56;
	layout.frame = 8;
	layout.cframe_previous = 16;
	set_layout(&layout);
	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, false, 0, IN_FUNCTION(NATIVE));
	*end++ = IN_FUNCTION(EVAL);
	uint64_t second = STACK_WORD(end - words + SHIM_WORD);
	uint64_t *second_words = end;
	end = push_eval(end, false, 0, IN_ROOT);
	words[1 + SHIM_WORD + 1] = FRAME(0);
	words[1 + SHIM_WORD + 2] = second;
	second_words[SHIM_WORD + 1] = FRAME(2);
	scene_set_stack(words, (size_t)(end - words));
	entry.instr = CODE(1) + layout.bytecode;
	put_frame(FRAME(0), 0, 5, FRAME(1));
	fake_add_memory(FRAME(1), &entry, sizeof(entry));
	fake_add_memory(FRAME(2), &root, sizeof(root));
	tstate.words[layout.cframe / 8] = FIRST_SHIM;
	tstate.words[layout.thread_id / 8] = THREAD;
	fake_mm_set_thread(THREAD);
	fake_add_memory(THREAD + (uint64_t)TSTATE_PLACE, &place, sizeof(place));
	fake_add_memory(TSTATE, &tstate, sizeof(tstate));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 5), CODE(0), TAG(1, 0), CODE(1),
		       IN_FUNCTION(NATIVE), TAG(2, 0), CODE(2), IN_ROOT);
}

/* Up to 3.10: each frame is a call of the eval loop, whose code is known. */
static void each_frame_of_3_10_is_a_call_of_the_eval_loop(void **state)
{
	struct cpython_layout layout = by_shim;
	uint64_t words[64], *end = words;
	uint32_t offset = (uint32_t)(SCENE_FILE_OFFSET + 0x100 * EVAL);
	struct frame frames[2] = { { .code = CODE(0), .previous = FRAME(1), .instr = 8 },
				   { .code = CODE(1), .instr = 6 } };

	(void)state;
	begin();
	layout.chain = CPYTHON_CHAIN_BY_CODE;
	layout.instr_kind = CPYTHON_INSTR_UNITS;
	layout.eval[2] = offset;
	layout.eval[3] = offset + 0x100;
	set_layout(&layout);
	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, false, 0, IN_FUNCTION(NATIVE));
	*end++ = IN_FUNCTION(EVAL);
	end = push_eval(end, false, 0, IN_ROOT);
	scene_set_stack(words, (size_t)(end - words));
	fake_add_memory(FRAME(0), &frames[0], sizeof(frames[0]));
	fake_add_memory(FRAME(1), &frames[1], sizeof(frames[1]));
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 8), CODE(0), IN_FUNCTION(NATIVE),
		       TAG(1, 6), CODE(1), IN_ROOT);
}

/* 3.9 and 3.10, which have a state of the running thread. */
static const struct cpython_layout by_code = {
	.kind = RUNTIME_CPYTHON,
	.chain = CPYTHON_CHAIN_BY_CODE,
	.instr_kind = CPYTHON_INSTR_UNITS,
	.nr_place = 1,
	.cframe = CPYTHON_NONE,
	.place = { TSTATE_PLACE },
	.frame = 72,
	.interpreters = 32,
	.thread_id = 152,
	.code = 0,
	.previous = 8,
	.instr = 56,
	.check = 68,
	.frame_bytes = 80,
	.interpreter = STATE_INTERPRETER,
	.runtime = 24,
	.current = 56,
	.eval = { SCENE_FILE_OFFSET + 0x100 * EVAL, SCENE_FILE_OFFSET + 0x100 * EVAL + 0x100 },
};

/* Frame 0 runs code 0 at unit 8 in the interpreter of the thread's own state, frame 1 runs code 1
 * at unit 6 in another one. `current` is the state that has the GIL, and the
 * other one has that _PyCFrame. */
static void set_interpreters(const struct cpython_layout *layout, uint64_t current, uint64_t newest,
			     uint64_t cframe)
{
	struct frame frames[2] = { { .code = CODE(0), .instr = 8 },
				   { .code = CODE(1), .instr = 6 } };
	struct thread_state other = { { 0 } };
	const uint64_t interpreter[4] = { [3] = RUNTIME };
	uint64_t runtime[8] = { [4] = newest, [5] = INTERPRETER, [7] = current };

	begin();
	set_layout(layout);
	other.words[layout->frame / 8] = FRAME(1);
	other.words[layout->thread_id / 8] = THREAD;
	other.words[STATE_CFRAME / 8] = cframe;
	fake_add_memory(OTHER_TSTATE, &other, sizeof(other));
	fake_add_memory(INTERPRETER, interpreter, sizeof(interpreter));
	fake_add_memory(RUNTIME, runtime, sizeof(runtime));
	fake_add_memory(FRAME(0), &frames[0], sizeof(frames[0]));
	fake_add_memory(FRAME(1), &frames[1], sizeof(frames[1]));
}

#define OTHER_INTERPRETER (INTERPRETER + 0x100)

static void the_state_that_has_the_gil_counts(void **state)
{
	(void)state;
	set_interpreters(&by_code, OTHER_TSTATE, OTHER_INTERPRETER, 0);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(1, 6), CODE(1), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void without_the_gil_and_other_interpreters_the_own_state_counts(void **state)
{
	(void)state;
	set_interpreters(&by_code, 0, INTERPRETER, 0);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 8), CODE(0), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void without_the_gil_functions_of_several_interpreters_are_not_guessed(void **state)
{
	(void)state;
	set_interpreters(&by_code, 0, OTHER_INTERPRETER, 0);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(EVAL), MARK(PYTHON_UNREADABLE),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void a_current_state_that_cannot_be_read_is_not_believed(void **state)
{
	(void)state;
	set_interpreters(&by_code, ~0xfffULL, INTERPRETER, 0);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 8), CODE(0), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void an_interpreter_that_cannot_be_read_costs_no_native_frame(void **state)
{
	struct cpython_layout layout = by_code;

	(void)state;
	layout.runtime = 0x800;
	set_interpreters(&layout, OTHER_TSTATE, INTERPRETER, 0);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(PYTHON_UNREADABLE), IN_FUNCTION(EVAL),
		       IN_FUNCTION(NATIVE), IN_ROOT);
}

static void a_cframe_on_the_stack_tells_who_has_the_gil(void **state)
{
	struct cpython_layout layout = by_code;

	(void)state;
	layout.cframe = STATE_CFRAME;
	set_interpreters(&layout, OTHER_TSTATE, OTHER_INTERPRETER, FIRST_SHIM);
	set_one_eval(0);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(1, 6), CODE(1), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

static void a_cframe_on_another_stack_is_another_threads(void **state)
{
	const uint64_t elsewhere[] = { 0, STACK_WORD(0) - 8 };
	struct cpython_layout layout = by_code;

	(void)state;
	layout.cframe = STATE_CFRAME;
	for (size_t i = 0; i < array_len(elsewhere); i++) {
		set_interpreters(&layout, OTHER_TSTATE, INTERPRETER, elsewhere[i]);
		set_one_eval(0);
		set_thread(FRAME(0), THREAD);
		assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(0, 8), CODE(0),
			       IN_FUNCTION(NATIVE), IN_ROOT);
	}
}

static void code_without_python_is_not_marked(void **state)
{
	uint64_t words[32] = { IN_FUNCTION(NATIVE), IN_ROOT };

	(void)state;
	set_interpreters(&by_code, 0, OTHER_INTERPRETER, 0);
	scene_set_stack(words, 2);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(NATIVE), IN_ROOT);
}

/* 3.8: nothing leads from a state to _PyRuntime. */
static void the_process_says_where_the_current_state_of_3_8_is(void **state)
{
	struct cpython_layout layout = by_code;

	(void)state;
	layout.interpreter = 0;
	set_interpreters(&layout, OTHER_TSTATE, OTHER_INTERPRETER, 0);
	set_one_eval(0);
	set_descriptor(&layout, RUNTIME);
	set_thread(FRAME(0), THREAD);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), TAG(1, 6), CODE(1), IN_FUNCTION(NATIVE),
		       IN_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_takes_the_place_of_its_eval_loop),
		cmocka_unit_test(a_trampoline_is_left_out),
		cmocka_unit_test(native_frames_stay_between_two_segments),
		cmocka_unit_test(the_handler_of_a_tail_calling_build_is_dropped_too),
		cmocka_unit_test(a_descriptor_of_the_process_counts_instead_of_the_files_layout),
		cmocka_unit_test(a_state_of_another_thread_is_not_believed),
		cmocka_unit_test(a_thread_without_a_state_has_native_frames),
		cmocka_unit_test(a_frame_that_cannot_be_read_costs_no_native_frame),
		cmocka_unit_test(a_chain_of_another_stack_comes_last_and_is_marked),
		cmocka_unit_test(callers_in_python_survive_a_native_stack_that_breaks),
		cmocka_unit_test(a_chain_that_is_a_circle_ends_as_too_deep),
		cmocka_unit_test(as_many_python_frames_as_fit_keep_their_root),
		cmocka_unit_test(a_cframe_tells_the_eval_loop_of_3_11),
		cmocka_unit_test(each_frame_of_3_10_is_a_call_of_the_eval_loop),
		cmocka_unit_test(the_state_that_has_the_gil_counts),
		cmocka_unit_test(without_the_gil_and_other_interpreters_the_own_state_counts),
		cmocka_unit_test(without_the_gil_functions_of_several_interpreters_are_not_guessed),
		cmocka_unit_test(a_current_state_that_cannot_be_read_is_not_believed),
		cmocka_unit_test(an_interpreter_that_cannot_be_read_costs_no_native_frame),
		cmocka_unit_test(a_cframe_on_the_stack_tells_who_has_the_gil),
		cmocka_unit_test(a_cframe_on_another_stack_is_another_threads),
		cmocka_unit_test(code_without_python_is_not_marked),
		cmocka_unit_test(the_process_says_where_the_current_state_of_3_8_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
