/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of a destination's worker (transport_worker.h). It makes the request, and reads
 * the files with credentials and certificates, which the worker may not open. The worker sends the
 * request and reads the answer.
 *
 *	body ─▶ gzip ─▶ (gRPC) frame ─▶ order ─▶ worker ─▶ result, checked
 *
 * When a worker ends, takes too long or sends an invalid answer, its request is tried again, and
 * nothing else is lost. */
#include "otlp/transport/transport.h"

#include "base/clock.h"
#include "base/flat.h"
#include "base/minmax.h"
#include "base/tls_files.h"
#include "otlp/transport/request_headers.h"
#include "otlp/transport/transport_result.h"
#include "otlp/transport/transport_worker.h"
#include "worker/http_order.h"
#include "worker/worker_client.h"

#include <string.h>

#define URL_MAX_BYTES 4096
#define MESSAGE_MAX_BYTES 256
#define EXTRA_BYTES 64
#define CONNECT_TIMEOUT_MAX_NS (10 * NSEC_PER_SEC)
#define WORKER_GRACE_NS (2 * NSEC_PER_SEC) /* to start, and to report a timeout by itself */
#define WORKER_CPU_S 10 /* a request takes milliseconds */

struct transport {
	enum transport_protocol protocol;
	enum http_verify verify;
	bool compress;
	bool is_https;
	uint64_t timeout_ns;
	const uint64_t *give_up_ns; /* borrowed; NULL: never */
	struct worker_client *worker; /* owned */
	struct strbuf url;
	struct request_headers headers;
	struct tls_files files;
	struct strbuf order;
};

static int make_worker(struct transport *transport)
{
	const struct worker_client_opts opts = {
		.command = TRANSPORT_WORKER_COMMAND,
		.max_data_bytes = TRANSPORT_WORKER_DATA_BYTES,
	};

	return worker_client_new(&opts, &transport->worker);
}

int transport_new(const struct transport_opts *opts, struct transport **ret_transport)
{
	_cleanup_(transport_freep) struct transport *transport = calloc(1, sizeof(*transport));

	if (!transport)
		return -ENOMEM;
	transport->protocol = opts->protocol;
	transport->verify = opts->verify;
	transport->compress = opts->compress;
	transport->timeout_ns = opts->timeout_ns;
	transport->give_up_ns = opts->give_up_ns;
	transport->url = strbuf_with_max(URL_MAX_BYTES);
	transport->order = strbuf_with_max(TRANSPORT_WORKER_BODY_MAX_BYTES +
					   HTTP_ORDER_MAX_REST_BYTES);

	int r = transport_opts_url(opts, &transport->url);
	if (r == 0)
		r = request_headers_init(&transport->headers, opts);
	if (r == 0)
		r = tls_files_init(&transport->files, opts->ca_file, opts->client_cert_file,
				   opts->client_key_file);
	if (r == 0)
		r = make_worker(transport);
	if (r < 0)
		return r;
	transport->is_https = strncasecmp(strbuf_str(&transport->url), "https:", 6) == 0;
	*ret_transport = take_ptr(transport);
	return 0;
}

void transport_free(struct transport *transport)
{
	if (!transport)
		return;
	worker_client_free(transport->worker);
	request_headers_done(&transport->headers);
	tls_files_done(&transport->files);
	strbuf_done(&transport->url);
	strbuf_done(&transport->order);
	free(transport);
}

/* Begins the order with the body. Returns the end of the body. */
static size_t pack(struct transport *transport, const void *body, size_t len)
{
	struct strbuf *order = &transport->order;

	strbuf_clear(order);
	http_order_begin(order);
	protocol_get(transport->protocol)->pack(order, body, len, transport->compress);
	return order->len;
}

static struct transport_result no_answer(int error, const char *what, const char *words)
{
	struct transport_result result = { .error = error, .outcome.verdict = OUTCOME_RETRY };

	request_outcome_say(&result.outcome, what, words, strlen(words));
	return result;
}

