/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for locks. Prints how long each of them waited, by its own clock:
 *
 *	locks SECONDS */
#define _GNU_SOURCE
#include "threads.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE_BYTES ((size_t)64 << 20)
#define SMALL_BYTES ((size_t)4096)

struct thread {
	const char *name;
	double (*work)(void); /* returns how long it waited */
	double waited;
	pthread_t handle;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *heap_lock; /* in memory from malloc() */
static pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t condition_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static double seconds;

/* Has the lock of the process's memory while the kernel fills memory. */
__attribute__((noinline)) double fill_memory(void)
{
	void *memory = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	munmap(memory, LARGE_BYTES);
	return 0;
}

/* Wants it. */
__attribute__((noinline)) double map_a_page(void)
{
	double begin = read_clock(CLOCK_MONOTONIC);
	void *memory = mmap(NULL, SMALL_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(memory, SMALL_BYTES);
	double waited = read_clock(CLOCK_MONOTONIC) - begin;
	sleep_ms(1);
	return waited;
}

__attribute__((noinline)) double hold_locks(void)
{
	pthread_mutex_lock(&table_lock);
	sleep_ms(20);
	pthread_mutex_unlock(&table_lock);
	pthread_mutex_lock(heap_lock);
	sleep_ms(5);
	pthread_mutex_unlock(heap_lock);
	pthread_rwlock_wrlock(&index_lock);
	sleep_ms(20);
	pthread_rwlock_unlock(&index_lock);
	pthread_rwlock_rdlock(&index_lock);
	sleep_ms(5);
	pthread_rwlock_unlock(&index_lock);
	return 0;
}

static double wait_for(pthread_mutex_t *lock)
{
	double begin = read_clock(CLOCK_MONOTONIC);

	pthread_mutex_lock(lock);
	double waited = read_clock(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(lock);
	sleep_ms(1);
	return waited;
}

__attribute__((noinline)) double read_table(void)
{
	return wait_for(&table_lock);
}

__attribute__((noinline)) double read_heap(void)
{
	return wait_for(heap_lock);
}

static double wait_for_index(int (*lock)(pthread_rwlock_t *))
{
	double begin = read_clock(CLOCK_MONOTONIC);

	lock(&index_lock);
	double waited = read_clock(CLOCK_MONOTONIC) - begin;
	pthread_rwlock_unlock(&index_lock);
	sleep_ms(1);
	return waited;
}

__attribute__((noinline)) double read_index(void)
{
	return wait_for_index(pthread_rwlock_rdlock);
}

__attribute__((noinline)) double write_index(void)
{
	return wait_for_index(pthread_rwlock_wrlock);
}

static struct timespec in_20_ms(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20 * 1000 * 1000;
	if (until.tv_nsec >= 1000 * 1000 * 1000) {
		until.tv_nsec -= 1000 * 1000 * 1000;
		until.tv_sec++;
	}
	return until;
}

/* This and the next ones wait for no lock. */
__attribute__((noinline)) double wait_for_work(void)
{
	struct timespec until = in_20_ms();

	pthread_mutex_lock(&condition_lock);
	pthread_cond_timedwait(&condition, &condition_lock, &until);
	pthread_mutex_unlock(&condition_lock);
	return 0;
}

__attribute__((noinline)) double wait_for_post(void)
{
	struct timespec until = in_20_ms();

	sem_timedwait(&semaphore, &until);
	return 0;
}

static void *nap(void *data)
{
	sleep_ms(20);
	return data;
}

__attribute__((noinline)) double wait_for_end(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nap, NULL) == 0)
		pthread_join(thread, NULL);
	return 0;
}

__attribute__((noinline)) void warm_up(double (*work)(void))
{
	double end = end_of_warm_up();

	while (read_clock(CLOCK_MONOTONIC) < end)
		(void)work();
}

static void *run(void *data)
{
	struct thread *thread = data;

	warm_up(thread->work);
	pthread_setname_np(pthread_self(), thread->name); /* what counts has this name */
	double end = read_clock(CLOCK_MONOTONIC) + seconds;

	while (read_clock(CLOCK_MONOTONIC) < end)
		thread->waited += thread->work();
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread threads[] = {
		{ .name = "fill_memory", .work = fill_memory },
		{ .name = "map_a_page", .work = map_a_page },
		{ .name = "hold_locks", .work = hold_locks },
		{ .name = "read_table", .work = read_table },
		{ .name = "read_heap", .work = read_heap },
		{ .name = "read_index", .work = read_index },
		{ .name = "write_index", .work = write_index },
		{ .name = "wait_for_work", .work = wait_for_work },
		{ .name = "wait_for_post", .work = wait_for_post },
		{ .name = "wait_for_end", .work = wait_for_end },
	};
	size_t nr = sizeof(threads) / sizeof(threads[0]);

	seconds = argc > 1 ? strtod(argv[1], NULL) : 3;
	heap_lock = calloc(1, sizeof(pthread_mutex_t)); /* as PTHREAD_MUTEX_INITIALIZER */
	if (!heap_lock || sem_init(&semaphore, 0, 0))
		return EXIT_FAILURE;
	for (size_t i = 0; i < nr; i++)
		if (pthread_create(&threads[i].handle, NULL, run, &threads[i]))
			return EXIT_FAILURE;
	for (size_t i = 0; i < nr; i++)
		pthread_join(threads[i].handle, NULL);
	for (size_t i = 0; i < nr; i++)
		printf("%s %.6f\n", threads[i].name, threads[i].waited);
	return EXIT_SUCCESS;
}
