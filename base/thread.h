/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/err.h"

#include <pthread.h>
#include <stdint.h>

/* Starts a thread with a name (at most 15 bytes) that top(1) and profiles show. All signals are
 * blocked in it, as the main thread handles them. Before it runs, it gives up all capabilities
 * except `capabilities` (base/capabilities.h). Errors: -EAGAIN, -ENOMEM. */
int thread_start(const char *name, uint64_t capabilities, void *(*run)(void *data), void *data,
		 pthread_t *ret_thread) must_check;

/* Initialises a condition variable whose timed waits use CLOCK_MONOTONIC. */
void thread_init_cond(pthread_cond_t *cond);

#endif
