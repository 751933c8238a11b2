/* SPDX-License-Identifier: Apache-2.0 */
/* A service whose CPU is idle and which is slow: two threads want a lock, and one of them sleeps
 * while it has it. Prints how long each thread did not run, by its own clocks:
 *
 *	off_cpu SECONDS */
#define _GNU_SOURCE
#include "threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct thread {
	const char *name;
	void (*work)(void);
	double waited;
	pthread_t handle;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double seconds;

__attribute__((noinline)) void hold_the_lock(void)
{
	pthread_mutex_lock(&lock);
	sleep_ms(20);
	pthread_mutex_unlock(&lock);
	sleep_ms(1);
}

__attribute__((noinline)) void serve_request(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	sleep_ms(1);
}

__attribute__((noinline)) void poll_often(void)
{
	for (int i = 0; i < 100; i++)
		usleep(100);
	sleep_ms(50); /* seldom, and long */
}

__attribute__((noinline)) void warm_up(void (*work)(void))
{
	double end = end_of_warm_up();

	while (read_clock(CLOCK_MONOTONIC) < end)
		work();
}

static void *run(void *data)
{
	struct thread *thread = data;

	warm_up(thread->work);
	pthread_setname_np(pthread_self(), thread->name); /* what counts has this name */
	double begin = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);

	while (read_clock(CLOCK_MONOTONIC) < begin + seconds)
		thread->work();
	thread->waited = read_clock(CLOCK_MONOTONIC) - begin -
			 (read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread threads[] = {
		{ .name = "hold_the_lock", .work = hold_the_lock },
		{ .name = "serve_request", .work = serve_request },
		{ .name = "poll_often", .work = poll_often },
	};
	size_t nr = sizeof(threads) / sizeof(threads[0]);

	seconds = argc > 1 ? strtod(argv[1], NULL) : 3;
	for (size_t i = 0; i < nr; i++)
		if (pthread_create(&threads[i].handle, NULL, run, &threads[i]))
			return EXIT_FAILURE;
	for (size_t i = 0; i < nr; i++)
		pthread_join(threads[i].handle, NULL);
	for (size_t i = 0; i < nr; i++)
		printf("%s %.3f\n", threads[i].name, threads[i].waited);
	return EXIT_SUCCESS;
}
