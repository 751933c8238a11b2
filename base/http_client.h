/* SPDX-License-Identifier: Apache-2.0 */
/* Performs HTTP requests with libcurl, one at a time, over a connection that is kept alive.
 *
 * Never follows redirects, never reads .netrc, and uses a proxy only if told to. Only http and
 * https are allowed. A client belongs to one thread. */
#ifndef BASE_HTTP_CLIENT_H
#define BASE_HTTP_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

/* Verification of the server's certificate. */
enum http_verify {
	HTTP_VERIFY_FULL, /* chain and host name */
	HTTP_VERIFY_CA_ONLY, /* chain, any name */
	HTTP_VERIFY_NONE, /* nothing; only if the user asks for it */
	/* it must be the first certificate of `ca`; its names and dates are ignored */
	HTTP_VERIFY_PINNED,
};

struct http_client_opts {
	enum http_verify verify;
	/* without TLS it is spoken without negotiation; proxies are tunnelled through */
	bool needs_http2;
	/* "name:port:address": connect to the address, verify the name; NULL: use DNS */
	const char *resolve;
	bool use_proxy_env; /* honour http_proxy, https_proxy, no_proxy */
	uint64_t connect_timeout_ns;
	uint64_t total_timeout_ns;
};

/* Copies the options. Errors: -ENOMEM. */
int http_client_new(const struct http_client_opts *opts, struct http_client **ret_client)
	must_check;
void http_client_free(struct http_client *client);
DEFINE_FREEP(struct http_client, http_client_free)

/* Receives the body of an answer with status 200 in pieces of any size. */
struct http_sink {
	int (*take)(void *data, const void *bytes, size_t len); /* an error ends the transfer */
	void *data;
	size_t max_bytes; /* of the body */
};

/* Content of a PEM file, followed by a NUL. */
struct http_pem {
	const char *text; /* NULL: none */
	size_t len;
};

/* A request with other certificates than the previous one uses a new connection. */
struct http_tls {
	struct http_pem ca; /* none: the system's certificates */
	struct http_pem cert,
		key; /* our certificate; without `key`, `cert` contains the key, too */
};

struct http_request {
	const char *url;
	struct http_tls tls; /* borrowed */
	const char *const *headers; /* "Name: value", nr_headers of them */
	size_t nr_headers;
	const void *body; /* NULL: GET, else POST */
	size_t body_len;
	const struct http_sink *sink; /* NULL: all bodies go to the buffer */
};

struct http_response {
	unsigned int status; /* HTTP status */
	unsigned int version; /* of HTTP: 1 or 2 */
	uint64_t retry_after_s; /* 0: none, or a time in the past */
};

/* Performs the request and appends the response body to `body`, whose limit applies. With a sink,
 * `body` only receives bodies of other statuses than 200, truncated to its limit. Any HTTP status
 * is a success here. After a failure, http_client_error() describes it. Errors: -ETIMEDOUT,
 * -ECONNREFUSED, -EHOSTUNREACH (name or route), -EKEYREJECTED (the server's or our certificate,
 * before any part of the request was sent), -ENOSPC (body over the limit), -EPROTONOSUPPORT (HTTP/2
 * is needed but not supported), -EPROTO (anything else), -ENOMEM, and errors of the sink. */
int http_perform(struct http_client *client, const struct http_request *request,
		 struct strbuf *body, struct http_response *ret_response) must_check;

/* Returns a trailer of the last answer, or a header if there is no trailer of that name; the last
 * one of several. Names are case-insensitive. Returns NULL if there is none. Borrowed until the
 * next request. */
const char *http_client_header(const struct http_client *client, const char *name);

/* Returns libcurl's description of the last failure; borrowed until the next request. */
const char *http_client_error(const struct http_client *client);

#endif
