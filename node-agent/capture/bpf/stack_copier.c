/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/stack_copier.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/locked.h"
#include "base/thread.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES sizeof("4294967295/mem")
#define MAX_WAIT_NS (200 * NSEC_PER_MSEC) /* a busy machine lets the thread wait for a CPU */

struct stack_copier {
	int proc_fd; /* borrowed */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t is_changed;
	bool is_stopping;
	uint32_t nr; /* requests at work; 0: the thread waits for some */
	struct stack_request requests[STACK_COPIER_MAX];
	uint8_t bytes[STACK_COPIER_MAX][STACK_COPY_BYTES];
};

static int open_memory(const struct stack_copier *copier, uint32_t pid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/mem", pid);
	return openat(copier->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

/* A stack may end before as many bytes are read. */
static uint32_t copy_stack(int fd, uint64_t address, uint8_t *bytes)
{
	ssize_t len = fd < 0 ? -1 : pread(fd, bytes, STACK_COPY_BYTES, (off_t)address);

	return len > 0 ? (uint32_t)len : 0;
}

/* Threads of a process follow each other, so that its memory is opened once. */
static void copy_all(struct stack_copier *copier, uint32_t nr)
{
	_cleanup_close_ int fd = -EBADF;
	uint32_t pid = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct stack_request *request = &copier->requests[i];

		request->len = 0;
		if (request->address == 0)
			continue;
		if (request->pid != pid) {
			cleanup_closep(&fd);
			fd = open_memory(copier, request->pid);
			pid = request->pid;
		}
		request->bytes = copier->bytes[i];
		request->len = copy_stack(fd, request->address, request->bytes);
	}
}

static void *run(void *data)
{
	struct stack_copier *copier = data;

	pthread_mutex_lock(&copier->lock);
	while (!copier->is_stopping) {
		uint32_t nr = copier->nr;

		if (nr == 0) {
			pthread_cond_wait(&copier->is_changed, &copier->lock);
			continue;
		}
		pthread_mutex_unlock(&copier->lock);
		copy_all(copier, nr); /* nobody else looks at the requests now */
		pthread_mutex_lock(&copier->lock);
		copier->nr = 0;
		pthread_cond_broadcast(&copier->is_changed);
	}
	pthread_mutex_unlock(&copier->lock);
	return NULL;
}

static void free_copier(struct stack_copier *copier)
{
	pthread_cond_destroy(&copier->is_changed);
	pthread_mutex_destroy(&copier->lock);
	free(copier);
}

int stack_copier_start(int proc_fd, struct stack_copier **ret_copier)
{
	struct stack_copier *copier = calloc(1, sizeof(*copier));

	if (!copier)
		return -ENOMEM;
	copier->proc_fd = proc_fd;
	pthread_mutex_init(&copier->lock, NULL);
	thread_init_cond(&copier->is_changed);
	int r = thread_start("stacks", CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH), run,
			     copier, &copier->thread);
	if (r < 0)
		free_copier(copier);
	else
		*ret_copier = copier;
	return r;
}

/* Waits until no request is at work. Called with the lock held. */
static int wait_idle(struct stack_copier *copier)
{
	struct timespec until = clock_timespec(clock_mono_ns() + MAX_WAIT_NS);
	int r = 0;

	while (copier->nr > 0 && r == 0)
		r = pthread_cond_timedwait(&copier->is_changed, &copier->lock, &until);
	return copier->nr > 0 ? -ETIMEDOUT : 0;
}

void stack_copier_stop(struct stack_copier *copier)
{
	if (!copier)
		return;
	pthread_mutex_lock(&copier->lock);
	copier->is_stopping = true;
	pthread_cond_broadcast(&copier->is_changed);
	bool is_stuck = wait_idle(copier) < 0;
	pthread_mutex_unlock(&copier->lock);
	if (is_stuck) {
		pthread_detach(copier->thread);
		return;
	}
	pthread_join(copier->thread, NULL);
	free_copier(copier);
}

int stack_copier_copy(struct stack_copier *copier, struct stack_request *requests, uint32_t nr)
{
	LOCKED(&copier->lock);
	if (copier->nr > 0)
		return -EBUSY;
	memcpy(copier->requests, requests, nr * sizeof(*requests));
	copier->nr = nr;
	pthread_cond_broadcast(&copier->is_changed);
	int r = wait_idle(copier);
	if (r == 0)
		memcpy(requests, copier->requests, nr * sizeof(*requests));
	return r;
}
