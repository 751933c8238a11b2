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
#include "otlp/grpc_answer.h"
#include "otlp/grpc_frame.h"
#include "otlp/http_answer.h"
#include "otlp/request_headers.h"

#include <string.h>

#define URL_MAX_BYTES 4096
#define REQUEST_MAX_BYTES ((size_t)80 << 20)
#define ANSWER_KEPT_BYTES ((size_t)64 << 10)
#define ANSWER_MAX_BYTES ((size_t)4 << 20) /* as the OTLP specification advises */
#define CONNECT_TIMEOUT_MAX_NS (10 * NSEC_PER_SEC)

struct transport {
	const struct protocol *protocol;
	struct http_client *client; /* owned */
	struct strbuf url;
	struct request_headers headers;
	bool compress;
	struct strbuf request; /* compressed */
	struct strbuf answer;
};

struct protocol {
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
	[TRANSPORT_OTLP_HTTP] = { false, judge_otlp },
	[TRANSPORT_OTLP_GRPC] = { true, judge_grpc },
	[TRANSPORT_PYROSCOPE] = { false, judge_push },
};

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
		.give_up_ns = opts->give_up_ns,
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
	transport->request = strbuf_with_max(REQUEST_MAX_BYTES);
	transport->answer = strbuf_with_max(ANSWER_KEPT_BYTES);

	int r = transport_url(opts->protocol, opts->endpoint, opts->endpoint_is_full,
			      &transport->url);
	if (r == 0)
		r = request_headers_init(&transport->headers, opts);
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
	request_headers_done(&transport->headers);
	strbuf_done(&transport->url);
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

static int keep_beginning(void *data, const void *bytes, size_t len)
{
	struct strbuf *answer = data;
	size_t room = answer->max - answer->len;

	strbuf_append(answer, bytes, len < room ? len : room);
	return strbuf_error(answer);
}

static int post(struct transport *transport, const struct header_list *headers,
		struct http_response *ret_response)
{
	const struct http_sink sink = { keep_beginning, &transport->answer, ANSWER_MAX_BYTES };
	const struct http_request request = {
		.url = strbuf_str(&transport->url),
		.headers = (const char *const *)headers->lines,
		.nr_headers = headers->nr_lines,
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

static void exchange(struct transport *transport, const struct header_list *headers,
		     struct delivery *delivery)
{
	struct http_response response;

	*delivery = (struct delivery){ .verdict = DELIVERY_RETRY };
	int r = post(transport, headers, &response);
	if (r < 0) {
		const char *words = http_client_error(transport->client);

		delivery_say(delivery, find_hint(words), words, strlen(words));
		return;
	}

	const struct http_answer answer = http_answer_of(transport, &response);
	transport->protocol->judge(transport, &answer, delivery);
}

/* Whether the files say something else than what was sent; if so it is what is to be sent. */
static bool renew(const struct transport *transport, const struct header_list *sent,
		  struct header_list *headers)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(DELIVERY_MESSAGE_BYTES);

	return request_headers_read(&transport->headers, headers, &message) == 0 &&
	       !header_list_equal(headers, sent);
}

static void send_packed(struct transport *transport, struct delivery *delivery)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 }, renewed = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(DELIVERY_MESSAGE_BYTES);

	int r = request_headers_read(&transport->headers, &headers, &message);
	if (r < 0) {
		const char *words = message.len > 0 ? message.data : strerror(-r);

		delivery_say(delivery, "cannot make the headers", words, strlen(words));
		return;
	}
	exchange(transport, &headers, delivery);
	if (delivery->is_denied && renew(transport, &headers, &renewed))
		exchange(transport, &renewed, delivery);
}

void transport_send(struct transport *transport, const void *body, size_t len,
		    struct delivery *ret_delivery)
{
	struct delivery delivery = { .verdict = DELIVERY_RETRY };

	int r = pack(transport, body, len);
	if (r < 0) {
		const char *words = strerror(-r);

		delivery_say(&delivery, "cannot pack the request", words, strlen(words));
	} else {
		send_packed(transport, &delivery);
	}
	delivery.nr_bytes = delivery.was_answered ? transport->request.len : 0;
	*ret_delivery = delivery;
}
