/* SPDX-License-Identifier: Apache-2.0 */
/* A protocol is a row of a table: what it adds to the headers, how it packs the body, and who judges the answer. All
 * go over the one HTTP client, which keeps the connection open between requests.
 *
 *	body ─▶ gzip ─▶ (gRPC) frame ─▶ POST ─▶ answer ─▶ verdict
 *
 * Of an answer no more is kept than can be needed to understand it; the rest is read and thrown away, because trailers
 * come at the end. */
#include "otlp/transport.h"

#include "base/clock.h"
#include "base/gzip.h"
#include "base/bearer_token.h"
#include "otlp/grpc_answer.h"
#include "otlp/grpc_frame.h"
#include "otlp/header_list.h"
#include "otlp/http_answer.h"

#include <inttypes.h>
#include <string.h>

#define URL_MAX_BYTES 4096
#define REQUEST_MAX_BYTES ((size_t)80 << 20)
#define ANSWER_KEPT_BYTES ((size_t)64 << 10)
#define ANSWER_MAX_BYTES ((size_t)4 << 20) /* as the OTLP specification advises */
#define TOKEN_MAX_BYTES ((size_t)16 << 10)
#define AUTHORIZATION_MAX_BYTES ((size_t)20 << 10)
#define TIMEOUT_MAX 99999999 /* of grpc-timeout: eight digits */
#define CONNECT_TIMEOUT_MAX_NS (10 * NSEC_PER_SEC)

struct transport {
	const struct protocol *protocol;
	struct http_client *client; /* owned */
	struct strbuf url;
	struct header_list headers;
	const char **lines; /* owned; those of `headers`, and room for the token's */
	char *token_file; /* owned; NULL: none */
	struct strbuf authorization; /* the token's header */
	bool compress;
	struct strbuf request; /* compressed */
	struct strbuf answer;
};

struct protocol {
	const char *content_type; /* receivers compare it as a whole: nothing may follow it */
	bool is_grpc;
	void (*judge)(const struct transport *transport, const struct http_answer *answer,
		      struct delivery *delivery);
};

static void judge_otlp(const struct transport *transport, const struct http_answer *answer,
		       struct delivery *delivery)
{
	(void)transport;
	http_answer_judge_otlp(answer, delivery);
}

static void judge_push(const struct transport *transport, const struct http_answer *answer,
		       struct delivery *delivery)
{
	(void)transport;
	http_answer_judge(answer, delivery);
}

static struct grpc_answer read_grpc_answer(const struct transport *transport,
					   const struct http_answer *answer)
{
	return (struct grpc_answer){
		.http = *answer,
		.status = http_client_header(transport->client, "grpc-status"),
		.message = http_client_header(transport->client, "grpc-message"),
		.details = http_client_header(transport->client, "grpc-status-details-bin"),
		.encoding = http_client_header(transport->client, "grpc-encoding"),
	};
}

static void judge_grpc(const struct transport *transport, const struct http_answer *answer,
		       struct delivery *delivery)
{
	const struct grpc_answer grpc = read_grpc_answer(transport, answer);

	grpc_answer_judge(&grpc, delivery);
}

static const struct protocol protocols[] = {
	[TRANSPORT_OTLP_HTTP] = { "application/x-protobuf", false, judge_otlp },
	[TRANSPORT_OTLP_GRPC] = { "application/grpc", true, judge_grpc },
	[TRANSPORT_PYROSCOPE] = { "application/proto", false, judge_push },
};

static int add_grpc_headers(struct header_list *headers, const struct transport_opts *opts)
{
	uint64_t ms = opts->timeout_ns / NSEC_PER_MSEC + 1;
	char timeout[16];

	snprintf(timeout, sizeof(timeout), "%" PRIu64 "m", ms < TIMEOUT_MAX ? ms : TIMEOUT_MAX);
	int r = header_list_add_own(headers, "TE", "trailers");
	if (r == 0)
		r = header_list_add_own(headers, "grpc-timeout", timeout);
	if (r == 0)
		r = header_list_add_own(headers, "grpc-accept-encoding", "identity,gzip");
	if (r == 0 && opts->compress)
		r = header_list_add_own(headers, "grpc-encoding", "gzip");
	return r;
}

