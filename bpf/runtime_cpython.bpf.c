/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Follows the frames of CPython and puts them among the native frames of a stack.
 *
 * A thread's Python frames are a linked list on the heap, the *chain*. Each call of the eval loop
 * by C code has a part of it, a *segment*, and one native frame. That native frame holds something
 * whose address the chain has (shared/runtime_cpython.h), so the segment takes its place. No symbol
 * of the eval loop is needed, and C functions between two segments stay where they are.
 *
 *	chain:	f3 ─▶ f2 ─▶ shim ─▶ f1 ─▶ shim           native:  memcpy, eval, map_next, eval, main
 *	              on the stack ┘         └ on the stack           │              │
 *	stack:	memcpy, f3, f2, map_next, f1, main  ◀────────────────┴──────────────┘
 *
 * Called by unwind_native.bpf.c. Maps: scratch_of_cpu, python_chains, arena.
 * Limits: PYTHON_SEGMENT_MAX_FRAMES frames of a segment, MAX_USER_FRAMES of a stack.
 *
 * The thread state is where the agent has learned it is. It counts only if it names this thread, so
 * that a wrong place cannot make up a stack.
 *
 * A thread has a state in each interpreter that it was in. Up to 3.11, the place has that of the
 * first interpreter. The state of the thread that holds the GIL, whichever that is, is in
 * _PyRuntime.gilstate.tstate_current. From 3.10 on, a state refers to a _PyCFrame on the stack of
 * the thread that runs it. Before, its thread_id must do, which is that of the thread that made it.
 */
#include "bpf/arch.bpf.h"
#include "bpf/frames.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/user_memory.bpf.h"

#define CODE_TAG_BITS 7ULL /* of a _PyStackRef */
#define SEGMENT_ROUNDS 32 /* times FRAMES_PER_ROUND: PYTHON_SEGMENT_MAX_FRAMES */
#define FRAMES_PER_ROUND 32

_Static_assert(SEGMENT_ROUNDS *FRAMES_PER_ROUND == PYTHON_SEGMENT_MAX_FRAMES, "all of a segment");

/* Returns the thread pointer of the current task. */
static __always_inline __u64 thread_pointer(void)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();
	unsigned long tp = 0;

#if CFI_IS_ARM64
	bpf_core_read(&tp, sizeof(tp), &task->thread.uw.tp_value);
#else
	bpf_core_read(&tp, sizeof(tp), &task->thread.fsbase);
#endif
	return tp;
}

/* Finds the thread state. Returns false if it cannot be read; 0 is no state, as in a thread that
 * never ran Python. */
static __always_inline bool find_thread_state(const struct cpython_layout *layout, __u64 self,
					      __u64 *ret_state)
{
	__u64 word = self;

	for (int i = 0; i < CPYTHON_MAX_PLACE; i++) {
		if (i >= layout->nr_place)
			break;
		if (!read_word(word + (__s64)layout->place[i], &word))
			return false;
		if (word == 0)
			break;
	}
	*ret_state = word;
	return true;
}

/* Returns whether a state is this thread's. */
static __always_inline bool is_own_state(const struct cpython_layout *layout, __u64 self,
					 __u64 state)
{
	__u64 thread = 0;

	return state != 0 && read_word(state + layout->thread_id, &thread) && thread == self;
}

/* Returns whether this thread runs a state. `sp` is its stack pointer. The C libraries put the
 * thread pointer above the stack of a thread, but below that of the first one. */
static __always_inline bool runs_state(const struct cpython_layout *layout, __u64 self, __u64 sp,
				       __u64 state)
{
	__u64 cframe;

	if (state == 0)
		return false;
	if (layout->cframe == CPYTHON_NONE)
		return is_own_state(layout, self, state);
	return read_word(state + layout->cframe, &cframe) && cframe >= sp &&
	       (self < sp || cframe < self);
}

/* Returns whether a thread that has no known state may run in an interpreter that is not that of
 * its own state: if there are several. Frames of 3.11 have addresses on the stack, so those of the
 * wrong state take no other frame's place. */
