/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of runtime_v8.bpf.c for x86-64: where in its function a leaf is, and how it goes on to
 * the caller.
 *
 * Sources: src/builtins/x64/builtins-x64.cc (Generate_JSEntryVariant),
 * src/compiler/backend/x64/code-generator-x64.cc (AssembleReturn). */
#ifndef BPF_V8_CODE_X86_BPF_H
#define BPF_V8_CODE_X86_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/step.bpf.h"
#include "bpf/unwind.bpf.h"

/* Registers: the function that is called; the offset of the bytecode, and the array of it. */
#define FUNCTION_REGISTER CFI_RDI
#define OFFSET_REGISTER CFI_R9
#define ARRAY_REGISTER CFI_R12

/* The registers in a frame by which C++ calls generated code, from the lowest one on. */
enum { ENTRY_RBX, ENTRY_R15, ENTRY_R14, ENTRY_R13, ENTRY_R12, ENTRY_WORDS };
#define ENTRY_BOTTOM 7

#define ENTRY_REGISTERS                                                                            \
	(REGISTER_BIT(CFI_RBX) | REGISTER_BIT(CFI_R12) | REGISTER_BIT(CFI_R13) |                   \
	 REGISTER_BIT(CFI_R14) | REGISTER_BIT(CFI_R15))

#define LEFT_FUNCTION 3 /* words: the caller's frame pointer, the context and the function */

#define CODE_BEFORE 8 /* bytes of code that are read before the address of the leaf */
#define CODE_BYTES 40
#define BUILTIN_BYTES 16 /* of a builtin's code */

/* Goes on at a return address, where the frame pointer is the caller's. */
static __always_inline int go_by_return_address(struct unwind_state *state)
{
	__u64 sp = state->regs[REG_SP], address;

	if (!read_word(sp, &address))
		return RUNTIME_ELSEWHERE;
	return go_to(state, address, sp + sizeof(address), state->known & INTERPRETER_REGISTERS);
}

/* Goes on at a frame record on top of the stack. */
static __always_inline int go_by_pushed(struct unwind_state *state)
{
	__u64 sp = state->regs[REG_SP], record[2];
	int result;

	if (bpf_probe_read_user(record, sizeof(record), (const void *)sp) < 0)
		return RUNTIME_ELSEWHERE;
	result = go_to(state, record[1], sp + sizeof(record), 0);
	if (result == GOES_ON)
		state->regs[REG_FP] = record[0];
	return result;
}

/* Returns whether bytes of code are push %rbp; mov %rsp, %rbp. */
static __always_inline bool makes_frame(const __u8 *code)
{
	return code[0] == 0x55 && code[1] == 0x48 && code[2] == 0x89 && code[3] == 0xe5;
}

/* Returns whether the code that makes the frame is still to come. Before it are a few instructions
 * at most, which look whether the code is still valid. (Unrolled, as the next: kernels before 6.12
 * refuse the loops that clang makes of them.) */
static __always_inline bool is_before_frame(const __u8 *code)
{
#pragma unroll
	for (int i = CODE_BEFORE; i <= CODE_BYTES - 4; i++)
		if (makes_frame(code + i))
			return true;
	return false;
}

/* The same for the few instructions behind, which put the function into the frame. */
static __always_inline bool is_right_behind_frame(const __u8 *code)
{
#pragma unroll
	for (int i = 1; i + 4 <= CODE_BEFORE; i++)
		if (makes_frame(code + i))
			return true;
	return false;
}

/* Returns whether compiled code has taken its frame down: at a return, or where it tells how many
 * arguments to drop: cmp $x, %rcx; jg; ret $x; pop %r10. */
static __always_inline bool has_left(const __u8 *code)
{
	const __u8 *at = code + CODE_BEFORE;

	if (at[0] == 0xc3 || at[0] == 0xc2)
		return true;
	if (at[-1] == 0x5d)
		return at[0] == 0x48 && (at[1] == 0x83 || at[1] == 0x81 || at[1] == 0x3b);
	if (at[0] == 0x7f && at[-4] == 0x48 && at[-3] == 0x83)
		return true;
	return at[0] == 0x41 && at[1] == 0x5a && at[-3] == 0xc2;
}

/* Returns whether the arguments are dropped as well: push %r10; ret. */
static __always_inline bool has_dropped(const __u8 *code)
{
	const __u8 *at = code + CODE_BEFORE;

	return at[0] == 0xc3 && (at[-1] & 0xf8) == 0x50;
}

/* Returns the function of a frame that was taken down: the word is below the stack pointer, but
 * nothing has overwritten it. */
static __always_inline __u64 find_left_function(const struct unwind_state *state)
{
	__u64 function;

	return read_word(state->regs[REG_SP] - LEFT_FUNCTION * sizeof(function), &function)
		       ? function
		       : 0;
}

/* Tells where in compiled code the leaf is. */
static __always_inline enum v8_phase find_phase(const struct unwind_state *state)
{
	__u8 code[CODE_BYTES];

	if (state->is_call ||
	    bpf_probe_read_user(code, sizeof(code), (const void *)(state->ip - CODE_BEFORE)) < 0)
		return PHASE_FRAME;
	if (has_left(code))
		return has_dropped(code) ? PHASE_DROPPED : PHASE_LEFT;
	if (makes_frame(code + CODE_BEFORE - 1))
		return PHASE_PUSHED;
	if (is_before_frame(code))
		return PHASE_ENTERED;
	return is_right_behind_frame(code) ? PHASE_UNFILLED : PHASE_FRAME;
}

/* The same for a builtin, of which there may be no rows: files with much code and no CFI for it are
 * not scanned. A frame that is there is found without its code. */
static __always_inline enum v8_phase find_builtin_phase(const struct unwind_state *state)
{
	__u8 code[BUILTIN_BYTES];
	const __u8 *at = code + CODE_BEFORE;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(state->ip - CODE_BEFORE)) < 0)
		return PHASE_FRAME;
	if (at[0] == 0xc3 || at[0] == 0xc2 ||
	    (at[-1] == 0x5d && at[0] == 0x48 && at[1] == 0x83 && at[2] == 0xf9))
		return PHASE_LEFT;
	if (makes_frame(at))
		return PHASE_ENTERED;
	return makes_frame(at - 1) ? PHASE_PUSHED : PHASE_FRAME;
}

/* Restores the registers of the C++ code that called generated code; returns which. */
static __always_inline __u32 restore_entry(struct unwind_state *state)
{
	__u64 saved[ENTRY_WORDS];
	__u64 bottom = state->regs[REG_FP] - ENTRY_BOTTOM * sizeof(__u64);

	if (bpf_probe_read_user(saved, sizeof(saved), (const void *)bottom) < 0)
		return 0;
	state->regs[CFI_RBX] = saved[ENTRY_RBX];
	state->regs[CFI_R12] = saved[ENTRY_R12];
	state->regs[CFI_R13] = saved[ENTRY_R13];
	state->regs[CFI_R14] = saved[ENTRY_R14];
	state->regs[CFI_R15] = saved[ENTRY_R15];
	return ENTRY_REGISTERS;
}

#endif
