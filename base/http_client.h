/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request at a time over libcurl, with a kept-alive connection between them.
 *
 * Never follows redirects, never reads .netrc, never uses a proxy unless told to; http and https
 * only. A client belongs to one thread. */
#ifndef BASE_HTTP_CLIENT_H
#define BASE_HTTP_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

/* How the server's certificate is verified. */
enum http_verify {
	HTTP_VERIFY_FULL, /* chain and host name */
	HTTP_VERIFY_CA_ONLY, /* chain, any name */
	HTTP_VERIFY_NONE, /* nothing: only on the user's explicit word */
	HTTP_VERIFY_PINNED, /* it is the first certificate of `ca`, whatever its names and dates */
};

struct http_client_opts {
	enum http_verify verify;
	bool needs_http2; /* without TLS it is spoken unasked; a proxy is tunnelled through */
	const char *resolve; /* "name:port:address": dial the address, verify the name; NULL: DNS */
	bool use_proxy_env; /* honour http_proxy, https_proxy, no_proxy */
	uint64_t connect_timeout_ns;
	uint64_t total_timeout_ns;
};

/* Copies what it needs of `opts`. Errors: -ENOMEM. */
int http_client_new(const struct http_client_opts *opts, struct http_client **ret_client)
	must_check;
void http_client_free(struct http_client *client);
DEFINE_FREEP(struct http_client, http_client_free)

/* Takes the body of an answer with status 200 as it comes in, in pieces of any size. */
struct http_sink {
	int (*take)(void *data, const void *bytes, size_t len); /* its error ends the transfer */
	void *data;
	size_t max_bytes; /* of the body */
};

/* What a file holds; a NUL follows. */
struct http_pem {
	const char *text; /* NULL: there is none */
	size_t len;
};

/* Other certificates than those of the request before are for a new connection. */
struct http_tls {
	struct http_pem ca; /* none: the system's certificates */
	struct http_pem cert,
		key; /* what we show; without a key of its own, the key is with the certificate */
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
	uint64_t retry_after_s; /* 0: none given, or a time that is over */
};

/* Performs the request; the response body is appended to `body`, whose limit bounds it. With a
 * sink, `body` only takes what comes with another status than 200, and where that is longer than
 * the buffer may be its beginning is all that is read. Any HTTP status is a success here. On
 * failure http_client_error() tells more.
 * Errors: -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH (name or route), -EKEYREJECTED (certificate,
 * the server's or ours, before anything of the request was sent), -ENOSPC (body over the limit),
 * -EPROTONOSUPPORT (HTTP/2 is needed and not spoken), -EPROTO (anything else), -ENOMEM, and
 * those of the sink. */
int http_perform(struct http_client *client, const struct http_request *request,
		 struct strbuf *body, struct http_response *ret_response) must_check;

/* A trailer of the last answer, or a header where no trailer is called so; the last of several.
 * Upper and lower case are the same. NULL: none; borrowed until the next request. */
const char *http_client_header(const struct http_client *client, const char *name);

/* libcurl's words for the last failure; borrowed until the next request. */
const char *http_client_error(const struct http_client *client);

#endif
