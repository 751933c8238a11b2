/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a server when a rule of --trigger fires: a POST with JSON, from a thread of its own
 * ("webhook"). A worker without privileges sends it and reads the answer
 * (otlp/transport/transport_worker.h). A server that hangs delays nothing else: after three tries a
 * message is given up, and without room in the queue it is dropped. Both are counted. */
#ifndef AGENT_WEBHOOK_H
#define AGENT_WEBHOOK_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/triggers.h"

#include <stdint.h>

#define WEBHOOK_QUEUE_MAX 32
#define WEBHOOK_TRIES 3
#define WEBHOOK_TIMEOUT_NS (UINT64_C(5) * 1000000000) /* of a try */
#define WEBHOOK_PAUSE_NS (UINT64_C(2) * 1000000000) /* between two tries */

struct webhook;

struct webhook_stats {
	uint64_t nr_sent; /* the server answered with 2xx */
	uint64_t nr_failed; /* after all tries, or at the end */
	uint64_t nr_dropped; /* too many waited */
};

/* Reads the URL of the options, which may be in a file (the first line), since it may be a
 * credential. Without one, it is empty. On failure `reterr_msg` says what is wrong. Errors:
 * -EINVAL, those of file_read_at(). */
int webhook_read_url(const struct options *options, struct strbuf *reterr_msg, struct strbuf *url)
	must_check;

/* Starts the thread. `host` is the name of this machine. The strings may go afterwards. Errors:
 * those of transport_new(), -EAGAIN. */
int webhook_start(const char *url, const char *host, struct webhook **ret_webhook) must_check;

/* Queues a message to the server. Never waits. */
void webhook_push(struct webhook *webhook, const struct trigger_firing *firing);

/* Sends the rest, at most until a time of CLOCK_MONOTONIC. NULL is fine. */
void webhook_finish(struct webhook *webhook, uint64_t deadline_ns);

/* Gives up the rest and frees. NULL is fine. */
void webhook_stop(struct webhook *webhook);
DEFINE_FREEP(struct webhook, webhook_stop)

/* For any thread. NULL: all are 0. */
struct webhook_stats webhook_get_stats(const struct webhook *webhook);

#endif
