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

/* The queue must be empty; items in it would leak. */
void queue_done(struct queue *queue);

/* Adds an item, which then belongs to the queue. Errors: -ENOSPC if the queue is full, -ESHUTDOWN
 * if it is closed; then the item stays the caller's. */
int queue_push(struct queue *queue, void *item) must_check;

/* Takes the oldest item, and waits for one until `deadline_ns` (CLOCK_MONOTONIC; 0: does not wait).
 * Returns NULL if none came, or if the queue is closed and empty. */
void *queue_take(struct queue *queue, uint64_t deadline_ns);

/* Ends pushing. Waiting takers wake up and take the remaining items. */
void queue_close(struct queue *queue);

bool queue_is_closed(struct queue *queue);

#endif
