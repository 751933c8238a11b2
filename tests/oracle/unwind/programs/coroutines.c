/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines on stacks of their own (swapcontext(3)). What would come behind them lies on their
 * stacks, above the address to which they return. */
#include <stdlib.h>
#include <ucontext.h>

#include "burn.h"

#define NR_COROUTINES 8
#define STACK_BYTES 32768

static ucontext_t contexts[NR_COROUTINES];
static ucontext_t main_context;
static char stacks[NR_COROUTINES][STACK_BYTES] __attribute__((aligned(16)));
static unsigned int current;

NOINLINE static unsigned long step(unsigned int depth)
{
	unsigned int self = current;

	if (depth > 0)
		return step(depth - 1) + burn(400);
	sink += burn(2000);
	current = (self + 1) % NR_COROUTINES;
	swapcontext(&contexts[self],
		    self + 1 == NR_COROUTINES ? &main_context : &contexts[self + 1]);
	return burn(2000);
}

static void run(void)
{
	for (unsigned int i = 0;; i++)
		sink += step(i % 10);
}

int main(void)
{
	begin_burning();
	for (unsigned int i = 0; i < NR_COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = i % 2 ? &main_context : NULL;
		makecontext(&contexts[i], run, 0);
	}
	for (;;) {
		current = 0;
		swapcontext(&main_context, &contexts[0]);
		sink += burn(2000);
	}
}
