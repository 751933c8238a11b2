/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of runtime_v8.bpf.c for arm64.
 *
 * Compiled code makes its frame record with those of its function's words that are below it, and
 * lets fp point to it afterwards:
 *
 *	TurboFan, Maglev	stp x1, x27, [sp, #-32]!; stp x29, x30, [sp, #16]; add x29, sp, #16
 *	Sparkplug		stp x29, x30, [sp, #-16]!; mov x29, sp
 *	all, at the end		ldp x29, x30, [sp], #16; drop the arguments; ret
 *
 * Until then the return address is in lr. The steps by frame record need no stack pointer.
 *
 * Sources: src/codegen/arm64/macro-assembler-arm64.cc (Prologue, EnterFrame, LeaveFrame),
 * src/codegen/arm64/register-arm64.h, src/compiler/backend/arm64/code-generator-arm64.cc
 * (AssembleReturn). */
#ifndef BPF_V8_CODE_ARM64_BPF_H
#define BPF_V8_CODE_ARM64_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/step.bpf.h"
#include "bpf/unwind.bpf.h"

/* Registers: the function that is called; the offset of the bytecode, and the array of it. */
#define FUNCTION_REGISTER (CFI_X0 + 1)
#define OFFSET_REGISTER (CFI_X0 + 19)
#define ARRAY_REGISTER (CFI_X0 + 20)

#define WORDS_BEFORE 6 /* instructions that are read before that of the leaf */
#define CODE_WORDS 24

#define CODE_RECORD_POPPED 0xa8c17bfd /* ldp x29, x30, [sp], #16 */
#define CODE_FP_SET 0x910003fd /* mov x29, sp; with an immediate, add x29, sp, #x */
#define CODE_RET 0xd65f03c0

/* Returns whether the instruction lets fp point to the record of the function's own frame. */
static __always_inline bool makes_frame(__u32 code)
{
	return (code & 0xffc003ff) == CODE_FP_SET;
}

/* Goes on at the return address in lr, where the frame pointer is the caller's. */
static __always_inline int go_by_return_address(struct unwind_state *state)
{
	__u32 kept = REGISTER_BIT(REG_FP) | REGISTER_BIT(REG_SP) | INTERPRETER_REGISTERS;

	if (!(state->known & REGISTER_BIT(CFI_LR)))
		return RUNTIME_ELSEWHERE;
	return return_to(state, state->regs[CFI_LR], state->regs[REG_SP], state->known & kept);
}

/* There is no such place: both are stored at once. */
static __always_inline int go_by_pushed(struct unwind_state *state)
{
	return go_by_return_address(state);
}

/* Not known: arguments may be dropped since. */
static __always_inline __u64 find_left_function(const struct unwind_state *state)
{
	(void)state;
	return 0;
}

/* Tells where in compiled code the leaf is. (Unrolled: kernels before 6.12 refuse the loops that
 * clang makes of them.) */
static __always_inline enum v8_phase find_phase(const struct unwind_state *state)
{
	__u64 start = state->ip - WORDS_BEFORE * sizeof(__u32);
	__u32 code[CODE_WORDS];
	bool has_left = false, is_unfilled = false, is_entered = false, is_over = false;

	if (state->is_call || bpf_probe_read_user(code, sizeof(code), (const void *)start) < 0)
		return PHASE_FRAME;
#pragma unroll
	for (int i = 0; i < WORDS_BEFORE; i++) {
		has_left = (has_left || code[i] == CODE_RECORD_POPPED) && code[i] != CODE_RET;
		is_unfilled = is_unfilled || code[i] == CODE_FP_SET;
	}
#pragma unroll
	for (int i = WORDS_BEFORE; i < CODE_WORDS; i++) {
		is_over = is_over || code[i] == CODE_RET;
		is_entered = is_entered || (!is_over && makes_frame(code[i]));
	}
	if (has_left)
		return PHASE_LEFT;
	if (is_entered)
		return PHASE_ENTERED;
	return is_unfilled ? PHASE_UNFILLED : PHASE_FRAME;
}

/* Not known: the return address may be in lr, or in the frame. */
static __always_inline enum v8_phase find_builtin_phase(const struct unwind_state *state)
{
	(void)state;
	return PHASE_FRAME;
}

/* Rules of arm64 follow none of the other registers that C++ needs. */
static __always_inline __u32 restore_entry(struct unwind_state *state)
{
	(void)state;
	return 0;
}

#endif