/* Completes the order after the body. */
static int finish_order(struct transport *transport, const struct header_list *headers,
			const struct http_tls *tls, size_t body_end)
{
	_cleanup_(strbuf_done) struct strbuf extra = strbuf_with_max(EXTRA_BYTES);
	uint64_t timeout_ns = transport->timeout_ns;
	struct http_order order = {
		.client.verify = transport->verify,
		.client.needs_http2 = protocol_get(transport->protocol)->needs_http2,
		.client.use_proxy_env = true,
		.client.connect_timeout_ns = min_u64(timeout_ns, CONNECT_TIMEOUT_MAX_NS),
		.client.total_timeout_ns = timeout_ns,
		.url = strbuf_str(&transport->url),
		.tls = *tls,
		.has_body = true,
		.nr_headers = headers->nr_lines,
	};

	if (headers->nr_lines > HTTP_ORDER_MAX_HEADERS)
		return -ENOSPC;
	for (size_t i = 0; i < headers->nr_lines; i++)
		order.headers[i] = headers->lines[i];
	flat_put_number(&extra, transport->protocol);
	order.extra = extra.data;
	order.extra_len = extra.len;
	http_order_finish(&transport->order, body_end, &order);
	return strbuf_error(&extra) < 0 ? strbuf_error(&extra) : strbuf_error(&transport->order);
}

static struct transport_result explain_worker(int error)
{
	switch (error) {
	case -ECANCELED:
		return no_answer(error, "abandoned: no response before the end", "");
	case -ETIMEDOUT:
		return no_answer(error, "the transport worker timed out", "");
	case -EAGAIN:
	case -EPIPE:
		return no_answer(error, "the transport worker exited", "");
	case -EBADMSG:
		return no_answer(error, "the transport worker returned invalid data", "");
	default:
		return no_answer(error, "cannot use the transport worker", strerror(-error));
	}
}

static int perform(struct transport *transport, struct transport_result *ret_result)
{
	const struct worker_limits limits = {
		.timeout_ns = transport->timeout_ns + WORKER_GRACE_NS,
		.cpu_s = WORKER_CPU_S,
	};
	struct worker_bytes reply = { 0 };

	int r = worker_client_ask(transport->worker, &transport->order, TRANSPORT_RESULT_MAX_BYTES,
				  &limits, transport->give_up_ns, &reply);
	if (r < 0)
		return r;
	r = transport_result_read(reply.data, reply.len, ret_result);
	free(reply.data);
	if (r < 0)
		worker_client_reject(transport->worker);
	return r;
}

static struct transport_result exchange(struct transport *transport,
					const struct header_list *headers, size_t body_end)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(tls_texts_done) struct tls_texts texts = { .tls = { .ca = { .text = NULL } } };
	struct transport_result result;
	int r = 0;

	if (transport->is_https)
		r = tls_files_read(&transport->files, &texts, &message);
	if (r < 0)
		return no_answer(-EKEYREJECTED, "cannot read a certificate", strbuf_str(&message));
	r = finish_order(transport, headers, &texts.tls, body_end);
	if (r < 0)
		return no_answer(r, "cannot pack the request", strerror(-r));
	r = perform(transport, &result);
	return r < 0 ? explain_worker(r) : result;
}

/* Reads the headers again. Returns whether they differ from the sent ones. */
static bool renew(const struct transport *transport, const struct header_list *sent,
		  struct header_list *headers)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(OUTCOME_MESSAGE_BYTES);

	return request_headers_read(&transport->headers, headers, &message) == 0 &&
	       !header_list_equal(headers, sent);
}

static struct transport_result send_packed(struct transport *transport, size_t body_end)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 }, renewed = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(OUTCOME_MESSAGE_BYTES);

	int r = request_headers_read(&transport->headers, &headers, &message);
	if (r < 0)
		return no_answer(r, "cannot read the headers",
				 message.len > 0 ? message.data : strerror(-r));
	struct transport_result result = exchange(transport, &headers, body_end);
	if (result.outcome.is_denied && renew(transport, &headers, &renewed))
		result = exchange(transport, &renewed, body_end);
	return result;
}

void transport_send(struct transport *transport, const void *body, size_t len,
		    struct request_outcome *ret_outcome)
{
	size_t body_end = pack(transport, body, len);
	struct transport_result result = send_packed(transport, body_end);

	*ret_outcome = result.outcome;
	if (result.outcome.was_answered)
		ret_outcome->nr_bytes = body_end - sizeof(uint64_t);
}

void transport_ask(struct transport *transport, const struct header_list *headers, const void *body,
		   size_t len, struct transport_result *ret_result)
{
	strbuf_clear(&transport->order);
	http_order_begin(&transport->order);
	strbuf_append(&transport->order, body, len);
	*ret_result = exchange(transport, headers, transport->order.len);
}

struct worker_stats transport_get_stats(const struct transport *transport)
{
	return worker_client_get_stats(transport->worker);
}
