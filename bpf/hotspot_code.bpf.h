/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Recognizes by the code of a compiled Java method how much of its frame is there. For x86-64.
 * Sources: src/hotspot/cpu/x86/macroAssembler_x86.cpp (verified_entry), c1_MacroAssembler_x86.cpp
 * (build_frame) and x86_64.ad (MachEpilogNode). */
#ifndef BPF_HOTSPOT_CODE_BPF_H
#define BPF_HOTSPOT_CODE_BPF_H

#include "bpf/kernel.bpf.h"

/* The place of an instruction in a function. */
enum hotspot_phase {
	PHASE_BARE, /* the return address is on top of the stack */
	PHASE_PUSHED, /* the frame pointer is above it, and nothing else */
	PHASE_UNSAVED, /* the frame is there, but the frame pointer was not saved yet */
	PHASE_FRAME,
};

/* Returns the phase of an instruction in the prologue, by the eight bytes before it, the last one
 * in the upper eight bits, and the eight bytes from it on. */
static __always_inline enum hotspot_phase phase_of_prologue(__u64 before, __u64 at)
{
	__u32 last_3 = before >> 40;

	if ((at & 0xffffffff) == 0x246c8948) /* mov %rbp, x(%rsp) */
		return PHASE_UNSAVED;
	if (before >> 56 == 0x55 || last_3 == 0xec8b48 || last_3 == 0xe58948)
		return PHASE_PUSHED; /* behind push %rbp; mov %rsp, %rbp */
	if ((before >> 32 & 0xffffff) == 0xec8348 || (before >> 8 & 0xffffff) == 0xec8148)
		return PHASE_FRAME; /* behind sub $x, %rsp */
	if ((before >> 24 & 0xffffffff) == 0x246c8948)
		return PHASE_FRAME; /* behind mov %rbp, x(%rsp) */
	if ((before & 0xffffff) == 0x7f8141 || (before & 0xffffff) == 0xbf8141)
		return PHASE_FRAME; /* behind cmpl $x, y(%r15), the entry barrier */
	return PHASE_BARE;
}

/* Returns the same for an instruction behind the prologue. The pop of the frame pointer is followed
 * by a poll of the safepoint, whose form depends on the version, and by the return. */
static __always_inline enum hotspot_phase phase_of_body(__u64 before, __u64 at, __u64 next)
{
	if ((at & 0xff) == 0x5d)
		return PHASE_PUSHED; /* pop %rbp */
	if ((at & 0xffffff) == 0xa73b49 || (at & 0xffffff) == 0x673b49)
		return PHASE_BARE; /* cmp x(%r15), %rsp */
	if ((at & 0xffff) == 0x870f &&
	    ((before >> 8 & 0xffffff) == 0xa73b49 || (before >> 32 & 0xffffff) == 0x673b49))
		return PHASE_BARE; /* ja behind it */
	if ((at & 0xffff) == 0x0585 && (at >> 48 & 0xff) == 0xc3)
		return PHASE_BARE; /* test %eax, x(%rip); ret */
	if ((at & 0xffffff) == 0x028541 && (at >> 24 & 0xff) == 0xc3)
		return PHASE_BARE; /* test %eax, (%r10); ret */
	if ((at & 0xffffff) == 0x978b4d && (at >> 56) == 0x41 && (next & 0xffffff) == 0xc30285)
		return PHASE_BARE; /* mov x(%r15), %r10 before that */
	return PHASE_FRAME;
}

#endif
