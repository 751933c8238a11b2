/* SPDX-License-Identifier: Apache-2.0 */
/* A small HTTP server for a few pages, each made when it is requested, in a thread of its own. It
 * supports GET and HEAD, with one request per connection. It serves this machine only, unless
 * `is_public` is set.
 *
 * A client cannot hold it up: a connection lives for at most HTTP_SERVER_REQUEST_NS. While all
 * HTTP_SERVER_MAX_CONNECTIONS are taken, the oldest one lives for HTTP_SERVER_CROWDED_NS. Other
 * machines can make it use HTTP_SERVER_PUBLIC_CPU_NS of CPU time per second, enough for about a
 * hundred pages of metrics. */
#ifndef SELFMON_HTTP_SERVER_H
#define SELFMON_HTTP_SERVER_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_SERVER_MAX_CONNECTIONS 8
#define HTTP_SERVER_REQUEST_NS (5 * NSEC_PER_SEC)
#define HTTP_SERVER_CROWDED_NS (100 * NSEC_PER_MSEC)
#define HTTP_SERVER_PUBLIC_CPU_NS (50 * NSEC_PER_MSEC)
#define HTTP_SERVER_REQUEST_MAX_BYTES 16384 /* line and headers */
#define HTTP_SERVER_BODY_MAX_BYTES ((size_t)1 << 20)

struct http_server;

struct http_page {
	const char *path; /* "/metrics"; a query is ignored */
	const char *content_type;
	/* Appends the body and returns the status; in the server's thread. */
	unsigned int (*make)(struct strbuf *body, void *data);
};

struct http_server_opts {
	const char *thread_name; /* at most 15 bytes */
	const char *listen; /* see listen_address_parse() */
	bool is_public; /* others may connect: see listen_address_parse_public() */
	const struct http_page *pages; /* borrowed, as is `data`: they outlive the server */
	size_t nr_pages;
	void *data;
};

/* On failure `reterr_msg` says what is wrong with the address. Errors: those of
 * listen_address_parse() and listen_socket_open(), -ENOMEM, -EAGAIN. */
int http_server_start(const struct http_server_opts *opts, struct strbuf *reterr_msg,
		      struct http_server **ret_server) must_check;

/* NULL is fine. */
void http_server_stop(struct http_server *server);
DEFINE_FREEP(struct http_server, http_server_stop)

#endif