static int add_headers(struct transport *transport, const struct transport_opts *opts)
{
	struct header_list *headers = &transport->headers;
	bool is_grpc = transport->protocol->is_grpc;
	int r = 0;

	for (size_t i = 0; r == 0 && i < opts->nr_headers; i++)
		r = header_list_add(headers, opts->headers[i]);
	if (r == 0)
		r = header_list_add_own(headers, "Content-Type", transport->protocol->content_type);
	if (r == 0 && is_grpc)
		r = add_grpc_headers(headers, opts);
	if (r == 0 && !is_grpc && opts->compress)
		r = header_list_add_own(headers, "Content-Encoding", "gzip");
	if (r == 0 && opts->protocol == TRANSPORT_PYROSCOPE)
		r = header_list_add_own(headers, "Connect-Protocol-Version", "1");
	if (r == 0 && opts->tenant)
		r = header_list_add_own(headers, "X-Scope-OrgID", opts->tenant);
	return r == -ENOSPC ? -EINVAL : r;
}

/* The user's own Authorization leaves nothing for the file to say. */
static int add_token(struct transport *transport, const struct transport_opts *opts)
{
	size_t nr_lines = transport->headers.nr_lines;

	transport->lines = calloc(nr_lines + 1, sizeof(*transport->lines));
	if (!transport->lines)
		return -ENOMEM;
	for (size_t i = 0; i < nr_lines; i++)
		transport->lines[i] = transport->headers.lines[i];
	if (!opts->token_file || header_list_has(&transport->headers, "Authorization"))
		return 0;
	transport->token_file = strdup(opts->token_file);
	return transport->token_file ? 0 : -ENOMEM;
}

static int make_client(struct transport *transport, const struct transport_opts *opts)
{
	const struct http_client_opts client_opts = {
		.ca_file = opts->ca_file,
		.cert_file = opts->client_cert_file,
		.key_file = opts->client_key_file,
		.verify = opts->verify,
		.needs_http2 = transport->protocol->is_grpc,
		.use_proxy_env = true,
		.connect_timeout_ns = opts->timeout_ns < CONNECT_TIMEOUT_MAX_NS
					      ? opts->timeout_ns
					      : CONNECT_TIMEOUT_MAX_NS,
		.total_timeout_ns = opts->timeout_ns,
	};

	return http_client_new(&client_opts, &transport->client);
}

int transport_new(const struct transport_opts *opts, struct transport **ret_transport)
{
	_cleanup_(transport_freep) struct transport *transport = calloc(1, sizeof(*transport));

	if (!transport)
		return -ENOMEM;
	transport->protocol = &protocols[opts->protocol];
	transport->compress = opts->compress;
	transport->url = strbuf_with_max(URL_MAX_BYTES);
	transport->authorization = strbuf_with_max(AUTHORIZATION_MAX_BYTES);
	transport->request = strbuf_with_max(REQUEST_MAX_BYTES);
	transport->answer = strbuf_with_max(ANSWER_KEPT_BYTES);

	int r = transport_url(opts->protocol, opts->endpoint, opts->endpoint_is_full,
			      &transport->url);
	if (r == 0)
		r = add_headers(transport, opts);
	if (r == 0)
		r = add_token(transport, opts);
	if (r == 0)
		r = make_client(transport, opts);
	if (r < 0)
		return r;
	*ret_transport = take_ptr(transport);
	return 0;
}

void transport_free(struct transport *transport)
{
	if (!transport)
		return;
	http_client_free(transport->client);
	header_list_done(&transport->headers);
	free(transport->lines);
	free(transport->token_file);
	strbuf_done(&transport->url);
	strbuf_done(&transport->authorization);
	strbuf_done(&transport->request);
	strbuf_done(&transport->answer);
	free(transport);
}

static int pack(struct transport *transport, const void *body, size_t len)
{
	struct strbuf *request = &transport->request;

	strbuf_clear(request);
	if (transport->protocol->is_grpc)
		grpc_frame_append(request, body, len, transport->compress);
	else if (transport->compress)
		gzip_append(request, body, len);
	else
		strbuf_append(request, body, len);
	return strbuf_error(request);
}

