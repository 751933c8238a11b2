/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOCKED_H
#define BASE_LOCKED_H

#include "base/cleanup.h"

#include <pthread.h>

static inline void locked_unlockp(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

/* Locks a mutex and unlocks it at the end of the block. May be used once in a block. */
#define LOCKED(mutex)                                                                              \
	_cleanup_(locked_unlockp) pthread_mutex_t *locked_ = (mutex);                              \
	pthread_mutex_lock(locked_)

#endif
