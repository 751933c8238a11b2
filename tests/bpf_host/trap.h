/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from a recorded program (snapshot_cases.c) to the one that records it
 * (record_snapshot.c). */
#ifndef TESTS_BPF_HOST_TRAP_H
#define TESTS_BPF_HOST_TRAP_H

enum trap {
	TRAP_END, /* no more single steps, until the next trap */
	TRAP_HERE, /* record this place */
	TRAP_STEPS, /* record after each instruction that follows */
	TRAP_STEPS_ELSEWHERE, /* … outside of the program's own file */
	TRAP_STEPS_DEREF, /* … where the CFA is a word of the stack */
};

/* Of the places that match, every `stride`th is recorded, `max` at most. TRAP_HERE: the first
 * `max` frames are what libdw is trusted with; 0: all. */
static inline void trap(enum trap what, unsigned int max, unsigned int stride)
{
#if defined(__aarch64__)
	register unsigned long x0 __asm__("x0") = what;
	register unsigned long x1 __asm__("x1") = max;
	register unsigned long x2 __asm__("x2") = stride;

	__asm__ volatile("brk #0" : : "r"(x0), "r"(x1), "r"(x2) : "memory");
#else
	__asm__ volatile("int3" : : "a"(what), "c"(max), "d"(stride) : "memory");
#endif
}

#endif
