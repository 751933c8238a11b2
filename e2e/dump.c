/* SPDX-License-Identifier: Apache-2.0 */
/* Threads whose places are known: one waits for a mutex that another one holds while it sleeps, one
 * runs, and one made a child by vfork(2), for which it waits where nothing can stop it until that
 * child ends. Prints "ready" and the child's pid. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int child_pid[2];

__attribute__((noinline)) static void hold_the_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&barrier);
	for (;;)
		sleep(1000);
}

__attribute__((noinline)) static void wait_for_the_mutex(void)
{
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void run_for_ever(void)
{
	pthread_barrier_wait(&barrier);
	for (volatile unsigned long i = 0;; i++)
		;
}

__attribute__((noinline)) static void wait_for_a_child(void)
{
	pthread_barrier_wait(&barrier);
	if (vfork() == 0) {
		pid_t pid = getpid();

		(void)!write(child_pid[1], &pid, sizeof(pid));
		for (;;)
			pause();
	}
}

struct job {
	const char *name;
	void (*run)(void);
};

static void *start(void *data)
{
	const struct job *job = data;

	pthread_setname_np(pthread_self(), job->name);
	job->run();
	return NULL;
}

int main(void)
{
	static const struct job jobs[] = {
		{ "holder", hold_the_mutex },
		{ "waiter", wait_for_the_mutex },
		{ "runner", run_for_ever },
		{ "parent", wait_for_a_child },
	};
	pthread_t threads[4];
	pid_t pid;

	if (pipe2(child_pid, O_CLOEXEC) < 0)
		return 1;
	pthread_barrier_init(&barrier, NULL, 5);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, start, (void *)&jobs[i]);
	pthread_barrier_wait(&barrier);
	if (read(child_pid[0], &pid, sizeof(pid)) != sizeof(pid))
		return 1;
	printf("ready %d\n", pid);
	fflush(stdout);
	pthread_join(threads[3], NULL);
	puts("the child has ended");
	fflush(stdout);
	for (;;)
		pause();
}
