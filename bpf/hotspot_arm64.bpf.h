/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of runtime_hotspot.bpf.c for arm64, of which it is a section: steps from each kind of
 * blob.
 *
 * Sources: src/hotspot/cpu/aarch64/frame_aarch64.hpp, stubGenerator_aarch64.cpp
 * (generate_call_stub), templateInterpreterGenerator_aarch64.cpp (generate_fixed_frame),
 * interp_masm_aarch64.cpp (remove_activation), aarch64.ad (aarch64_enc_java_to_runtime). */
#ifndef BPF_HOTSPOT_ARM64_BPF_H
#define BPF_HOTSPOT_ARM64_BPF_H

/* Registers of the interpreter: the method, the stack pointer of the caller (from JDK 20 on in
 * another one), its own stack, the bytecode. */
#define METHOD_REGISTER (CFI_X0 + 12)
#define SENDER_SP_REGISTER (CFI_X0 + 13)
#define SENDER_SP_REGISTER_20 (CFI_X0 + 19)
#define STACK_REGISTER (CFI_X0 + 20)
#define BYTECODE_REGISTER (CFI_X0 + 22)

#define INTERPRETED_CODE_BEFORE 2 /* instructions that are read before that of the leaf */
#define INTERPRETED_CODE_WORDS 32
#define MAX_STUB_BYTES (64 << 10)
#define STUB_RECORD_BYTES 256 /* from the stack pointer to the frame record of a leaf */

/* Goes on at the return address in lr, where the frame pointer is the caller's. */
static __always_inline int go_by_link(struct unwind_state *state, __u64 sp)
{
	__u32 thread = state->known & REGISTER_BIT(THREAD_REGISTER);

	if (state->is_call || !(state->known & REGISTER_BIT(CFI_LR)) || sp < state->regs[REG_SP])
		return RUNTIME_ELSEWHERE;
	return return_to(state, state->regs[CFI_LR], sp,
			 KNOWN_BY_RECORD | REGISTER_BIT(REG_SP) | thread);
}

static __always_inline enum hotspot_phase find_phase(const struct unwind_state *state,
						     const struct hotspot_frame *frame)
{
	__s64 offset = (__s64)(state->ip - frame->code);
	__u64 start = state->ip - CODE_WORDS_BEFORE * sizeof(__u32);
	__u32 code[CODE_WORDS];

	if (state->is_call || bpf_probe_read_user(code, sizeof(code), (const void *)start) < 0)
		return PHASE_FRAME;
	if (frame->frame_complete < 0 || offset < frame->frame_complete)
		return phase_of_prologue(code);
	return phase_of_body(code);
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
	if (frame->frame_size < 0 || frame->frame_size > MAX_FRAME_WORDS ||
	    !(state->known & REGISTER_BIT(REG_SP)))
		return RUNTIME_ELSEWHERE;
	if (state->is_call && read_code(state->ip - 8) == CODE_BREADCRUMB)
		sp += BREADCRUMB_BYTES;
	cfa = sp + 8ULL * frame->frame_size;
	switch (find_phase(state, frame)) {
	case PHASE_BARE:
		return go_by_link(state, sp);
	case PHASE_PUSHED:
		return go_by_record(state, sp);
	case PHASE_UNSAVED:
		return go_by_link(state, cfa);
	default:
		return go_by_record(state, cfa - 16);
	}
}

/* Returns the stack pointer of the interpreter's caller, which is in a register while a frame is
 * being made. */
static __always_inline __u64 pending_sp(const struct unwind_state *state)
{
	__u64 sp = state->regs[REG_SP];
	__u64 sender = state->regs[SENDER_SP_REGISTER],
	      sender_20 = state->regs[SENDER_SP_REGISTER_20];

	if (sender >= sp && sender - sp <= MAX_PENDING_BYTES && !(sender & 15))
		return sender;
	if (sender_20 >= sp && sender_20 - sp <= MAX_PENDING_BYTES && !(sender_20 & 15))
		return sender_20;
	return sp;
}

/* Returns where the caller's stack pointer is if the leaf's frame is not made yet, or was taken
 * down; 0: the frame is there. */
