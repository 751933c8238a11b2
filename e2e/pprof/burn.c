/* SPDX-License-Identifier: Apache-2.0 */
/* C and C++: spends all its time in hot(). */
#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
	__attribute__((noinline)) uint64_t
	hot(uint64_t n);

uint64_t hot(uint64_t n)
{
	uint64_t x = n;

	for (int i = 0; i < 1000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u; /* here */
	return x;
}

int main(void)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0;; i++)
		sum = sum + hot(i);
}
