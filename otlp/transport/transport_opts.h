/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says of a destination: where it is, how it is spoken to, and as whom. */
#ifndef OTLP_TRANSPORT_TRANSPORT_OPTS_H
#define OTLP_TRANSPORT_TRANSPORT_OPTS_H

#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"
#include "otlp/transport/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All borrowed. */
struct transport_opts {
	enum transport_protocol protocol;
	const char *endpoint; /* URL, see transport_opts_url() */
	bool endpoint_is_full;
	/* "Name: value"; metadata with gRPC. They win over ours of the same name, but those that
	 * say what the body is cannot be set. */
	const char *const *headers;
	size_t nr_headers;
	const char *tenant; /* X-Scope-OrgID; NULL: none */
	/* Headers and a bearer token, read for each request; NULL: none. Where the destination says
	 * that it does not know us, or what we may do, and a file holds something else by then, the
	 * request is sent again. */
	const char *header_file, *token_file;
	const char *ca_file; /* NULL: the system's */
	/* mTLS; NULL: none. https reads these and the CA's file for each request. */
	const char *client_cert_file, *client_key_file;
	enum http_verify verify;
	bool compress; /* gzip */
	uint64_t timeout_ns; /* whole request */
	/* Atomic, and may change at any time: from then on by the monotonic clock no request
	 * begins, and one that is under way is given up at once, as OUTCOME_RETRY. NULL: never;
	 * else it must outlive the transport. */
	const uint64_t *give_up_ns;
};

/* Appends the endpoint with the protocol's path behind its own, unless it ends so already or is
 * said to be the full URL (OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT; OTLP exporter specification,
 * "Endpoint URLs for OTLP/HTTP"). With gRPC there is one path only: the endpoint has none, or "/",
 * full or not. Errors: -EINVAL when it is no http or https URL, or has a path or query where there
 * must be none; -ENOMEM. */
int transport_opts_url(const struct transport_opts *opts, struct strbuf *out) must_check;

#endif