static __always_inline __u64 find_sp_without_frame(struct unwind_state *state,
						   struct hotspot_frame *frame)
{
	__u64 start = state->ip - INTERPRETED_CODE_BEFORE * sizeof(__u32);
	const __u32 *code = (const __u32 *)frame->stack;
	bool is_before = false, has_left = false;
	__u64 sp = state->regs[STACK_REGISTER] & ~15ULL;

	if (state->is_call ||
	    bpf_probe_read_user(frame->stack, INTERPRETED_CODE_WORDS * 4, (const void *)start) < 0)
		return 0;
#pragma unroll
	for (int i = 0; i < INTERPRETED_CODE_BEFORE; i++)
		has_left = has_left || is_record_popped(code[i]);
#pragma unroll
	for (int i = INTERPRETED_CODE_BEFORE; i < INTERPRETED_CODE_WORDS; i++)
		is_before = is_before || is_interpreted_frame_made(code[i]);
	if (has_left)
		return sp >= state->regs[REG_SP] ? sp : state->regs[REG_SP];
	return is_before ? pending_sp(state) : 0;
}

/* Steps from the interpreter. */
__noinline int hotspot_step_interpreted(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 fp, bcp, sp;
	int result;

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	fp = state->regs[REG_FP];
	sp = find_sp_without_frame(state, frame);
	if (sp != 0) {
		if (!name_interpreted(scratch, frame, state->regs[METHOD_REGISTER], 0))
			name_code(scratch, frame, 0);
		return go_by_link(state, sp);
	}
	if (!(state->known & REGISTER_BIT(REG_FP)) || fp < state->regs[REG_SP] || fp & 7 ||
	    bpf_probe_read_user(frame->stack, INTERPRETED_WORDS * 8,
				(const void *)(fp - 8 * INTERPRETED_BOTTOM)) < 0)
		return RUNTIME_ELSEWHERE;
	bcp = frame->stack[(0U + INTERPRETED_BOTTOM - frame->layout.bcp) % HOTSPOT_STACK_WORDS];
	if (!state->is_call)
		bcp = state->regs[BYTECODE_REGISTER];
	if (!name_interpreted(scratch, frame, frame->stack[INTERPRETED_METHOD], bcp))
		return RUNTIME_ELSEWHERE;
	sp = frame->stack[INTERPRETED_SENDER_SP];
	if (sp <= fp)
		sp = fp + 16;
	result = go_to(state, frame->stack[INTERPRETED_RETURN], sp, REGISTER_BIT(REG_SP));
	if (result == GOES_ON)
		state->regs[REG_FP] = frame->stack[INTERPRETED_FP];
	return result;
}

/* Steps from the stub through which native code calls Java code. */
__noinline int hotspot_step_call_stub(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();

	if (!scratch || !frame || !(scratch->unwind.known & REGISTER_BIT(REG_FP)))
		return RUNTIME_ELSEWHERE;
	name_code(scratch, frame, 0);
	return go_by_record(&scratch->unwind, scratch->unwind.regs[REG_FP]);
}

/* Steps from a stub without a frame of a fixed size: to the frame record, if it is near and is that
 * of the stub, or else to lr. */
__noinline int hotspot_step_stub(void)
{
	struct hotspot_frame *frame = get_hotspot_frame();
	struct scratch *scratch = get_scratch();
	__u64 fp, sp, lr, record[2] = { 0, 0 };

	if (!scratch || !frame)
		return RUNTIME_ELSEWHERE;
	struct unwind_state *state = &scratch->unwind;
	if (is_continuation(state, frame))
		return step_over_continuation(scratch, frame);
	name_code(scratch, frame, 0);
	fp = state->regs[REG_FP];
	if (state->is_call)
		return state->known & REGISTER_BIT(REG_FP) ? go_by_record(state, fp)
							   : RUNTIME_ELSEWHERE;
	sp = state->regs[REG_SP];
	lr = return_address_of(state->regs[CFI_LR]);
	if (fp >= sp && fp - sp <= STUB_RECORD_BYTES)
		(void)bpf_probe_read_user(record, sizeof(record), (const void *)fp);
	if (record[1] == state->regs[CFI_LR] ||
	    (is_in_code(frame, record[1]) && lr - frame->blob < MAX_STUB_BYTES))
		return go_by_record(state, fp);
	if (is_in_code(frame, lr) || may_be_call(read_code(lr - CALL_CODE_BYTES)))
		return go_by_link(state, pending_sp(state));
	return go_by_record(state, fp);
}

#endif
