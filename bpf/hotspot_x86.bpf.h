/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of runtime_hotspot.bpf.c for x86-64, of which it is a section: steps from each kind of
 * blob.
 *
 * Sources: src/hotspot/cpu/x86/frame_x86.hpp, stubGenerator_x86_64.cpp, macroAssembler_x86.cpp
 * (verified_entry), templateInterpreterGenerator_x86.cpp, c1_Runtime1_x86.cpp
 * (generate_unwind_exception). */
#ifndef BPF_HOTSPOT_X86_BPF_H
#define BPF_HOTSPOT_X86_BPF_H

/* Goes on at a return address, where the frame pointer is the caller's. */
static __always_inline int go_by_return_address(struct unwind_state *state, __u64 place)
{
	__u64 address;
	__u32 known = state->known;
	int result;

	if (!read_word(place, &address))
		return RUNTIME_ELSEWHERE;
	result = go_to(state, address, place + sizeof(address), 0);
	if (result == GOES_ON && !(known & REGISTER_BIT(REG_FP)))
		state->known &= ~REGISTER_BIT(REG_FP);
	return result;
}

/* Steps from a stub without a frame of a fixed size that called nothing. Most have none, or begin
 * with a frame record; some push registers. */
__noinline int hotspot_step_leaf_stub(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 sp, record[2];

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	sp = state->regs[REG_SP];
	if (bpf_probe_read_user(frame->stack, STUB_STACK_WORDS * 8, (const void *)sp) < 0)
		return RUNTIME_ELSEWHERE;
	if (is_in_code(frame, frame->stack[0]))
		return go_by_return_address(state, sp);
	/* Native code calls some stubs itself, such as the one that flushes caches. */
	if (may_be_call(read_code(frame->stack[0] - CALL_CODE_BYTES)))
		return go_by_return_address(state, sp);
	if (state->regs[REG_FP] >= sp &&
	    bpf_probe_read_user(record, sizeof(record), (const void *)state->regs[REG_FP]) == 0 &&
	    is_in_code(frame, record[1]))
		return go_by_record(state, state->regs[REG_FP]);
	for (int i = 1; i < STUB_STACK_WORDS; i++)
		if (is_in_code(frame, frame->stack[i]))
			return go_by_return_address(state, sp + 8 * i);
	return RUNTIME_ELSEWHERE;
}

static __always_inline enum hotspot_phase find_phase(const struct unwind_state *state,
						     const struct hotspot_frame *frame)
{
	__s64 offset = (__s64)(state->ip - frame->code);
	__u64 code[3];

	if (state->is_call ||
	    bpf_probe_read_user(code, sizeof(code), (const void *)(state->ip - CODE_BEFORE)) < 0)
		return PHASE_FRAME;
	if ((code[1] & 0xff) == 0xc3 || (code[1] & 0xff) == 0xc2 || (code[1] & 0xff) == 0x55)
		return PHASE_BARE; /* ret, or push %rbp */
	if (frame->frame_complete < 0 || offset < frame->frame_complete)
		return phase_of_prologue(code[0], code[1]);
	return phase_of_body(code[0], code[1], code[2]);
}

static __always_inline bool is_stub(const struct hotspot_frame *frame)
{
	return frame->name_start != NAME_NMETHOD && frame->name_start != NAME_NATIVE;
}

/* Steps from the frame of a stub below `cfa`. At its end, its code takes the frame down, and then
 * looks for exceptions or where to go: the return address is on top of the stack. */
static __always_inline int step_from_stub_frame(struct unwind_state *state,
						const struct hotspot_frame *frame, __u64 cfa)
{
	__u64 sp = state->regs[REG_SP], address = 0, top = 0;

	(void)read_word(cfa - 8, &address);
	(void)read_word(sp, &top);
	if (!state->is_call && !is_in_code(frame, address) && is_in_code(frame, top))
		return go_by_return_address(state, sp);
	return go_by_record(state, cfa - 16);
}

/* Looks for the stack pointer that string_indexof() has pushed, before other registers and behind a
 * copy of a short string. Returns what the stack pointer was, or 0. */
static __always_inline __u64 find_pushed_sp(const struct unwind_state *state,
					    struct hotspot_frame *frame)
{
	__u64 sp = state->regs[REG_SP], address;

