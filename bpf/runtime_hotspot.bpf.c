/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Steps over frames in the code caches of a HotSpot JVM, one at a time, and gives them their
 * words.
 *
 * The segment map of a code cache leads from an address to the *blob* that has it: a compiled
 * method (nmethod), the interpreter, or stubs. The blob's kind decides what its frames look like:
 *
 *	nmethod		the stack pointer plus a fixed size is the caller's; within the prologue and
 *			the epilogue, which only the leaf can be in, the code there decides
 *	interpreter	a frame pointer, with the method, the bytecode and the caller's stack pointer
 *			at fixed places below it
 *	call stub	a frame pointer, with the registers of the native caller below it
 *	other stubs	a return address on top of the stack, or a frame pointer
 *
 * Called by unwind_native.bpf.c, on this CPU's scratch record. Maps: scratch_of_cpu,
 * hotspot_frames, arena. Where something cannot be read or does not fit, the step is left to the
 * frame pointer.
 *
 * The steps themselves, and their sources, are in hotspot_x86.bpf.h and hotspot_arm64.bpf.h. */
#include "bpf/arch.bpf.h"
#include "bpf/frames.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/step.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/user_memory.bpf.h"

#if CFI_IS_ARM64
#include "bpf/hotspot_code_arm64.bpf.h"
#define THREAD_REGISTER (CFI_X0 + 28)
#else
#include "bpf/hotspot_code.bpf.h"
#define THREAD_REGISTER CFI_R15
#endif

#define SEGMENT_FREE 0xff
#define MAX_SEGMENT_STEPS 16 /* each of them back by up to 254 segments */

/* The first eight bytes of the names of blobs. */
#define NAME_NMETHOD 0x00646f6874656d6eULL /* "nmethod" */
#define NAME_NATIVE 0x6e2065766974616eULL /* "native nmethod" */
#define NAME_INTERPRETER 0x6572707265746e49ULL /* "Interpreter" */

#define NAME_STUBS 0x74756f5262757453ULL /* "StubRoutines (continuationstubs)" and others */
#define NAME_STUBS_KIND 14
#define NAME_CONTINUATION 0x6e69746e6f63ULL /* "contin", from there on */

#define MAX_FRAME_WORDS (1 << 20)
#define MAX_PENDING_BYTES (64 << 10) /* of arguments, while an interpreted frame is being made */

/* Places in an interpreted frame, in words from the bottom of what is read of it. */
enum {
	INTERPRETED_BOTTOM = 9, /* words below the frame pointer */
	INTERPRETED_METHOD = 6,
	INTERPRETED_SENDER_SP = 8,
	INTERPRETED_FP = 9,
	INTERPRETED_RETURN = 10,
	INTERPRETED_WORDS = 11,
};

/* Places in the frame of the call stub. */
enum {
	CALL_STUB_BOTTOM = 11,
	CALL_STUB_R15 = 0,
	CALL_STUB_R14,
	CALL_STUB_R13,
	CALL_STUB_R12,
	CALL_STUB_RBX,
	CALL_STUB_FP = 11,
	CALL_STUB_RETURN,
	CALL_STUB_WORDS,
};

#define STUB_STACK_WORDS 8 /* among which a return address is searched */
#define PUSHED_STACK_WORDS 12 /* the same, in a frame onto which registers may be pushed */
#define PUSHED_SP_WORDS 6 /* among which a pushed stack pointer is searched */
#define CODE_BEFORE 8 /* bytes of code that are read before the address of the leaf */

/* Copies the descriptor and the layout from the arena, unless they are those of the last frame. */
static __always_inline bool load_descriptor(const struct unwind_state *state,
					    struct hotspot_frame *frame)
{
	__u32 offset = state->descriptors[RUNTIME_HOTSPOT];
	const struct hotspot_layout *layout;

	if (frame->mapping_table_id == state->mapping_table_id && frame->mapping_table_id != 0)
		return true;
	frame->mapping_table_id = 0;
	for (int i = 0; i < RUNTIME_MAX_CODE; i++) {
		__u32 place = offset + offsetof(struct runtime_descriptor, process.code) +
			      i * sizeof(struct runtime_code);
		const struct runtime_code *code = arena_at(state->mapping_table, place, 32);

		if (!code)
			return false;
		frame->heaps[i] = *code;
	}
	const __u64 *words = arena_at(state->mapping_table,
				      offset + offsetof(struct runtime_descriptor, process.words),
				      8);
	layout = arena_at(state->mapping_table,
			  offset + offsetof(struct runtime_descriptor, layout), 64);
	if (!words || !layout || layout->kind != RUNTIME_HOTSPOT)
		return false;
	frame->call_stub = words[HOTSPOT_WORD_CALL_STUB];
	frame->layout = *layout;
	frame->mapping_table_id = state->mapping_table_id;
	return true;
}

