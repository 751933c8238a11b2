/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/thread_stop.h"

#include "base/array.h"

#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#define MAX_THREADS 65536

int thread_stop_add(struct thread_stop *stop, uint32_t tid)
{
	int r = array_grow(stop->items, stop->cap, stop->nr + 1, MAX_THREADS);

	if (r < 0)
		return r;
	if (ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) < 0)
		return -errno;
	stop->items[stop->nr++] = (struct stopping_thread){ .tid = tid };
	if (ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL) < 0)
		return -errno;
	return 0;
}

bool thread_stop_has(const struct thread_stop *stop, uint32_t tid)
{
	for (size_t i = 0; i < stop->nr; i++)
		if (stop->items[i].tid == tid)
			return true;
	return false;
}

/* A thread stops because it was asked to, which the status calls an event, or because a signal came
 * first. */
static void look_at(struct stopping_thread *thread)
{
	int status;
	pid_t r = waitpid((pid_t)thread->tid, &status, __WALL | WNOHANG);

	if (r == 0)
		return;
	thread->is_stopped = true;
	if (r > 0 && WIFSTOPPED(status) && status >> 16 == 0)
		thread->signal = WSTOPSIG(status);
}

size_t thread_stop_wait(struct thread_stop *stop)
{
	size_t nr_waiting = 0;

	for (size_t i = 0; i < stop->nr; i++) {
		if (!stop->items[i].is_stopped)
			look_at(&stop->items[i]);
		nr_waiting += !stop->items[i].is_stopped;
	}
	return nr_waiting;
}

void thread_stop_end(struct thread_stop *stop)
{
	for (size_t i = 0; i < stop->nr; i++) {
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace(2) wants it so */
		void *signal = (void *)(intptr_t)stop->items[i].signal;

		(void)ptrace(PTRACE_DETACH, (pid_t)stop->items[i].tid, NULL, signal);
	}
	free(stop->items);
	*stop = (struct thread_stop){ 0 };
}
