/* SPDX-License-Identifier: Apache-2.0 */
/* Splits an endpoint into its parts. It is a URL, or "HOST:PORT", which is usual for gRPC. */
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
	const char *path; /* everything behind the host, including the query; may be "" */
	bool has_user; /* the URL has a user name or password */
};

/* Parses an endpoint. Endpoints other than http and https need a port and have no path. Errors:
 * -EINVAL. */
int endpoint_parse(const char *text, struct endpoint *ret_endpoint) must_check;

#endif