static int read_token(struct transport *transport)
{
	strbuf_clear(&transport->authorization);
	return bearer_token_read(transport->token_file, TOKEN_MAX_BYTES, &transport->authorization);
}

static int keep_beginning(void *data, const void *bytes, size_t len)
{
	struct strbuf *answer = data;
	size_t room = answer->max - answer->len;

	strbuf_append(answer, bytes, len < room ? len : room);
	return strbuf_error(answer);
}

static int post(struct transport *transport, struct http_response *ret_response)
{
	const struct http_sink sink = { keep_beginning, &transport->answer, ANSWER_MAX_BYTES };
	size_t nr_headers = transport->headers.nr_lines;

	if (transport->token_file)
		transport->lines[nr_headers++] = strbuf_str(&transport->authorization);
	const struct http_request request = {
		.url = strbuf_str(&transport->url),
		.headers = transport->lines,
		.nr_headers = nr_headers,
		.body = transport->request.data,
		.body_len = transport->request.len,
		.sink = &sink,
	};

	strbuf_clear(&transport->answer);
	return http_perform(transport->client, &request, &transport->answer, ret_response);
}

static struct http_answer http_answer_of(const struct transport *transport,
					 const struct http_response *response)
{
	return (struct http_answer){
		.status = response->status,
		.retry_after_s = response->retry_after_s,
		.content_type = http_client_header(transport->client, "content-type"),
		.body = transport->answer.data,
		.len = transport->answer.len,
	};
}

static bool is_unauthenticated(const struct transport *transport, const struct http_answer *answer)
{
	if (!transport->protocol->is_grpc)
		return answer->status == 401;

	const struct grpc_answer grpc = read_grpc_answer(transport, answer);
	return grpc_answer_is_unauthenticated(&grpc);
}

/* What libcurl's words often mean. */
static const char *find_hint(const char *words)
{
	static const struct {
		const char *words, *hint;
	} hints[] = {
		{ "HTTP/0.9", "maybe a port for gRPC" },
		{ "wrong version number", "maybe it speaks no TLS" },
	};

	for (size_t i = 0; i < array_len(hints); i++)
		if (strstr(words, hints[i].words))
			return hints[i].hint;
	return "";
}

/* Tells whether the receiver does not know us. */
static bool exchange(struct transport *transport, struct delivery *delivery)
{
	struct http_response response;

	int r = post(transport, &response);
	if (r < 0) {
		const char *words = http_client_error(transport->client);

		delivery_say(delivery, find_hint(words), words, strlen(words));
		return false;
	}

	const struct http_answer answer = http_answer_of(transport, &response);
	transport->protocol->judge(transport, &answer, delivery);
	return is_unauthenticated(transport, &answer);
}

/* Whether the file holds another token than the one sent; if so it is the one to be sent. */
static bool renew_token(struct transport *transport)
{
	_cleanup_(strbuf_done) struct strbuf sent = transport->authorization;

	transport->authorization = strbuf_with_max(AUTHORIZATION_MAX_BYTES);
	return read_token(transport) == 0 &&
	       strcmp(strbuf_str(&transport->authorization), strbuf_str(&sent)) != 0;
}

void transport_send(struct transport *transport, const void *body, size_t len,
		    struct delivery *ret_delivery)
{
	struct delivery delivery = { .verdict = DELIVERY_RETRY };
	const char *what = "cannot pack the request";

	int r = pack(transport, body, len);
	if (r == 0 && transport->token_file) {
		what = "cannot read the token file";
		r = read_token(transport);
	}
	if (r < 0) {
		const char *words = strerror(-r);

		delivery_say(&delivery, what, words, strlen(words));
	} else if (exchange(transport, &delivery) && transport->token_file &&
		   renew_token(transport)) {
		delivery = (struct delivery){ .verdict = DELIVERY_RETRY };
		exchange(transport, &delivery);
	}
	delivery.nr_bytes = delivery.was_answered ? transport->request.len : 0;
	*ret_delivery = delivery;
}
