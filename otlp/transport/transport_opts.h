/* SPDX-License-Identifier: Apache-2.0 */
/* The user's options for a destination: endpoint, protocol and credentials. */
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
	/* "Name: value"; metadata with gRPC. They take precedence over ours of the same name.
	 * Headers that describe the body cannot be set. */
	const char *const *headers;
	size_t nr_headers;
	const char *tenant; /* X-Scope-OrgID; NULL: none */
	/* Headers and a bearer token, read for each request; NULL: none. If authentication fails
	 * and a file has changed meanwhile, the request is sent again. */
	const char *header_file, *token_file;
	const char *ca_file; /* NULL: the system's */
	/* mTLS; NULL: none. With https, these and the CA's file are read for each request. */
	const char *client_cert_file, *client_key_file;
	enum http_verify verify;
	bool compress; /* gzip */
	uint64_t timeout_ns; /* for the whole request */
	/* Time of the monotonic clock from which on no request begins, and the current one is given
	 * up at once as OUTCOME_RETRY. Atomic, may change at any time, must outlive the transport.
	 * NULL: never. */
	const uint64_t *give_up_ns;
};

/* Appends the endpoint and the protocol's path, unless the endpoint already ends with that path or
 * is declared to be the full URL (OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT; OTLP exporter
 * specification, "Endpoint URLs for OTLP/HTTP"). gRPC has a single path, so the endpoint must have
 * none, or "/". Errors: -EINVAL not an http or https URL, or an unexpected path or query;
 * -ENOMEM. */
int transport_opts_url(const struct transport_opts *opts, struct strbuf *out) must_check;

#endif
