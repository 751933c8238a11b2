/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP request that the agent has a network worker perform: all that it needs, since the
 * worker opens none of the agent's files and has no environment.
 *
 *	agent:	http_order_begin(&bytes);		worker:	http_order_read(bytes, len, &order);
 *		… append the body …				http_order_new_client(&order, &client);
 *		http_order_finish(&bytes, end, &order);		request = http_order_request(&order, NULL);
 *
 * The body comes first, so that it can be made in place, and an order with other headers be made
 * of the same one. */
#ifndef WORKER_HTTP_ORDER_H
#define WORKER_HTTP_ORDER_H

#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ORDER_MAX_HEADERS 256
#define HTTP_ORDER_MAX_REST_BYTES ((size_t)8 << 20) /* of an order, but for the body */

struct http_order {
	struct http_client_opts client; /* use_proxy_env: of the agent's environment */
	const char *url;
	struct http_tls tls;
	bool has_body; /* POST, else GET */
	const char *headers[HTTP_ORDER_MAX_HEADERS];
	size_t nr_headers;
	/* What else the worker is told, by the agent's code that orders: flat.h. */
	const void *extra;
	size_t extra_len;

	/* of an order that was read */
	const void *body;
	size_t body_len;
	const char *environment; /* "NAME=value" and a NUL for each, and a NUL */
};

/* Begins an order in an empty buffer; the body may follow. */
void http_order_begin(struct strbuf *out);

/* Ends it, with what comes before byte `end` as the body; an older end is overwritten. Failures
 * are kept in `out`. */
void http_order_finish(struct strbuf *out, size_t end, const struct http_order *order);

/* Reads an order; what it has is borrowed from the bytes. Errors: -EBADMSG. */
int http_order_read(const void *bytes, size_t len, struct http_order *ret_order) must_check;

/* Makes the client that performs the order, and others that differ in no more than url, tls,
 * headers and body. Where the agent's proxies are to be used, they become this process's
 * environment. Errors: those of http_client_new(). */
int http_order_new_client(const struct http_order *order, struct http_client **ret_client)
	must_check;

/* The request, borrowed from the order; a sink as http_request has it. */
struct http_request http_order_request(const struct http_order *order,
				       const struct http_sink *sink);

#endif