static __always_inline bool is_doubtful(const struct cpython_layout *layout, __u64 runtime)
{
	__u64 interpreters[2] = { 0 }; /* the newest one, and the first one */

	if (layout->chain != CPYTHON_CHAIN_BY_CODE)
		return false;
	return bpf_probe_read_user(interpreters, sizeof(interpreters),
				   (const void *)(runtime + layout->interpreters)) < 0 ||
	       interpreters[0] != interpreters[1];
}

static __always_inline bool find_runtime(const struct python_chain *chain, __u64 state,
					 __u64 *ret_runtime)
{
	__u64 interpreter;

	*ret_runtime = chain->runtime;
	if (chain->runtime != 0)
		return true;
	return read_word(state + chain->layout.interpreter, &interpreter) &&
	       read_word(interpreter + chain->layout.runtime, ret_runtime);
}

/* Replaces the thread's own state by that in which it runs. Returns false if that is not known. */
static __always_inline bool find_running_state(struct python_chain *chain, __u64 self, __u64 sp,
					       __u64 *state)
{
	const struct cpython_layout *layout = &chain->layout;
	__u64 runtime, current;

	if (layout->current == 0 || (layout->interpreter == 0 && chain->runtime == 0))
		return true;
	if (!find_runtime(chain, *state, &runtime) ||
	    !read_word(runtime + layout->current, &current))
		return false;
	if (runs_state(layout, self, sp, current))
		*state = current;
	else
		chain->is_doubtful = is_doubtful(layout, runtime);
	return true;
}

/* Reads where the chain begins. */
static __always_inline bool find_first_frame(struct python_chain *chain, __u64 state)
{
	const struct cpython_layout *layout = &chain->layout;
	__u64 from = state;

	chain->cframe = 0;
	if (layout->chain != CPYTHON_CHAIN_BY_CODE && layout->cframe != CPYTHON_NONE) {
		if (!read_word(state + layout->cframe, &chain->cframe))
			return false;
		from = chain->cframe;
	}
	return read_word(from + layout->frame, &chain->frame);
}

static __always_inline int begin_chain(struct python_chain *chain, __u64 sp)
{
	const struct cpython_layout *layout = &chain->layout;
	__u64 self = thread_pointer() - layout->block_bytes, state;

	if (!find_thread_state(layout, self, &state))
		return PYTHON_UNREADABLE;
	if (state == 0)
		return PYTHON_OVER;
	if (!is_own_state(layout, self, state) || !find_running_state(chain, self, sp, &state))
		return PYTHON_UNREADABLE;
	return find_first_frame(chain, state) ? PYTHON_FOLLOWED : PYTHON_UNREADABLE;
}

static __always_inline __u64 raw_word(const struct python_chain *chain, __u8 offset)
{
	return chain->raw[offset / 8 % PYTHON_FRAME_MAX_WORDS];
}

/* Returns the position in the bytecode, in code units: negative before the first instruction, and
 * in a copy of the bytecode that a thread of a free-threaded build has. */
static __always_inline __u64 find_position(const struct python_chain *chain, __u64 code)
{
	const struct cpython_layout *layout = &chain->layout;
	__u64 word = raw_word(chain, layout->instr);
	__u64 bytecode = code + layout->bytecode;

	if (layout->instr_kind == CPYTHON_INSTR_POINTER)
		return (__u64)((__s64)(word - bytecode) >> 1);
	/* An int, which may be the upper half of the word. */
	word = (__u64)((__s64)(layout->instr & 4 ? word : word << 32) >> 32);
	return layout->instr_kind == CPYTHON_INSTR_BYTES ? (__u64)((__s64)word >> 1) : word;
}

/* Appends the frame that was read to the segment. The check of a code object that cannot be read
 * is 0. One without a first line and without variables is a trampoline, which tracebacks leave out:
 * _Py_InitCleanup, through which __init__() is called from 3.13 on. */
static __always_inline void keep_frame(struct python_chain *chain, bool is_young)
{
	__u64 code = raw_word(chain, chain->layout.code) & ~CODE_TAG_BITS;
	__u64 check[RUNTIME_CHECK_WORDS];
	__u32 n = chain->nr_words;
	__u16 sum = 0;

	if (n > PYTHON_SEGMENT_MAX_WORDS - 2)
		return;
	if (bpf_probe_read_user(check, sizeof(check), (const void *)(code + chain->layout.check)) ==
	    0) {
		if (check[0] == 0)
			return;
		sum = runtime_check_words(check);
	}
	if (is_young)
		python_copy_code(code, sum);
	chain->words[n] = RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, sum, find_position(chain, code));
	chain->words[n + 1] = code;
	chain->nr_words = n + 2;
}

