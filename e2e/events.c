/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events that the kernel counts: page faults in two functions, and context switches.
 *
 *	events NR
 *
 * Prints how many of them each function made, as the kernel says: "FUNCTION EVENT COUNT". */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PIECE_PAGES 1024

static struct rusage usage(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage;
}

__attribute__((noinline)) static void touch(volatile char *pages, long page_bytes, long nr)
{
	for (long i = 0; i < nr; i++)
		pages[i * page_bytes] = 1;
}

static void touch_pages(long nr)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)(PIECE_PAGES * page_bytes);

	for (; nr > 0; nr -= PIECE_PAGES) {
		void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		if (pages == MAP_FAILED)
			exit(EXIT_FAILURE);
		madvise(pages, bytes, MADV_NOHUGEPAGE);
		touch(pages, page_bytes, PIECE_PAGES);
		munmap(pages, bytes);
	}
}

__attribute__((noinline)) static void fault_often(long nr)
{
	touch_pages(3 * nr);
	__asm__ volatile("");
}

__attribute__((noinline)) static void fault_seldom(long nr)
{
	touch_pages(nr);
	__asm__ volatile("");
}

__attribute__((noinline)) static void sleep_often(long nr)
{
	const struct timespec moment = { .tv_nsec = 1 };

	for (long i = 0; i < nr / 10; i++)
		nanosleep(&moment, NULL);
	__asm__ volatile("");
}

static void run(const char *name, void (*function)(long), long nr)
{
	struct rusage before = usage();

	function(nr);
	struct rusage after = usage();
	printf("%s page-faults %ld\n", name, after.ru_minflt - before.ru_minflt);
	printf("%s context-switches %ld\n", name,
	       after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
}

int main(int argc, char **argv)
{
	long nr = argc == 2 ? (long)strtod(argv[1], NULL) : 0;

	usleep(200000); /* until the program is known */
	run("fault_often", fault_often, nr);
	run("fault_seldom", fault_seldom, nr);
	run("sleep_often", sleep_often, nr);
	return EXIT_SUCCESS;
}
