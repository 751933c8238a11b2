/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells from the code of a compiled Java method how much of its frame is there. For arm64.
 *
 * A frame has its frame record at its upper end. The code that makes it and takes it down is
 *
 *	small frames	sub sp, sp, #n; stp x29, x30, [sp, #n - 16]
 *			ldp x29, x30, [sp, #n - 16]; add sp, sp, #n
 *	others		stp x29, x30, [sp, #-16]!; then as much as is left is taken from sp
 *			as much is given back; ldp x29, x30, [sp], #16
 *
 * Source: src/hotspot/cpu/aarch64/macroAssembler_aarch64.cpp (build_frame, remove_frame, enter,
 * leave). */
#ifndef BPF_HOTSPOT_CODE_ARM64_BPF_H
#define BPF_HOTSPOT_CODE_ARM64_BPF_H

#include "bpf/kernel.bpf.h"

#include <stdbool.h>

#define CODE_WORDS_BEFORE 20 /* instructions that are read before that of the leaf */
#define CODE_WORDS 24

/* Where in a function an instruction is. */
enum hotspot_phase {
	PHASE_BARE, /* the return address is in lr */
	PHASE_PUSHED, /* the frame record is on top of the stack, and nothing else */
	PHASE_UNSAVED, /* the frame is there, but the record's values are in fp and lr */
	PHASE_FRAME,
};

static __always_inline bool is_record_stored(__u32 code) /* stp x29, x30, [sp, #x] */
{
	return (code & 0xffc07fff) == 0xa9007bfd;
}

static __always_inline bool is_record_pushed(__u32 code) /* stp x29, x30, [sp, #-16]! */
{
	return code == 0xa9bf7bfd;
}

static __always_inline bool is_record_loaded(__u32 code) /* ldp x29, x30, [sp, #x] */
{
	return (code & 0xffc07fff) == 0xa9407bfd;
}

static __always_inline bool is_record_popped(__u32 code) /* ldp x29, x30, [sp], #16 */
{
	return code == 0xa8c17bfd;
}

/* sub sp, sp, #x, or sub sp, sp, x8 */
static __always_inline bool is_sp_lowered(__u32 code)
{
	return (code & 0xff8003ff) == 0xd10003ff || (code & 0xffe003ff) == 0xcb2003ff;
}

/* Returns whether the code that follows is not reached from here: ret, b, br. */
static __always_inline bool is_end_of_code(__u32 code)
{
	return code == 0xd65f03c0 || (code & 0xfc000000) == 0x14000000 ||
	       (code & 0xfffffc1f) == 0xd61f0000;
}

/* Tells what the last instruction that makes a frame has left, within the prologue. */
static __always_inline enum hotspot_phase phase_of_prologue(const __u32 *code)
{
	bool is_lowered = is_sp_lowered(code[CODE_WORDS_BEFORE - 1]);

	if (is_record_stored(code[CODE_WORDS_BEFORE]))
		return is_lowered ? PHASE_UNSAVED : PHASE_BARE;
	is_lowered = false;
#pragma unroll
	for (int i = CODE_WORDS_BEFORE - 1; i >= 0; i--) {
		if (is_record_stored(code[i]))
			return PHASE_FRAME;
		if (is_record_pushed(code[i]))
			return is_lowered ? PHASE_FRAME : PHASE_PUSHED;
		is_lowered |= is_sp_lowered(code[i]);
	}
	return PHASE_BARE;
}

#define EPILOGUE_WORDS                                                                             \
	6 /* behind the load of the record: a poll of the safepoint, and the return */

/* The same in the rest. */
static __always_inline enum hotspot_phase phase_of_body(const __u32 *code)
{
	if (is_record_popped(code[CODE_WORDS_BEFORE]))
		return PHASE_PUSHED;
	if (is_record_loaded(code[CODE_WORDS_BEFORE - 1]))
		return PHASE_UNSAVED;
#pragma unroll
	for (int i = 1; i <= EPILOGUE_WORDS; i++) {
		__u32 before = code[CODE_WORDS_BEFORE - i];

		if (is_end_of_code(before))
			break;
		if (is_record_popped(before) || is_record_loaded(before))
			return PHASE_BARE;
	}
	return PHASE_FRAME;
}

/* Returns whether the interpreter lets fp point to a frame: add x29, sp, #80. */
static __always_inline bool is_interpreted_frame_made(__u32 code)
{
	return code == 0x910143fd;
}

/* A call of a function of the JVM, which finds the return address on the stack: stp xzr, x9, [sp,
 * #-16]!; blr x8. */
#define CODE_BREADCRUMB (0xd63f0100ULL << 32 | 0xa9bf27ff)
#define BREADCRUMB_BYTES 16

#endif