static __always_inline __u8 owner_of(const struct python_chain *chain)
{
	__u8 owner = chain->layout.owner;

	return (__u8)(raw_word(chain, owner) >> 8 * (owner & 7));
}

/* Reads the next frame of the segment. Returns whether it goes on. */
__noinline int python_read_frame(void)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (!scratch || !chain)
		return false;
	__u32 bytes = chain->layout.frame_bytes & (sizeof(chain->raw) - 1);
	__u64 frame = chain->frame;

	if (frame == 0)
		return false;
	chain->frame = 0;
	if (bpf_probe_read_user(chain->raw, bytes, (const void *)frame) < 0) {
		scratch->unwind.python = PYTHON_UNREADABLE;
		return false;
	}
	chain->frame = raw_word(chain, chain->layout.previous);
	if (chain->layout.chain == CPYTHON_CHAIN_BY_SHIM &&
	    owner_of(chain) >= chain->layout.shim_owner) {
		chain->boundary = frame;
		return false;
	}
	keep_frame(chain, scratch->unwind.is_young);
	if (chain->layout.chain == CPYTHON_CHAIN_BY_CODE)
		return false;
	if (chain->layout.chain == CPYTHON_CHAIN_BY_CFRAME && owner_of(chain) != 0)
		return false;
	return true;
}

__noinline int python_read_frames(void)
{
	for (int i = 0; i < FRAMES_PER_ROUND; i++)
		if (!python_read_frame())
			return false;
	return true;
}

/* Reads the next segment. */
__noinline int python_read_segment(void)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (!scratch || !chain)
		return 0;
	chain->nr_words = 0;
	chain->boundary = chain->cframe;
	for (int i = 0; i < SEGMENT_ROUNDS; i++)
		if (!python_read_frames())
			break;
	if (scratch->unwind.python == PYTHON_UNREADABLE)
		push_mark(scratch, RUNTIME_MARK_PYTHON_UNREADABLE);
	else if (chain->nr_words >= PYTHON_SEGMENT_MAX_WORDS)
		scratch->unwind.python = PYTHON_TOO_DEEP;
	else if (chain->nr_words == 0 && chain->frame == 0)
		scratch->unwind.python = PYTHON_OVER;
	return 0;
}

/* Returns the address of _PyRuntime in the words before the layout of a descriptor; 0 if it is not
 * there, or if the layout is that of a file. */
static __always_inline __u64 read_runtime(__u32 unit, __u32 offset)
{
	const __u64 *word;

	if (offset < offsetof(struct runtime_descriptor, layout))
		return 0;
	word = arena_at(unit,
			offset - offsetof(struct runtime_descriptor, layout) +
				offsetof(struct runtime_process, words[CPYTHON_WORD_RUNTIME]),
			8);
	return word ? *word : 0;
}

__noinline int python_begin(__u32 unit, __u32 offset)
{
	const struct cpython_layout *layout = arena_at(unit, offset, 64);
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (!scratch || !chain || !layout)
		return 0;
	chain->layout = *layout;
	chain->runtime = read_runtime(unit, offset);
	chain->is_doubtful = false;
	scratch->unwind.python = PYTHON_OVER;
	if (layout->kind != RUNTIME_CPYTHON)
		return 0;
	scratch->unwind.python = begin_chain(chain, scratch->unwind.regs[REG_SP]);
	if (scratch->unwind.python == PYTHON_FOLLOWED)
		python_read_segment();
	else if (scratch->unwind.python == PYTHON_UNREADABLE)
		push_mark(scratch, RUNTIME_MARK_PYTHON_UNREADABLE);
	return 0;
}

/* Copies words of the segment, as many as may be copied at once, to the end of the event. Returns
 * their number. */
