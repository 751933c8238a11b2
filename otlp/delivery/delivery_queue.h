/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers encoded requests to one receiver, one at a time and in order: a spool, a transport, and the patience
 * between them.
 *
 * What may be retried stays at the head of the spool and is tried again after a while that grows (backoff.h) or
 * that the receiver names; meanwhile all that waits is brought to disk. What may not is dropped and counted. A
 * request that fails again and again goes behind the others, and is given up when others were taken since: it must
 * not hold them up.
 *
 * Belongs to one thread. */
#ifndef OTLP_DELIVERY_DELIVERY_QUEUE_H
#define OTLP_DELIVERY_DELIVERY_QUEUE_H

#include "otlp/delivery/spool.h"
#include "otlp/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct courier;

struct courier_opts {
	struct transport_opts transport;
	struct spool_opts spool;
	const char *name; /* for log lines, behind the URL; NULL: none */
};

/* All monotonic. Samples are sums of counts. */
struct courier_stats {
	uint64_t nr_samples_sent; /* taken by the receiver */
	uint64_t nr_samples_rejected; /* refused, not to be repeated */
	uint64_t nr_samples_partial; /* rejected by partial success */
	uint64_t nr_samples_too_large; /* refused for the request's size */
	uint64_t nr_samples_gave_up; /* failed again and again while others were taken */
	uint64_t nr_samples_shutdown; /* still waiting in memory at the end */
	uint64_t nr_requests;
	uint64_t nr_request_failures; /* failed or refused */
	uint64_t nr_retries; /* requests that were not the first of their body */
	uint64_t nr_bytes; /* compressed bodies */
	struct worker_stats worker; /* of the process that sends */
};

/* Errors: those of transport_new() and spool_open(). */
int courier_new(const struct courier_opts *opts, struct courier **ret_courier) must_check;
/* courier_close_down() before. NULL is fine. */
void courier_free(struct courier *courier);
DEFINE_FREEP(struct courier, courier_free)

/* The receiver, as log lines call it; borrowed. */
const char *courier_receiver(const struct courier *courier);

/* Takes a copy of a request, to be delivered when its turn comes. */
void courier_take(struct courier *courier, const struct spool_item *item, const void *body,
		  size_t len);

/* When the next delivery is to be tried, by the monotonic clock; UINT64_MAX: nothing waits. */
uint64_t courier_next_ns(struct courier *courier);

/* Tries to deliver the oldest request, whatever the time. */
void courier_deliver(struct courier *courier);

/* Whether the last attempt has failed, or a receiver does not know us. */
bool courier_is_failing(const struct courier *courier);

/* How large requests may be, given `max_bytes` at the start: less after the receiver has refused one for its size. */
size_t courier_limit(const struct courier *courier, size_t max_bytes);

/* Brings what waits to disk. */
void courier_save(struct courier *courier);

/* The same, and counts what cannot be kept. */
void courier_close_down(struct courier *courier);

struct courier_stats courier_get_stats(const struct courier *courier);
struct spool_stats courier_get_spool_stats(struct courier *courier);

#endif
