/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over HTTP: one POST a request, gzip, over a connection that stays open. Belongs to one thread. */
#ifndef OTLP_TRANSPORT_HTTP_H
#define OTLP_TRANSPORT_HTTP_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transport_http;

struct transport_http_opts {
	const char *endpoint; /* see transport_http_url() */
	bool endpoint_is_full;
	const char *const *headers; /* "Name: value" */
	size_t nr_headers;
	const char *ca_file; /* NULL: the system's */
	uint64_t timeout_ns; /* whole request */
};

/* Copies what it needs of `opts`. Errors: -EINVAL for the endpoint or a header, -ENOMEM. */
int transport_http_new(const struct transport_http_opts *opts,
		       struct transport_http **ret_transport) must_check;
void transport_http_free(struct transport_http *transport);
DEFINE_FREEP(struct transport_http, transport_http_free)

/* Sends an encoded request. *ret_bytes_sent, the size of the compressed body, is set in any case.
 * On failure transport_http_error() tells more. Errors: -EREMOTEIO when the server answered, but not with
 * 2xx; else as http_perform(). */
int transport_http_send(struct transport_http *transport, const struct strbuf *request,
			struct response *ret_response, size_t *ret_bytes_sent) must_check;

/* What the last failure was; borrowed until the next request. */
const char *transport_http_error(const struct transport_http *transport);

/* Appends where profiles go: the endpoint's path with /v1development/profiles behind it, unless it ends
 * so already or is said to be the full URL (OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT; OTLP exporter
 * specification, "Endpoint URLs for OTLP/HTTP").
 * Errors: -EINVAL when it is no http or https URL, -ENOMEM. */
int transport_http_url(const char *endpoint, bool is_full, struct strbuf *out) must_check;

#endif
