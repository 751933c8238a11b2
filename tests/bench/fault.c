/* SPDX-License-Identifier: Apache-2.0 */
/* Touches new memory page by page, and gives it back, as often as told. Prints the CPU time of a
 * page fault in nanoseconds, the shortest of all rounds:
 *
 *	fault MEGABYTES ROUNDS */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static uint64_t touch(size_t bytes, size_t page)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	uint64_t begin_ns, end_ns;

	if (memory == MAP_FAILED)
		exit(EXIT_FAILURE);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	begin_ns = cpu_ns();
	for (size_t i = 0; i < bytes; i += page)
		memory[i] = 1;
	end_ns = cpu_ns();
	munmap(memory, bytes);
	return end_ns - begin_ns;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	unsigned long nr_rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t shortest_ns = UINT64_MAX;

	for (unsigned long i = 0; i < nr_rounds; i++) {
		uint64_t ns = touch(bytes, page);

		if (ns < shortest_ns)
			shortest_ns = ns;
	}
	if (bytes == 0 || nr_rounds == 0)
		return EXIT_FAILURE;
	printf("%.1f\n", (double)shortest_ns / ((double)bytes / (double)page));
	return EXIT_SUCCESS;
}
