/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/request_headers.h"

#include "base/bearer_token.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "otlp/transport/header_file.h"
#include "otlp/transport/protocol.h"

#include <string.h>

#define TOKEN_MAX_BYTES ((size_t)16 << 10)
#define AUTHORIZATION_MAX_BYTES ((size_t)20 << 10)

static int add_own(struct header_list *own, const struct transport_opts *opts)
{
	const struct protocol *protocol = protocol_get(opts->protocol);
	const struct protocol_headers headers = { opts->timeout_ns, opts->compress };

	int r = header_list_add_own(own, "Content-Type", protocol->content_type);
	if (r == 0)
		r = protocol->add_headers(own, &headers);
	if (r == 0 && opts->tenant)
		r = header_list_add_own(own, "X-Scope-OrgID", opts->tenant);
	return r;
}

int request_headers_init(struct request_headers *headers, const struct transport_opts *opts)
{
	int r = 0;

	*headers = (struct request_headers){ .header_file = NULL };
	for (size_t i = 0; r == 0 && i < opts->nr_headers; i++)
		r = header_list_add(&headers->given, opts->headers[i]);
	if (r == 0)
		r = add_own(&headers->own, opts);
	if (r == 0)
		r = text_copy(opts->header_file, &headers->header_file);
	if (r == 0)
		r = text_copy(opts->token_file, &headers->token_file);
	return r == -ENOSPC ? -EINVAL : r;
}

void request_headers_done(struct request_headers *headers)
{
	header_list_done(&headers->given);
	header_list_done(&headers->own);
	free(headers->header_file);
	free(headers->token_file);
	*headers = (struct request_headers){ .header_file = NULL };
}

static int add_file(const char *path, struct header_list *list, struct strbuf *reterr_msg)
{
	_cleanup_(header_list_done) struct header_list from_file = { 0 };

	int r = header_file_read(path, &from_file, reterr_msg);
	return r < 0 ? r : header_list_merge(list, &from_file);
}

static int add_token(const char *path, struct header_list *list, struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(AUTHORIZATION_MAX_BYTES);

	int r = bearer_token_read(path, TOKEN_MAX_BYTES, &header);
	if (r == 0)
		return header_list_add(list, strbuf_str(&header));
	strbuf_appendf(reterr_msg, "%s: %s", path, r == -EBADMSG ? "no token" : strerror(-r));
	return r;
}

int request_headers_read(const struct request_headers *headers, struct header_list *list,
			 struct strbuf *reterr_msg)
{
	int r = header_list_merge(list, &headers->given);

	if (r == 0 && headers->header_file)
		r = add_file(headers->header_file, list, reterr_msg);
	if (r == 0 && headers->token_file && !header_list_has(list, "Authorization"))
		r = add_token(headers->token_file, list, reterr_msg);
	if (r == 0)
		r = header_list_merge(list, &headers->own);
	if (r == -ENOSPC && reterr_msg->len == 0)
		strbuf_appendf(reterr_msg, "more than %d headers", HEADERS_MAX);
	return r;
}
