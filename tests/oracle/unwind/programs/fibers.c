/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines as in libco and its like: a few instructions change the stack, and a return enters a
 * coroutine's function. Where that would return to begins a function that nobody ever called. */
#include <stdint.h>
#include <stdlib.h>

#include "burn.h"

#define NR_FIBERS 8
#define STACK_WORDS 4096

/* Saves registers and stack pointer in *from, and goes on where *to did that. */
void switch_fibers(uint64_t **from, uint64_t **to);

#if defined(__x86_64__)
#define NR_SAVED 6

__asm__(".text\n"
	".type switch_fibers, @function\n"
	"switch_fibers:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size switch_fibers, . - switch_fibers\n");
#else
#define NR_SAVED 11 /* and then the return address */

__asm__(".text\n"
	".type switch_fibers, %function\n"
	"switch_fibers:\n"
	"	stp x19, x20, [sp, #-96]!\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	mov x2, sp\n"
	"	str x2, [x0]\n"
	"	ldr x2, [x1]\n"
	"	mov sp, x2\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp x19, x20, [sp], #96\n"
	"	ret\n"
	".size switch_fibers, . - switch_fibers\n");
#endif

static uint64_t stacks[NR_FIBERS][STACK_WORDS] __attribute__((aligned(16)));
static uint64_t *fibers[NR_FIBERS + 1]; /* the last one is the thread's own */
static unsigned int current;

NOINLINE static unsigned long step(unsigned int depth)
{
	unsigned int self = current;

	if (depth > 0)
		return step(depth - 1) + burn(400);
	sink += burn(2000);
	current = self + 1;
	switch_fibers(&fibers[self], &fibers[self + 1]);
	return burn(2000);
}

static void run(void)
{
	for (unsigned int i = 0;; i++)
		sink += step(i % 10);
}

static void end(void)
{
	abort();
}

int main(void)
{
	begin_burning();
	for (unsigned int i = 0; i < NR_FIBERS; i++) {
		uint64_t *top = stacks[i] + STACK_WORDS - 4;

		top[0] = (uintptr_t)run;
		top[1] = (uintptr_t)end;
		top[2] = (uintptr_t)&stacks[i]; /* no return address */
		fibers[i] = top - NR_SAVED;
	}
	for (;;) {
		current = 0;
		switch_fibers(&fibers[NR_FIBERS], &fibers[0]);
		sink += burn(2000);
	}
}