/* Returns the code cache that an address is in; RUNTIME_MAX_CODE if it is in none. */
static __always_inline __u32 find_heap(const struct hotspot_frame *frame, __u64 address)
{
	__u32 found = RUNTIME_MAX_CODE;

	for (__u32 i = 0; i < RUNTIME_MAX_CODE; i++)
		if (address >= frame->heaps[i].start && address < frame->heaps[i].end)
			found = i;
	return found;
}

static __always_inline bool is_in_code(const struct hotspot_frame *frame, __u64 address)
{
	return find_heap(frame, address) < RUNTIME_MAX_CODE;
}

/* Finds the blob that has an address of a code cache. A byte of the segment map is the distance to
 * an earlier segment of the same blob, and 0 where the blob begins. */
__noinline int hotspot_find_blob(__u64 address, __u32 heap)
{
	struct hotspot_frame *frame = get_hotspot_frame();

	if (!frame || heap >= RUNTIME_MAX_CODE)
		return false;
	__u8 shift = frame->layout.log2_segment & 31;
	__u64 start = frame->heaps[heap].start, map = frame->heaps[heap].data;
	__u64 segment = (address - start) >> shift;

	for (int i = 0; i < MAX_SEGMENT_STEPS; i++) {
		__u8 distance = SEGMENT_FREE;

		if (bpf_probe_read_user(&distance, sizeof(distance), (const void *)(map + segment)))
			return false;
		if (distance == 0) {
			frame->blob = start + (segment << shift) + frame->layout.heap_block;
			return true;
		}
		if (distance == SEGMENT_FREE || distance > segment)
			return false;
		segment -= distance;
	}
	return false;
}

static __always_inline __u64 raw_word(const struct hotspot_frame *frame, __u16 offset)
{
	return frame->raw[offset / 8 % HOTSPOT_RAW_WORDS];
}

static __always_inline __s32 raw_s32(const struct hotspot_frame *frame, __u16 offset)
{
	return (__s32)(raw_word(frame, offset) >> 8 * (offset & 4));
}

/* Reads what all blobs have. */
static __always_inline bool read_blob(struct hotspot_frame *frame)
{
	const struct hotspot_layout *layout = &frame->layout;

	if (bpf_probe_read_user(frame->raw, sizeof(frame->raw), (const void *)frame->blob) < 0)
		return false;
	frame->name = raw_word(frame, layout->name);
	frame->frame_size = raw_s32(frame, layout->frame_size);
	frame->frame_complete = raw_s32(frame, layout->frame_complete);
	if (layout->frame_complete_bytes == 2)
		frame->frame_complete = (__s16)(raw_word(frame, layout->frame_complete) >>
						8 * (layout->frame_complete & 6));
	frame->code = layout->is_code_pointer ? raw_word(frame, layout->code)
					      : frame->blob + raw_s32(frame, layout->code);
	return read_word(frame->name, &frame->name_start);
}

/* Gives the frame the words of compiled code. */
static __always_inline void name_code(struct scratch *scratch, const struct hotspot_frame *frame,
				      __u16 compile_id)
{
	__u64 offset = code_address(&scratch->unwind) - frame->code;

	name_frame(scratch, RUNTIME_TAG(RUNTIME_FRAME_JVM_COMPILED, compile_id, offset),
		   frame->blob);
}

/* Goes on in the caller; `known`: registers beside those of the frame record. The thread is in the
 * same register everywhere in Java code. */
static __always_inline int go_to(struct unwind_state *state, __u64 address, __u64 sp, __u32 known)
{
	known |= KNOWN_BY_RECORD | (state->known & REGISTER_BIT(THREAD_REGISTER));
	if (sp <= state->regs[REG_SP])
		return UNWIND_NOT_ASCENDING;
	return return_to(state, address, sp, known);
}

/* Goes on at a frame record: the saved frame pointer, and above it the return address. */
static __always_inline int go_by_record(struct unwind_state *state, __u64 place)
{
	__u64 record[2];
	int result;

	if (place < state->regs[REG_SP] ||
	    bpf_probe_read_user(record, sizeof(record), (const void *)place) < 0)
		return RUNTIME_ELSEWHERE;
	result = go_to(state, record[1], place + sizeof(record), REGISTER_BIT(REG_SP));
	if (result == GOES_ON)
		state->regs[REG_FP] = record[0];
	return result;
}

/* Finds where deoptimized code would go on: its return address was replaced by that of a
 * handler. */
