/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP request that a network worker performs for the agent. It contains everything the worker
 * needs, as the worker cannot open the agent's files and has no environment.
 *
 *	agent:	http_order_begin(&bytes);		worker:	http_order_read(bytes, len, &order);
 *		… append the body …				http_order_new_client(&order, &client);
 *		http_order_finish(&bytes, end, &order);		request = http_order_request(&order, NULL);
 *
 * The body comes first, so that it can be written in place, and reused in an order with other
 * headers. */
#ifndef WORKER_HTTP_ORDER_H
#define WORKER_HTTP_ORDER_H

#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ORDER_MAX_HEADERS 256
#define HTTP_ORDER_MAX_REST_BYTES ((size_t)8 << 20) /* of an order without its body */

struct http_order {
	struct http_client_opts client; /* use_proxy_env: of the agent's environment */
	const char *url;
	struct http_tls tls;
	bool has_body; /* POST, else GET */
	const char *headers[HTTP_ORDER_MAX_HEADERS];
	size_t nr_headers;
	/* Further data for the worker, in the format of flat.h. */
	const void *extra;
	size_t extra_len;

	/* set by http_order_read() */
	const void *body;
	size_t body_len;
	const char *environment; /* "NAME=value" and a NUL for each, and a NUL */
};

/* Begins an order in an empty buffer; the body may follow. */
void http_order_begin(struct strbuf *out);

/* Ends an order whose body ends before byte `end`; bytes from an earlier call are overwritten.
 * Failures are kept in `out`. */
void http_order_finish(struct strbuf *out, size_t end, const struct http_order *order);

/* Reads an order, which points into `bytes`. Errors: -EBADMSG. */
int http_order_read(const void *bytes, size_t len, struct http_order *ret_order) must_check;

/* Creates a client for this order. The client also serves later orders if they differ only in url,
 * tls, headers and body. If the order uses the agent's proxies, this function sets them in the
 * environment of the process. Errors: those of http_client_new(). */
int http_order_new_client(const struct http_order *order, struct http_client **ret_client)
	must_check;

/* Returns the request, borrowed from the order. */
struct http_request http_order_request(const struct http_order *order,
				       const struct http_sink *sink);

#endif
