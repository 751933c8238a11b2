/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run, that sleep, and that do both, until the program is killed. Prints a line when
 * all of them are at it. */
#define _GNU_SOURCE
#include "threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct thread {
	const char *name;
	void (*work)(void);
};

static volatile unsigned long counter;

__attribute__((noinline)) void run_us(long us)
{
	double end = read_clock(CLOCK_THREAD_CPUTIME_ID) + (double)us / 1e6;

	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 100; i++)
			counter++;
}

__attribute__((noinline)) void be_busy(void)
{
	run_us(100000);
	counter++;
}

__attribute__((noinline)) void be_idle(void)
{
	pause();
	counter++;
}

__attribute__((noinline)) void be_mixed(void)
{
	run_us(7000);
	sleep_ms(20);
	counter++;
}

__attribute__((noinline)) void sleep_often(void)
{
	sleep_ms(2);
	counter++;
}

__attribute__((noinline)) void run_often(void)
{
	run_us(100);
	sleep_us(900);
	counter++;
}

static void *run(void *data)
{
	const struct thread *thread = data;

	pthread_setname_np(pthread_self(), thread->name);
	for (;;)
		thread->work();
}

int main(void)
{
	static struct thread threads[] = {
		{ "busy", be_busy },	    { "idle", be_idle },    { "mixed", be_mixed },
		{ "sleeper", sleep_often }, { "brief", run_often },
	};
	pthread_t handle;

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		if (pthread_create(&handle, NULL, run, &threads[i]))
			return EXIT_FAILURE;
	sleep(1);
	printf("all work\n");
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
