/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Steps over frames of code that V8 made, and of its builtins, which are in its file without CFI.
 *
 * All of this code keeps a frame pointer. Below it, a frame has a context and its function, or else
 * a marker that says what frame it is. A function's frame is that of
 *
 *	the interpreter		in code of the file; the bytecode and the place in it are in the frame
 *	compiled code		in memory without a file; the code is found by the address
 *	a builtin		in code of the file; it stays an address
 *
 * The leaf may be where its frame is not made yet, or was taken down. This is recognized by the
 * code at the address; in the file, also by the scan of its code (docs/unwinding.md).
 *
 * Called by unwind_native.bpf.c, on this CPU's scratch record, whose range was looked up. Maps:
 * scratch_of_cpu, arena. Where something does not fit, the step is left to the frame pointer.
 *
 * Sources: V8's src/execution/frame-constants.h, src/builtins/x64/builtins-x64.cc and
 * arm64/builtins-arm64.cc (Generate_JSEntryVariant, Generate_InterpreterEntryTrampoline), and those
 * of v8_code_x86.bpf.h and v8_code_arm64.bpf.h. */
#include "bpf/arch.bpf.h"
#include "bpf/frames.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/step.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/user_memory.bpf.h"

/* Words of a frame, from the lowest one that is read on. */
#define FRAME_BOTTOM 5
#define SLOT(slot) (FRAME_BOTTOM + (slot))
enum { FRAME_FP = SLOT(0), FRAME_RETURN = SLOT(1), FRAME_WORDS };

/* The interpreter's registers, which hold while it executes a bytecode without a call. */
#define INTERPRETER_REGISTERS (REGISTER_BIT(OFFSET_REGISTER) | REGISTER_BIT(ARRAY_REGISTER))

#define MAX_ARRAY_HEAD 64 /* of a BytecodeArray: bytes before the first bytecode */
#define MIN_BYTECODE_OFFSET 32 /* that of the first bytecode is more */

/* The place of the leaf in its function. */
enum v8_phase {
	PHASE_FRAME,
	PHASE_ENTERED, /* the frame pointer is the caller's; the function is in a register */
	PHASE_PUSHED, /* the same, and the frame pointer is on top of the stack */
	PHASE_UNFILLED, /* the frame is there, but the function is not in it yet */
	PHASE_LEFT, /* the return address is on top of the stack; the frame is below it */
	PHASE_DROPPED, /* the same, but what is below it is not known */
};

static __always_inline bool is_object(__u64 word)
{
	return word & V8_OBJECT_TAG;
}

/* Takes the value of a small integer. With compressed pointers it has 31 bits. */
static __always_inline bool take_smi(const struct v8_layout *layout, __u64 word, __u64 *ret_value)
{
	if (layout->is_compressed) {
		*ret_value = word >> 1;
		return !(word & V8_OBJECT_TAG) && word >> 32 == 0;
	}
	*ret_value = word >> V8_SMI_SHIFT;
	return (__u32)word == 0;
}

/* Reads a word of an object. A compressed one has the lower half of a pointer, whose upper half is
 * that of the object, or a small integer. */
static __always_inline bool read_field(const struct v8_layout *layout, __u64 object, __u16 offset,
				       __u64 *ret_word)
{
	__u64 address = object - V8_OBJECT_TAG + offset;
	__u32 low;

	if (!layout->is_compressed)
		return read_word(address, ret_word);
	if (bpf_probe_read_user(&low, sizeof(low), (const void *)address) < 0)
		return false;
	*ret_word = low & V8_OBJECT_TAG ? (object & ~0xffffffffULL) | low : low;
	return true;
}

static __always_inline bool has_type(const struct v8_layout *layout, __u64 object, __u16 type)
{
	__u16 found;
	__u64 map;

	return is_object(object) && read_field(layout, object, 0, &map) &&
	       bpf_probe_read_user(&found, sizeof(found),
				   (const void *)(map - V8_OBJECT_TAG + layout->map_type)) == 0 &&
	       (found == type || type == V8_UNKNOWN_TYPE);
}

static __always_inline const struct v8_layout *find_layout(const struct unwind_state *state)
{
	__u32 offset = state->descriptors[RUNTIME_V8] + offsetof(struct runtime_descriptor, layout);
	const struct v8_layout *layout = arena_at(state->mapping_table, offset, 64);

	return layout && layout->kind == RUNTIME_V8 ? layout : NULL;
}

static __always_inline bool is_builtin(const struct unwind_state *state,
				       const struct v8_layout *layout)
{
	const __u64 *head = arena_at(state->mapping_table, state->descriptors[RUNTIME_V8], 8);
	__u64 offset = code_address(state) - state->range.bias;

	return head && RUNTIME_SLOT(*head) == state->range.slot &&
	       offset >= layout->builtins_start && offset < layout->builtins_end;
}