	if (bpf_probe_read_user(frame->stack, PUSHED_SP_WORDS * 8, (const void *)sp) < 0)
		return 0;
	for (int i = 0; i < PUSHED_SP_WORDS; i++) {
		__u64 word = frame->stack[i];

		if (word > sp + 8 * i && word - sp <= 8 * PUSHED_STACK_WORDS && !(word & 7) &&
		    read_word(word + 8LL * frame->frame_size - 8, &address) &&
		    is_in_code(frame, address))
			return word;
	}
	return 0;
}

/* Returns how many bytes of a compiled method's stack are no frame. Intrinsics of strings push
 * registers in the middle of it (C2_MacroAssembler::string_compare(), string_indexof()). Then the
 * return address, which is in a code cache, is that much higher. */
__noinline int hotspot_skip_pushed(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 cfa, pushed, address;

	if (!scratch || !frame || scratch->unwind.is_call)
		return 0;
	cfa = scratch->unwind.regs[REG_SP] + 8LL * frame->frame_size;
	if (!read_word(cfa - 8, &address) || is_in_code(frame, address))
		return 0;
	pushed = find_pushed_sp(&scratch->unwind, frame);
	if (pushed != 0)
		return pushed - scratch->unwind.regs[REG_SP];
	if (bpf_probe_read_user(frame->stack, PUSHED_STACK_WORDS * 8, (const void *)(cfa - 8)) < 0)
		return 0;
	for (int i = 1; i < PUSHED_STACK_WORDS; i++)
		if (is_in_code(frame, frame->stack[i]))
			return 8 * i;
	return 0;
}

/* Steps from code with a frame of a fixed size. */
__noinline int hotspot_step_compiled(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 cfa, sp;

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	sp = state->regs[REG_SP];
	if (frame->frame_size < 0 || frame->frame_size > MAX_FRAME_WORDS)
		return RUNTIME_ELSEWHERE;
	cfa = sp + 8ULL * frame->frame_size;
	switch (find_phase(state, frame)) {
	case PHASE_BARE:
		/* Stubs of the C1 compiler push all registers, and do not say where. */
		return frame->frame_complete < 0 && is_stub(frame)
			       ? hotspot_step_leaf_stub()
			       : go_by_return_address(state, sp);
	case PHASE_PUSHED:
		return go_by_record(state, sp);
	case PHASE_UNSAVED:
		return go_by_return_address(state, cfa - 8);
	default:
		if (is_stub(frame))
			return step_from_stub_frame(state, frame, cfa);
		return go_by_record(state, cfa + hotspot_skip_pushed() - 16);
	}
}

/* Returns whether an interpreted frame is about to be made: the frame pointer is still the
 * caller's. r13 is the caller's stack pointer then, above the arguments. Later it points to the
 * bytecode. */
static __always_inline bool is_before_frame(const struct unwind_state *state)
{
	__u64 r13 = state->regs[CFI_R13], sp = state->regs[REG_SP], fp = state->regs[REG_FP];

	return !state->is_call && r13 > sp && r13 - sp <= MAX_PENDING_BYTES && !(r13 & 7) &&
	       !(fp >= sp && fp < r13);
}

/* Steps from the entry of an interpreted method. The return address is on top of the stack, in
 * rax, or still where the call left it. */
static __always_inline int step_before_frame(struct scratch *scratch,
					     const struct hotspot_frame *frame)
{
	struct unwind_state *state = &scratch->unwind;
	__u64 r13 = state->regs[CFI_R13], address = 0;

	if (!name_interpreted(scratch, frame, state->regs[CFI_RBX], 0))
		name_code(scratch, frame, 0);
	(void)read_word(state->regs[REG_SP], &address);
	if (!is_in_code(frame, address))
		address = state->regs[CFI_RAX];
	if (!is_in_code(frame, address))
		(void)read_word(r13 - 8, &address);
	return is_in_code(frame, address) ? go_to(state, address, r13, 0) : RUNTIME_ELSEWHERE;
}

/* Steps from the interpreter. While the leaf's frame is being made, from the frame pointer down,
 * not all of it is there. */
