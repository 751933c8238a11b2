/* SPDX-License-Identifier: Apache-2.0 */
/* Where requests go. */
#ifndef OTLP_TRANSPORT_TRANSPORT_URL_H
#define OTLP_TRANSPORT_TRANSPORT_URL_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>

enum transport_protocol {
	TRANSPORT_OTLP_HTTP, /* POST /v1development/profiles, protobuf */
	TRANSPORT_OTLP_GRPC, /* unary ProfilesService/Export over HTTP/2; http:// is h2c */
	TRANSPORT_PYROSCOPE, /* POST /push.v1.PusherService/Push, Connect's binary unary form */
};

/* Appends the endpoint with the protocol's path behind its own, unless it ends so already or is said to be
 * the full URL (OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT; OTLP exporter specification, "Endpoint URLs for
 * OTLP/HTTP"). With gRPC there is one path only: the endpoint has none, or "/", full or not.
 * Errors: -EINVAL when it is no http or https URL, or has a path or query where there must be none; -ENOMEM. */
int transport_url(enum transport_protocol protocol, const char *endpoint, bool is_full,
		  struct strbuf *out) must_check;

#endif