#if CFI_IS_ARM64
#define ROOT_REGISTER (CFI_X0 + 26)
#else
#define ROOT_REGISTER CFI_R13
#endif

/* Goes on in the caller; `known`: registers beside those of the frame record and the root register,
 * which the caller has too. */
static __always_inline int go_to(struct unwind_state *state, __u64 address, __u64 sp, __u32 known)
{
	if (sp <= state->regs[REG_SP])
		return UNWIND_NOT_ASCENDING;
	known |= state->known & REGISTER_BIT(ROOT_REGISTER);
	return return_to(state, address, sp, KNOWN_BY_RECORD | known);
}

#if CFI_IS_ARM64
#include "bpf/v8_code_arm64.bpf.h"
#else
#include "bpf/v8_code_x86.bpf.h"
#endif

/* Finds the SharedFunctionInfo of a function, and the check of its tag. */
static __always_inline bool find_shared(const struct v8_layout *layout, __u64 function,
					__u64 *ret_shared, __u16 *ret_check)
{
	__u64 words[V8_CHECK_WORDS];

	if (!is_object(function) ||
	    !read_field(layout, function, layout->function_shared, ret_shared) ||
	    !has_type(layout, *ret_shared, layout->shared_type) ||
	    bpf_probe_read_user(
		    words, sizeof(words),
		    (const void *)(*ret_shared - V8_OBJECT_TAG + layout->shared_check)) < 0)
		return false;
	*ret_check = runtime_check(v8_check_bytes(words[0], words[1]));
	return true;
}

/* Puts a mark in the place of a function that cannot be named. */
static __always_inline void mark_frame(struct scratch *scratch)
{
	drop_frame(scratch);
	push_mark(scratch, RUNTIME_MARK_V8_COMPRESSED);
	scratch->unwind.nr_native = 0;
}

/* Returns the upper half of the address of the trusted cage; 0 if it is not known. The root
 * register is the same in all code that V8 makes. */
static __always_inline __u64 trusted_half(const struct unwind_state *state,
					  const struct v8_layout *layout)
{
	__u64 cage;

	if (layout->trusted_cage == 0 || !(state->known & REGISTER_BIT(ROOT_REGISTER)) ||
	    !read_word(state->regs[ROOT_REGISTER] + layout->trusted_cage, &cage))
		return 0;
	return (__u32)cage == 0 ? cage >> 32 : 0;
}

/* Gives the frame of compiled code its words. */
static __always_inline void name_code(struct scratch *scratch, const struct v8_layout *layout,
				      __u64 function)
{
	struct unwind_state *state = &scratch->unwind;
	__u64 address = state->is_call ? state->ip : state->ip + 1, shared;
	__u16 check;

	if (layout->is_marked && is_object(function))
		mark_frame(scratch);
	if (layout->is_marked || !find_shared(layout, function, &shared, &check))
		return;
	name_frame(scratch, RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, check, trusted_half(state, layout)),
		   address);
	push_word(&scratch->event, shared);
}

static __always_inline bool read_length(const struct v8_layout *layout, __u64 array,
					__u64 *ret_length)
{
	__u64 word;

	return is_object(array) && read_field(layout, array, layout->bytecode_length, &word) &&
	       take_smi(layout, word, ret_length);
}

/* Returns the offset of the bytecode that an interpreted frame executes. The frame has that of its
 * last call, `saved`; it is in a register while the leaf executes a bytecode, if another one still
 * has the array. */
static __always_inline __u64 bytecode_offset(const struct unwind_state *state,
					     const struct v8_layout *layout, __u64 array,
					     __u64 saved)
{
	__u64 length;

	if ((state->known & INTERPRETER_REGISTERS) != INTERPRETER_REGISTERS ||
	    state->regs[ARRAY_REGISTER] != array || !read_length(layout, array, &length))
		return saved;
	return state->regs[OFFSET_REGISTER] < MAX_ARRAY_HEAD + length ? state->regs[OFFSET_REGISTER]
								      : saved;
}

/* Returns whether a frame is the interpreter's, and sets the offset that it has. A builtin's frame
 * may have any words in these places. Where the type is not known, the length of the array must be
 * one that has the offset. The Map of an array with compressed pointers may be in another cage. */
static __always_inline bool has_bytecode(const struct v8_layout *layout, const __u64 *frame,
					 __u64 *ret_offset)
{
	__u64 array = frame[SLOT(V8_FRAME_BYTECODE_ARRAY)], length;

	if (!take_smi(layout, frame[SLOT(V8_FRAME_BYTECODE_OFFSET)], ret_offset) ||
	    (!layout->is_compressed && !has_type(layout, array, layout->bytecode_type)))
		return false;
	if (layout->bytecode_type != V8_UNKNOWN_TYPE)
		return true;
	return read_length(layout, array, &length) && length > 0 &&
	       *ret_offset >= MIN_BYTECODE_OFFSET && *ret_offset < MAX_ARRAY_HEAD + length;
}