__noinline int hotspot_step_interpreted(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 fp, made, bcp, method;
	int result;

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	fp = state->regs[REG_FP];
	made = fp - state->regs[REG_SP];
	if (is_before_frame(state))
		return step_before_frame(scratch, frame);
	if (!(state->known & REGISTER_BIT(REG_FP)) || fp < state->regs[REG_SP] || fp & 7 ||
	    bpf_probe_read_user(frame->stack, INTERPRETED_WORDS * 8,
				(const void *)(fp - 8 * INTERPRETED_BOTTOM)) < 0)
		return RUNTIME_ELSEWHERE;
	method = frame->stack[INTERPRETED_METHOD];
	bcp = frame->stack[(0U + INTERPRETED_BOTTOM - frame->layout.bcp) % HOTSPOT_STACK_WORDS];
	if (!state->is_call && made < 8 * frame->layout.bcp) {
		if (made < 8 * (INTERPRETED_BOTTOM - INTERPRETED_METHOD))
			method = state->regs[CFI_RBX];
		bcp = 0;
	} else if (!state->is_call) {
		bcp = state->regs[CFI_R13];
	}
	if (!name_interpreted(scratch, frame, method, bcp))
		return RUNTIME_ELSEWHERE;
	__u64 sp = made >= 8 || state->is_call ? frame->stack[INTERPRETED_SENDER_SP]
					       : state->regs[CFI_R13];
	if (sp <= fp)
		sp = fp + 16;
	result = go_to(state, frame->stack[INTERPRETED_RETURN], sp, 0);
	if (result == GOES_ON)
		state->regs[REG_FP] = frame->stack[INTERPRETED_FP];
	return result;
}

/* Steps from the stub through which native code calls Java code. It saves the registers that
 * native callers keep. */
__noinline int hotspot_step_call_stub(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 fp;
	int result;

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	fp = state->regs[REG_FP];
	name_code(scratch, frame, 0);
	if (!(state->known & REGISTER_BIT(REG_FP)) || fp < state->regs[REG_SP] || fp & 7 ||
	    bpf_probe_read_user(frame->stack, CALL_STUB_WORDS * 8,
				(const void *)(fp - 8 * CALL_STUB_BOTTOM)) < 0)
		return RUNTIME_ELSEWHERE;
	result = go_to(state, frame->stack[CALL_STUB_RETURN], fp + 16,
		       REGISTER_BIT(CFI_RBX) | REGISTER_BIT(CFI_R12) | REGISTER_BIT(CFI_R13) |
			       REGISTER_BIT(CFI_R14) | REGISTER_BIT(CFI_R15));
	if (result != GOES_ON)
		return result;
	state->regs[REG_FP] = frame->stack[CALL_STUB_FP];
	state->regs[CFI_RBX] = frame->stack[CALL_STUB_RBX];
	state->regs[CFI_R12] = frame->stack[CALL_STUB_R12];
	state->regs[CFI_R13] = frame->stack[CALL_STUB_R13];
	state->regs[CFI_R14] = frame->stack[CALL_STUB_R14];
	state->regs[CFI_R15] = frame->stack[CALL_STUB_R15];
	return GOES_ON;
}

/* Steps from a stub that has called something, for which it has made a frame record. The barrier at
 * the entry of nmethods has a cookie, -1, between that and the return address. */
static __always_inline int step_from_called_stub(struct unwind_state *state)
{
	__u64 fp = state->regs[REG_FP], words[3];
	int result;

	if (!(state->known & REGISTER_BIT(REG_FP)) ||
	    bpf_probe_read_user(words, sizeof(words), (const void *)fp) < 0 || words[1] != ~0ULL)
		return go_by_record(state, fp);
	result = go_to(state, words[2], fp + sizeof(words), 0);
	if (result == GOES_ON)
		state->regs[REG_FP] = words[0];
	return result;
}

/* Steps from a stub of the C1 compiler that has no frame of its own (its size is negative) and has
 * called something: it aligns the stack for that, above its return address. Others of these begin
 * with a frame record. */
static __always_inline int step_from_called_code(struct unwind_state *state,
						 const struct hotspot_frame *frame)
{
	__u64 sp = state->regs[REG_SP], words[2];

	if (bpf_probe_read_user(words, sizeof(words), (const void *)sp) < 0)
		return RUNTIME_ELSEWHERE;
	if (is_in_code(frame, words[0]))
		return go_by_return_address(state, sp);
	if (is_in_code(frame, words[1]))
		return go_by_return_address(state, sp + 8);
	return step_from_called_stub(state);
}

/* Steps from a stub without a frame of a fixed size. */
__noinline int hotspot_step_stub(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	if (is_continuation(state, frame))
		return step_over_continuation(scratch, frame);
	name_code(scratch, frame, 0);
	if (!state->is_call)
		return hotspot_step_leaf_stub();
	return frame->frame_size < 0 ? step_from_called_code(state, frame)
				     : step_from_called_stub(state);
}

#endif
