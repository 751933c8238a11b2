/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/heartbeat.h"

#include <signal.h>

struct start {
	uint64_t capabilities;
	void *(*run)(void *data);
	void *data;
};

/* If capabilities cannot be given up, the first thread has already reported it. */
static void *begin(void *data)
{
	struct start start = *(struct start *)data;

	free(data);
	int r = capabilities_keep(start.capabilities);
	(void)r;
	void *result = start.run(start.data);
	heartbeat_end();
	return result;
}

int thread_start(const char *name, uint64_t capabilities, void *(*run)(void *data), void *data,
		 pthread_t *ret_thread)
{
	_cleanup_free_ struct start *start = malloc(sizeof(*start));
	sigset_t all, before;

	if (!start)
		return -ENOMEM;
	*start = (struct start){ .capabilities = capabilities, .run = run, .data = data };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = -pthread_create(ret_thread, NULL, begin, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	take_ptr(start); /* the thread frees it */
	pthread_setname_np(*ret_thread, name);
	return 0;
}

void thread_init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}