static __always_inline __u32 push_words(struct sample_event *event,
					const struct python_chain *chain, __u32 from, __u32 nr)
{
	__u32 index = (__u32)event->nr_kernel + event->nr_user;

	__u64 bytes;

	if (nr > FRAMES_MAX_COPY)
		nr = FRAMES_MAX_COPY;
	/* The verifier of old kernels must see this number itself compared. */
	bytes = nr * sizeof(__u64);
	barrier_var(bytes);
	if (index >= MAX_FRAMES || from > PYTHON_SEGMENT_MAX_WORDS - FRAMES_MAX_COPY ||
	    bytes > FRAMES_MAX_COPY * sizeof(__u64))
		return 0;
	bpf_probe_read_kernel(&event->frames[index], bytes, &chain->words[from]);
	event->nr_user += nr;
	return nr;
}

/* Appends the segment's frames, as many as there is room for. */
static __always_inline void push_segment(struct scratch *scratch, struct python_chain *chain,
					 __u64 flags)
{
	__u32 room = MAX_USER_FRAMES - scratch->unwind.nr_frames;
	__u32 nr_frames = chain->nr_words / 2, left;

	if (nr_frames > room) {
		scratch->unwind.python = PYTHON_TOO_DEEP;
		nr_frames = room;
	}
	if (nr_frames == 0 || nr_frames > MAX_USER_FRAMES)
		return;
	left = 2 * nr_frames;
	chain->words[0] |= flags;
	for (__u32 i = 0; i < PYTHON_SEGMENT_MAX_WORDS / FRAMES_MAX_COPY; i++)
		left -= push_words(&scratch->event, chain, i * FRAMES_MAX_COPY, left);
	scratch->unwind.nr_frames += nr_frames;
	scratch->unwind.nr_native = 0;
}

/* Goes on with the next segment. */
static __always_inline void next_segment(struct scratch *scratch, struct python_chain *chain)
{
	if (chain->layout.chain == CPYTHON_CHAIN_BY_CFRAME &&
	    !read_word(chain->cframe + chain->layout.cframe_previous, &chain->cframe))
		chain->frame = 0;
	if (scratch->unwind.python == PYTHON_FOLLOWED)
		python_read_segment();
}

/* Returns whether an offset in the file is in the code of the eval loop. */
static __always_inline bool is_in_eval(const struct cpython_layout *layout, __u64 offset)
{
	return (offset >= layout->eval[0] && offset < layout->eval[1]) ||
	       (offset >= layout->eval[2] && offset < layout->eval[3]);
}

/* Returns whether the native frame is that of the eval loop to which the segment belongs. */
static __always_inline bool is_of_segment(const struct scratch *scratch,
					  const struct python_chain *chain, __u64 sp, __u64 offset)
{
	if (chain->layout.chain == CPYTHON_CHAIN_BY_CODE)
		return offset != 0 && is_in_eval(&chain->layout, offset);
	return chain->boundary >= sp && chain->boundary < scratch->unwind.regs[REG_SP];
}

__noinline int python_splice(__u64 sp, __u64 offset)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();
	__u64 dropped;

	if (!scratch || !chain)
		return 0;
	if (!is_of_segment(scratch, chain, sp, offset))
		return 0;
	if (chain->is_doubtful) {
		scratch->unwind.python = PYTHON_UNREADABLE;
		push_mark(scratch, RUNTIME_MARK_PYTHON_UNREADABLE);
		return 0;
	}
	dropped = drop_frame(scratch);
	if (chain->layout.drops_handler && scratch->unwind.nr_native > 0)
		dropped = drop_frame(scratch);
	push_segment(scratch, chain, dropped & FRAME_INTERRUPTED);
	next_segment(scratch, chain);
	return 0;
}

__noinline int python_cut(void)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (scratch && chain)
		push_segment(scratch, chain, 0);
	return 0;
}

/* Appends the segment that was read, and reads the next one. Returns whether there is one. */
__noinline int python_flush_segment(void)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (!scratch || !chain || scratch->unwind.python != PYTHON_FOLLOWED)
		return false;
	push_segment(scratch, chain, 0);
	next_segment(scratch, chain);
	return true;
}

__noinline int python_end(int is_complete)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();

	if (!scratch || !chain || scratch->unwind.python != PYTHON_FOLLOWED || chain->is_doubtful)
		return 0;
	if (is_complete)
		push_mark(scratch, RUNTIME_MARK_PYTHON_APART);
	for (int i = 0; i < MAX_USER_FRAMES; i++)
		if (!python_flush_segment())
			break;
	return 0;
}
