/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of pointers between threads: any number of producers, any number of consumers. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void **items; /* owned ring; the pointers in it belong to the queue until taken */
	size_t cap;
	size_t head;
	size_t len;
	bool is_closed;
};

/* Errors: -ENOMEM. */
int queue_init(struct queue *queue, size_t cap) must_check;

/* The queue must be empty: what it still held would leak. */
void queue_done(struct queue *queue);

/* Hands `item` over. Errors, where the item stays the caller's: -ENOSPC when full, -ESHUTDOWN when
 * closed. */
int queue_push(struct queue *queue, void *item) must_check;

/* The oldest item, waiting for one until `deadline_ns` (CLOCK_MONOTONIC; 0: do not wait). NULL
 * when none came, or when the queue is closed and empty. */
void *queue_take(struct queue *queue, uint64_t deadline_ns);

/* No further pushes; waiting takers wake up and drain what is left. */
void queue_close(struct queue *queue);

bool queue_is_closed(struct queue *queue);

#endif
