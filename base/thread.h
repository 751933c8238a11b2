/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/err.h"

#include <pthread.h>

/* Starts a thread with a name (at most 15 bytes) that top(1) and profiles show. All signals are blocked in
 * it: they are the main thread's. Errors: -EAGAIN, -ENOMEM. */
int thread_start(const char *name, void *(*run)(void *data), void *data, pthread_t *ret_thread)
	must_check;

#endif
