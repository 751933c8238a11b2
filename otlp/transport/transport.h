/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request to a destination and returns its outcome: OTLP over HTTP or gRPC, or
 * Pyroscope's own push. A process without privileges sends the request and reads the answer
 * (transport_worker.h).
 *
 * A transport does not retry, which is the caller's task. It sends a request once, or twice if
 * credentials were renewed (see header_file). Belongs to one thread. */
#ifndef OTLP_TRANSPORT_TRANSPORT_H
#define OTLP_TRANSPORT_TRANSPORT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "otlp/transport/header_list.h"
#include "otlp/transport/request_outcome.h"
#include "otlp/transport/transport_opts.h"
#include "otlp/transport/transport_result.h"
#include "worker/worker_client.h"

#include <stddef.h>

struct transport;

/* Copies the options. Errors: -EINVAL invalid endpoint, header or tenant, -ENOMEM. */
int transport_new(const struct transport_opts *opts, struct transport **ret_transport) must_check;
void transport_free(struct transport *transport);
DEFINE_FREEP(struct transport, transport_free)

/* Sends an encoded, uncompressed request. Local failures are OUTCOME_RETRY, too: no memory, no
 * header file, or the worker has ended. */
void transport_send(struct transport *transport, const void *body, size_t len,
		    struct request_outcome *ret_outcome);

/* Sends exactly these headers and bytes, and returns the result. */
void transport_ask(struct transport *transport, const struct header_list *headers, const void *body,
		   size_t len, struct transport_result *ret_result);

/* Returns statistics of the worker. */
struct worker_stats transport_get_stats(const struct transport *transport);

#endif
