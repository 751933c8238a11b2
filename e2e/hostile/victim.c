/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's program, busy for ever in a function whose name the test changes in each copy. */
__attribute__((noinline)) void victim_0000(unsigned long turns);
__attribute__((noinline)) void victim_0000(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) static void middle(unsigned long turns)
{
	victim_0000(turns);
	__asm__ volatile("");
}

int main(void)
{
	for (;;)
		middle(1000000);
}