static __always_inline void undo_deoptimization(struct unwind_state *state,
						const struct hotspot_frame *frame)
{
	const struct hotspot_layout *layout = &frame->layout;
	__u64 handler = 0, ip;
	__s32 offset = 0;

	if (layout->deopt == HOTSPOT_NONE || !state->is_call)
		return;
	if (layout->is_deopt_pointer) {
		if (!read_word(frame->blob + layout->deopt, &handler))
			return;
	} else {
		if (bpf_probe_read_user(&offset, sizeof(offset),
					(const void *)(frame->blob + layout->deopt)) < 0)
			return;
		handler = frame->blob + offset;
	}
	if (state->ip != handler)
		return;
	offset = 0;
	if (bpf_probe_read_user(&offset, sizeof(offset),
				(const void *)(frame->blob + layout->orig_pc)) == 0 &&
	    read_word(state->regs[REG_SP] + offset, &ip) && is_in_code(frame, ip))
		state->ip = ip;
}

/* Gives an nmethod's frame its words. */
__noinline int hotspot_name_nmethod(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u32 compile_id = 0;

	if (!scratch || !frame)
		return 0;
	undo_deoptimization(&scratch->unwind, frame);
	(void)bpf_probe_read_user(&compile_id, sizeof(compile_id),
				  (const void *)(frame->blob + frame->layout.compile_id));
	name_code(scratch, frame, compile_id);
	return 0;
}

/* Gives an interpreted frame its words. `bcp` points to the bytecode; 0: to none. Returns false if
 * this is no method. */
static __always_inline bool name_interpreted(struct scratch *scratch,
					     const struct hotspot_frame *frame, __u64 method,
					     __u64 bcp)
{
	const struct hotspot_layout *layout = &frame->layout;
	__u64 const_method, bci;
	__u16 code_size = 0;

	if (!read_word(method + layout->const_method, &const_method) ||
	    bpf_probe_read_user(&code_size, sizeof(code_size),
				(const void *)(const_method + layout->code_size)) < 0)
		return false;
	bci = bcp - const_method - layout->const_method_bytes;
	if (bci >= code_size)
		bci = 0;
	name_frame(scratch,
		   RUNTIME_TAG(RUNTIME_FRAME_JVM_INTERPRETED, runtime_check(const_method), bci),
		   method);
	return true;
}

/* Returns whether a frame goes on in one that was not put back on the stack yet: its return address
 * is that of a stub which does that. */
static __always_inline bool is_continuation(const struct unwind_state *state,
					    const struct hotspot_frame *frame)
{
	__u64 word;

	return state->is_call && frame->name_start == NAME_STUBS &&
	       read_word(frame->name + NAME_STUBS_KIND, &word) &&
	       word << 16 == NAME_CONTINUATION << 16;
}

/* Goes on below all frames of a virtual thread, in its carrier's. Without the place of their
 * boundary the stack ends here. */
static __always_inline int step_over_continuation(struct scratch *scratch,
						  const struct hotspot_frame *frame)
{
	const struct hotspot_layout *layout = &frame->layout;
	struct unwind_state *state = &scratch->unwind;
	__u64 entry, place, address;

	(void)drop_frame(scratch);
	push_mark(scratch, RUNTIME_MARK_CONTINUATION);
	if (layout->continuation == HOTSPOT_NONE || layout->continuation_bytes == HOTSPOT_NONE ||
	    !(state->known & REGISTER_BIT(THREAD_REGISTER)) ||
	    !read_word(state->regs[THREAD_REGISTER] + layout->continuation, &entry))
		return UNWIND_COMPLETE;
	place = entry + layout->continuation_bytes;
	if (!read_word(place + 8, &address) || !is_in_code(frame, address) ||
	    go_by_record(state, place) != GOES_ON)
		return UNWIND_COMPLETE;
	return GOES_ON;
}

#if CFI_IS_ARM64
#include "bpf/hotspot_arm64.bpf.h"
#else
#include "bpf/hotspot_x86.bpf.h"
#endif

__noinline int hotspot_step(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 address;
	__u32 heap;

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	if (!load_descriptor(state, frame))
		return RUNTIME_ELSEWHERE;
	address = code_address(state);
	heap = find_heap(frame, address);
	if (heap >= RUNTIME_MAX_CODE || !hotspot_find_blob(address, heap) || !read_blob(frame))
		return RUNTIME_ELSEWHERE;
	if (state->is_call && state->ip == frame->call_stub)
		return hotspot_step_call_stub();
	if (frame->name_start == NAME_INTERPRETER)
		return hotspot_step_interpreted();
	if (frame->name_start == NAME_NMETHOD || frame->name_start == NAME_NATIVE) {
		hotspot_name_nmethod();
		return hotspot_step_compiled();
	}
	if (frame->frame_size <= 0)
		return hotspot_step_stub();
	name_code(scratch, frame, 0);
	return hotspot_step_compiled();
}
