/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows what it allocates:
 *
 *	heap SECONDS
 *
 * It allocates a little, until standard input has something or is closed, and then allocates in
 * several ways for about so many seconds. It prints each function with the bytes that it has
 * allocated, how often, and the bytes that are in use at the end. It ends when standard input is
 * closed. */
#define _GNU_SOURCE
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KB 1024UL
#define MB (KB * KB)
#define STEPS 100 /* of a second */
#define SMALL 5000
#define SMALL_NR 120000 /* a second: 600 MB */
#define KEPT_NR 300 /* a second */
#define MAX_KEPT 100000
#define WARM_UP_NR 100
#define WARM_UP_BYTES 10000

struct truth {
	size_t bytes, nr, in_use;
};

static struct truth small, zeroed, grown, aligned, kept, by_thread, by_child;
static void *kept_memory[MAX_KEPT];
static size_t nr_kept;
static volatile char sink;

static void *note(struct truth *truth, void *memory, size_t bytes)
{
	if (!memory)
		abort();
	truth->bytes += bytes;
	truth->nr++;
	truth->in_use += bytes;
	return memory;
}

static void release(struct truth *truth, void *memory, size_t bytes)
{
	truth->in_use -= bytes;
	free(memory);
}

__attribute__((noinline)) void *alloc_small(void)
{
	return note(&small, malloc(SMALL), SMALL);
}

__attribute__((noinline)) void *alloc_zeroed(void)
{
	return note(&zeroed, calloc(3, 100000), 300000);
}

__attribute__((noinline)) void *alloc_aligned(void)
{
	void *memory = NULL;

	if (posix_memalign(&memory, 4096, 200000) != 0)
		abort();
	return note(&aligned, memory, 200000);
}

/* Each realloc(3) counts as a new allocation. */
__attribute__((noinline)) void *alloc_grown(void)
{
	void *memory = NULL;

	for (size_t bytes = 10000; bytes <= 160000; bytes *= 2) {
		if (memory)
			grown.in_use -= bytes / 2;
		memory = note(&grown, realloc(memory, bytes), bytes);
	}
	return memory;
}

__attribute__((noinline)) void *alloc_kept(void)
{
	return note(&kept, malloc(MB), MB);
}

__attribute__((noinline)) void *alloc_by_thread(void *data)
{
	(void)data;
	for (int i = 0; i < 1000; i++)
		release(&by_thread, note(&by_thread, malloc(30000), 30000), 30000);
	return NULL;
}

__attribute__((noinline)) void alloc_by_child(void)
{
	for (int i = 0; i < 10000; i++)
		release(&by_child, note(&by_child, malloc(30000), 30000), 30000);
}

static void step(void)
{
	for (int i = 0; i < SMALL_NR / STEPS; i++)
		release(&small, alloc_small(), SMALL);
	for (int i = 0; i < 3; i++) {
		release(&zeroed, alloc_zeroed(), 300000);
		release(&aligned, alloc_aligned(), 200000);
		release(&grown, alloc_grown(), 160000);
		kept_memory[nr_kept++] = alloc_kept();
	}
	if (nr_kept % 2 == 0) /* two of three stay */
		release(&kept, kept_memory[--nr_kept], MB);
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, alloc_by_thread, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
}

static void tell(const char *name, const struct truth *truth)
{
	printf("%s %zu %zu %zu\n", name, truth->bytes, truth->nr, truth->in_use);
	fflush(stdout);
}

/* The child frees what its parent has allocated, which stays in the parent. */
static void run_child(void)
{
	pid_t child = fork();

	if (child != 0) {
		waitpid(child, NULL, 0);
		return;
	}
	alloc_by_child();
	for (size_t i = 0; i < nr_kept; i++)
		free(kept_memory[i]);
	tell("alloc_by_child", &by_child);
	_exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	unsigned long nr_steps = argc > 1 ? strtoul(argv[1], NULL, 10) * STEPS : STEPS;

	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	do { /* the profiler gets to know the program */
		for (int i = 0; i < WARM_UP_NR; i++)
			free(malloc(WARM_UP_BYTES));
	} while (poll(&input, 1, 1) == 0);
	for (unsigned long i = 0; i < nr_steps; i++) {
		step();
		if (i % 10 == 0)
			run_thread();
		usleep(1000000 / STEPS);
	}
	run_child();
	tell("alloc_small", &small);
	tell("alloc_zeroed", &zeroed);
	tell("alloc_aligned", &aligned);
	tell("alloc_grown", &grown);
	tell("alloc_kept", &kept);
	tell("alloc_by_thread", &by_thread);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	usleep(300000); /* the last records are read while the process lives */
	return EXIT_SUCCESS;
}
