/* SPDX-License-Identifier: Apache-2.0 */
/* A text that says where profiles go, taken apart: a URL, or "HOST:PORT" as gRPC's users write it. */
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

/* Borrowed from the text. */
struct endpoint {
	enum endpoint_scheme scheme;
	const char *host; /* and port, if there is one */
	size_t host_len;
	const char *path; /* and query: all that is behind; "" */
	bool has_user; /* name and password before the host */
};

/* grpc and grpcs need a port and have no path. Errors: -EINVAL. */
int endpoint_parse(const char *text, struct endpoint *ret_endpoint) must_check;

#endif
