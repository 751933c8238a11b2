/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with frames of an aligned and of an unknown size: GCC finds their CFA, and the
 * registers they save, by expressions on rbp. */
#include <string.h>

#define ALIGNED_BYTES 64

static void fill(char *bytes, size_t len)
{
	memset(bytes, (int)len, len);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static size_t __attribute__((noinline)) sum(size_t len, size_t rounds)
{
	_Alignas(ALIGNED_BYTES) char aligned[ALIGNED_BYTES];
	size_t total = 0;

	for (size_t i = 0; i < rounds; i++) {
		char *bytes = __builtin_alloca_with_align(len, 8 * ALIGNED_BYTES);

		fill(bytes, len);
		fill(aligned, i % ALIGNED_BYTES);
		total += (size_t)bytes[i % len] + (size_t)aligned[0];
	}
	return total;
}

int main(int argc, char **argv)
{
	size_t len = strlen(argv[0]) + 1;

	return sum(len, (size_t)argc) == sum(len, (size_t)argc + 1);
}