/* The same where nothing of the array is known. */
static __always_inline bool is_bytecode_marked(const struct v8_layout *layout, const __u64 *frame)
{
	__u64 offset;

	return take_smi(layout, frame[SLOT(V8_FRAME_BYTECODE_OFFSET)], &offset) && offset > 0 &&
	       is_object(frame[SLOT(V8_FRAME_FUNCTION)]) &&
	       is_object(frame[SLOT(V8_FRAME_BYTECODE_ARRAY)]);
}

/* Gives the frame of the interpreter its words. */
static __always_inline void name_bytecode(struct scratch *scratch, const struct v8_layout *layout,
					  const __u64 *frame)
{
	__u64 array = frame[SLOT(V8_FRAME_BYTECODE_ARRAY)], offset, shared;
	__u16 check;

	if (layout->is_marked) {
		if (is_bytecode_marked(layout, frame))
			mark_frame(scratch);
		return;
	}
	if (!has_bytecode(layout, frame, &offset) ||
	    !find_shared(layout, frame[SLOT(V8_FRAME_FUNCTION)], &shared, &check))
		return;
	offset = bytecode_offset(&scratch->unwind, layout, array, offset);
	if (!layout->is_compressed) {
		name_frame(scratch, RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check, offset), shared);
		return;
	}
	name_frame(scratch, RUNTIME_TAG(RUNTIME_FRAME_V8_ARRAY, check, offset), array);
	push_word(&scratch->event, shared);
}

/* Gives a frame its words, and goes on at its caller. `phase` is PHASE_FRAME or PHASE_UNFILLED. */
__noinline int v8_step_by_frame(__u32 phase, __u32 is_of_file)
{
	struct scratch *scratch = get_scratch();
	__u64 frame[FRAME_WORDS], fp, context;
	const struct v8_layout *layout;
	__u32 known = 0;
	int result;

	if (!scratch)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	fp = state->regs[REG_FP];
	layout = find_layout(state);
	if (!layout || !(state->known & REGISTER_BIT(REG_FP)) || fp & 7 ||
	    fp < state->regs[REG_SP] ||
	    bpf_probe_read_user(frame, sizeof(frame),
				(const void *)(fp - FRAME_BOTTOM * sizeof(__u64))) < 0)
		return RUNTIME_ELSEWHERE;
	context = frame[SLOT(V8_FRAME_CONTEXT)];
	if (phase == PHASE_UNFILLED)
		name_code(scratch, layout, state->regs[FUNCTION_REGISTER]);
	else if (context == V8_MARKER_ENTRY || context == V8_MARKER_CONSTRUCT_ENTRY)
		known = restore_entry(state);
	else if (is_object(context) && is_of_file)
		name_bytecode(scratch, layout, frame);
	else if (is_object(context))
		name_code(scratch, layout, frame[SLOT(V8_FRAME_FUNCTION)]);
	result = go_to(state, frame[FRAME_RETURN], fp + 2 * sizeof(__u64), known);
	if (result == GOES_ON)
		state->regs[REG_FP] = frame[FRAME_FP];
	return result;
}

static __always_inline int step_in_code(struct scratch *scratch, const struct v8_layout *layout)
{
	struct unwind_state *state = &scratch->unwind;
	enum v8_phase phase = find_phase(state);

	switch (phase) {
	case PHASE_ENTERED:
		name_code(scratch, layout, state->regs[FUNCTION_REGISTER]);
		return go_by_return_address(state);
	case PHASE_PUSHED:
		name_code(scratch, layout, state->regs[FUNCTION_REGISTER]);
		return go_by_pushed(state);
	case PHASE_LEFT:
		name_code(scratch, layout, find_left_function(state));
		return go_by_return_address(state);
	case PHASE_DROPPED:
		return go_by_return_address(state);
	default:
		return v8_step_by_frame(phase, false);
	}
}

/* A leaf without a frame has its return address on top of the stack. Rows say so, of a scan of the
 * code, as for handlers of bytecodes; or else its code does. */
static __always_inline int step_in_builtin(struct unwind_state *state)
{
	enum v8_phase phase = PHASE_FRAME;

	if (!state->is_call)
		phase = is_first_rule(&state->rule) ? PHASE_ENTERED : find_builtin_phase(state);
	if (phase == PHASE_PUSHED)
		return go_by_pushed(state);
	if (phase != PHASE_FRAME)
		return go_by_return_address(state);
	return v8_step_by_frame(PHASE_FRAME, true);
}

__noinline int v8_step(void)
{
	struct scratch *scratch = get_scratch();
	const struct v8_layout *layout;

	if (!scratch)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	layout = find_layout(state);
	if (!layout)
		return RUNTIME_ELSEWHERE;
	if (state->range.slot == 0)
		return step_in_code(scratch, layout);
	return is_builtin(state, layout) ? step_in_builtin(state) : RUNTIME_ELSEWHERE;
}
