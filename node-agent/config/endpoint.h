/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an endpoint apart: a URL, or "HOST:PORT" as it is usual for gRPC. */
#ifndef CONFIG_ENDPOINT_H
#define CONFIG_ENDPOINT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum endpoint_scheme {
	ENDPOINT_BARE, /* HOST:PORT */
	ENDPOINT_HTTP,
	ENDPOINT_HTTPS,
	ENDPOINT_GRPC, /* without TLS */
	ENDPOINT_GRPCS,
};

/* The strings are borrowed from the text. */
struct endpoint {
	enum endpoint_scheme scheme;
	const char *host; /* with the port, if there is one; host_len bytes */
	size_t host_len;
	const char *path; /* everything behind the host, with the query; "" for nothing */
	bool has_user; /* a name or password stands before the host */
};

/* Parses an endpoint. All but http and https need a port and have no path. Errors: -EINVAL. */
int endpoint_parse(const char *text, struct endpoint *ret_endpoint) must_check;

#endif
