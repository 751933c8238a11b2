/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers encoded requests to one destination, one at a time and in order. A queue has a spool
 * that keeps requests, a transport that sends them, and rules for retries.
 *
 * A request that may be retried stays at the head of the spool and is tried again after a delay
 * that grows (backoff.h) or that the destination names. Meanwhile all requests that wait are
 * written to disk. A request that may not be retried is dropped and counted. A request that fails
 * repeatedly is moved to the end, so that it does not delay the others, and is given up if others
 * were accepted since.
 *
 * Belongs to one thread. */
#ifndef OTLP_DELIVERY_DELIVERY_QUEUE_H
#define OTLP_DELIVERY_DELIVERY_QUEUE_H

#include "otlp/delivery/spool.h"
#include "otlp/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery_queue;

struct delivery_queue_opts {
	struct transport_opts transport;
	struct spool_opts spool;
	const char *name; /* for log lines, behind the URL; NULL: none */
	bool is_replay; /* what is not delivered at the end can be pushed again: it is not lost */
};

/* All monotonic. Samples are those that were taken (profile_nr_taken()). */
struct delivery_queue_stats {
	uint64_t nr_samples_sent; /* accepted by the destination */
	uint64_t nr_samples_rejected; /* refused, not retried */
	uint64_t nr_samples_partial; /* rejected by partial success */
	uint64_t nr_samples_too_large; /* refused for the request's size */
	uint64_t nr_samples_gave_up; /* failed repeatedly while others were accepted */
	uint64_t nr_samples_shutdown; /* still waiting in memory at the end */
	uint64_t nr_requests;
	uint64_t nr_request_failures; /* failed or refused */
	uint64_t nr_retries; /* requests that were not the first of their body */
	uint64_t nr_bytes; /* compressed bodies */
	struct worker_stats worker; /* of the transport worker */
};

/* Errors: those of transport_new() and spool_open(). */
int delivery_queue_new(const struct delivery_queue_opts *opts, struct delivery_queue **ret_queue)
	must_check;
/* Frees the queue, after delivery_queue_close_down(). NULL is fine. */
void delivery_queue_free(struct delivery_queue *queue);
DEFINE_FREEP(struct delivery_queue, delivery_queue_free)

/* Returns the destination's name for log lines; borrowed. */
const char *delivery_queue_destination(const struct delivery_queue *queue);

/* Copies a request into the queue. */
void delivery_queue_add(struct delivery_queue *queue, const struct spool_item *item,
			const void *body, size_t len);

/* Returns the time of the next attempt (monotonic clock); UINT64_MAX if nothing waits. */
uint64_t delivery_queue_next_ns(struct delivery_queue *queue);

/* Tries to deliver the oldest request now. */
void delivery_queue_deliver(struct delivery_queue *queue);

/* Returns whether the last attempt failed or the destination refuses our credentials. */
bool delivery_queue_is_failing(const struct delivery_queue *queue);

/* Returns the limit of a request's size, given the initial limit `max_bytes`. It shrinks when the
 * destination refuses a request for its size. */
size_t delivery_queue_limit(const struct delivery_queue *queue, size_t max_bytes);

/* Writes waiting requests to disk. */
void delivery_queue_save(struct delivery_queue *queue);

/* Writes waiting requests to disk, and counts those that cannot be kept. */
void delivery_queue_close_down(struct delivery_queue *queue);

struct delivery_queue_stats delivery_queue_get_stats(const struct delivery_queue *queue);
struct spool_stats delivery_queue_get_spool_stats(struct delivery_queue *queue);

#endif
