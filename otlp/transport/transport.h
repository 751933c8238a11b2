/* SPDX-License-Identifier: Apache-2.0 */
/* Brings one request to a receiver and says what became of it: OTLP over HTTP or gRPC, or
 * Pyroscope's own push. The request is sent, and the answer read, by a process without privileges
 * (transport_worker.h).
 *
 * Retrying is the caller's business: a transport sends once (twice at most where credentials were
 * renewed, see header_file). Belongs to one thread. */
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

/* Copies what it needs of `opts`. Errors: -EINVAL for the endpoint, a header or the tenant,
 * -ENOMEM. */
int transport_new(const struct transport_opts *opts, struct transport **ret_transport) must_check;
void transport_free(struct transport *transport);
DEFINE_FREEP(struct transport, transport_free)

/* Sends an encoded, not compressed, request. Local failures (no memory, no header file, the
 * process that sends has ended) are OUTCOME_RETRY, too. */
void transport_send(struct transport *transport, const void *body, size_t len,
		    struct request_outcome *ret_outcome);

/* Sends these headers and bytes, none but those, and says what came back. */
void transport_ask(struct transport *transport, const struct header_list *headers, const void *body,
		   size_t len, struct transport_result *ret_result);

/* Of the process that sends; one that answers nonsense counts among the dead. */
struct worker_stats transport_get_stats(const struct transport *transport);

#endif
