/* SPDX-License-Identifier: Apache-2.0 */
#include "base/queue.h"

#include "base/clock.h"
#include "base/locked.h"
#include "base/thread.h"

#include <stdlib.h>

int queue_init(struct queue *queue, size_t cap)
{
	*queue = (struct queue){ .cap = cap };
	queue->items = calloc(cap, sizeof(*queue->items));
	if (!queue->items)
		return -ENOMEM;
	pthread_mutex_init(&queue->lock, NULL);
	thread_init_cond(&queue->changed);
	return 0;
}

void queue_done(struct queue *queue)
{
	if (!queue->items)
		return;
	free(queue->items);
	queue->items = NULL;
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

int queue_push(struct queue *queue, void *item)
{
	int r = 0;

	pthread_mutex_lock(&queue->lock);
	if (queue->is_closed)
		r = -ESHUTDOWN;
	else if (queue->len == queue->cap)
		r = -ENOSPC;
	else
		queue->items[(queue->head + queue->len++) % queue->cap] = item;
	pthread_mutex_unlock(&queue->lock);
	/* Signals after unlocking, or the woken thread would wait for the lock. */
	if (r == 0)
		pthread_cond_signal(&queue->changed);
	return r;
}

void *queue_take(struct queue *queue, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);
	void *item = NULL;

	LOCKED(&queue->lock);
	while (queue->len == 0 && !queue->is_closed && deadline_ns > 0) {
		if (pthread_cond_timedwait(&queue->changed, &queue->lock, &deadline) == ETIMEDOUT)
			break;
	}
	if (queue->len > 0) {
		item = queue->items[queue->head];
		queue->head = (queue->head + 1) % queue->cap;
		queue->len--;
	}
	return item;
}

void queue_close(struct queue *queue)
{
	LOCKED(&queue->lock);
	queue->is_closed = true;
	pthread_cond_broadcast(&queue->changed);
}

bool queue_is_closed(struct queue *queue)
{
	LOCKED(&queue->lock);
	return queue->is_closed;
}
