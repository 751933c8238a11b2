/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and frees from threads and children while signals come, and checks that all memory is
 * as it was left:
 *
 *	heap_stress
 *
 * Exit status 0: it was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_THREADS 8
#define NR_TURNS 60000
#define NR_BLOCKS 128
#define NR_CHILDREN 60

struct block {
	unsigned char *memory;
	size_t size;
	unsigned char mark;
};

static struct block shared[NR_BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t nr_signals;

static void fail(const char *what)
{
	fprintf(stderr, "heap_stress: %s\n", what);
	_exit(EXIT_FAILURE);
}

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static size_t draw_size(uint32_t *state)
{
	return 1 + draw(state) % (draw(state) % 100 == 0 ? 2000000 : 3000);
}

static void fill(struct block *block, uint32_t *state)
{
	block->mark = (unsigned char)draw(state);
	block->memory[0] = block->mark;
	block->memory[block->size - 1] = block->mark;
}

static void check(const struct block *block)
{
	if (block->memory[0] != block->mark || block->memory[block->size - 1] != block->mark)
		fail("a block has changed");
}

static void allocate(struct block *block, uint32_t *state)
{
	void *memory = NULL;

	block->size = draw_size(state);
	switch (draw(state) % 4) {
	case 0:
		memory = malloc(block->size);
		break;
	case 1:
		memory = calloc(1, block->size);
		if (memory && ((char *)memory)[block->size / 2] != 0)
			fail("calloc() gave memory that is not zero");
		break;
	case 2:
		if (posix_memalign(&memory, 256, block->size) != 0 || (uintptr_t)memory % 256 != 0)
			fail("posix_memalign() failed");
		break;
	default:
		memory = aligned_alloc(64, (block->size + 63) / 64 * 64);
	}
	if (!memory)
		fail("no memory");
	block->memory = memory;
	fill(block, state);
}

static void turn(struct block *block, uint32_t *state)
{
	if (!block->memory) {
		allocate(block, state);
		return;
	}
	check(block);
	if (draw(state) % 3 == 0) {
		size_t size = draw_size(state);
		unsigned char first = block->memory[0];

		block->memory = realloc(block->memory, size);
		if (!block->memory || block->memory[0] != first)
			fail("realloc() lost the content");
		block->size = size;
		fill(block, state);
		return;
	}
	free(block->memory);
	block->memory = NULL;
}

static void *work(void *data)
{
	uint32_t state = (uint32_t)(uintptr_t)data;
	struct block own[NR_BLOCKS] = { 0 };

	for (int i = 0; i < NR_TURNS; i++) {
		turn(&own[draw(&state) % NR_BLOCKS], &state);
		if (i % 16 == 0) {
			pthread_mutex_lock(&lock);
			turn(&shared[draw(&state) % NR_BLOCKS], &state);
			pthread_mutex_unlock(&lock);
		}
	}
	for (int i = 0; i < NR_BLOCKS; i++)
		free(own[i].memory);
	return NULL;
}

/* In a child, while the parent's threads allocate. */
static void work_in_child(int number)
{
	uint32_t state = (uint32_t)number;
	struct block own[NR_BLOCKS] = { 0 };

	for (int i = 0; i < NR_TURNS / 60; i++)
		turn(&own[draw(&state) % NR_BLOCKS], &state);
	_exit(EXIT_SUCCESS);
}

static void on_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

static void start_signals(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void run_children(void)
{
	for (int i = 0; i < NR_CHILDREN; i++) {
		int status = 0;
		pid_t child = fork();

		if (child < 0)
			fail("fork() failed");
		if (child == 0)
			work_in_child(i);
		while (waitpid(child, &status, 0) < 0)
			;
		if (status != 0)
			fail("a child failed");
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		if (library)
			dlclose(library);
	}
}

int main(void)
{
	pthread_t threads[NR_THREADS];

	start_signals();
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0)
			fail("no thread");
	run_children();
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("right");
	return EXIT_SUCCESS;
}
