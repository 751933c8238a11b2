/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps some CPUs busy between SIGUSR1 and SIGUSR2: the main thread in a function of its own, every
 * other thread in the kernel, copying zeroes. Before and after it does nothing, so that whoever
 * reads /proc/<pid>/stat then reads exactly what the time between has cost.
 *
 *	busy THREADS
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 1024

static atomic_bool is_stopping;
static volatile unsigned long sink;

static void busy_leaf(void)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < 50000; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x + 1;
}

static void busy_work(void)
{
	while (!atomic_load(&is_stopping))
		busy_leaf();
}

static void *busy_reader(void *unused)
{
	static _Thread_local char buffer[1 << 16];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)unused;
	while (!atomic_load(&is_stopping))
		if (read(fd, buffer, sizeof(buffer)) < 0)
			abort();
	close(fd);
	return NULL;
}

static void on_stop(int number)
{
	(void)number;
	atomic_store(&is_stopping, 1);
}

static void wait_for_start(void)
{
	sigset_t set;
	int which;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &which);
}

int main(int argc, char **argv)
{
	static pthread_t threads[MAX_THREADS];
	unsigned long nr_threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	if (nr_threads > MAX_THREADS)
		return 2;
	signal(SIGUSR2, on_stop);
	wait_for_start();
	for (unsigned long i = 1; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, busy_reader, NULL) != 0)
			abort();
	busy_work();
	for (;;)
		pause();
}
