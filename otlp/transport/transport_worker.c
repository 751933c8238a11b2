/* SPDX-License-Identifier: Apache-2.0 */
/* Only the first bytes of an answer are kept, which suffice to judge it. The rest is read and
 * discarded, because trailers come at the end. */
#include "otlp/transport/transport_worker.h"

#include "base/flat.h"
#include "base/parse.h"
#include "otlp/transport/http_answer.h"
#include "otlp/transport/protocol.h"
#include "otlp/transport/transport_result.h"
#include "worker/http_order.h"
#include "worker/worker_server.h"

#include <string.h>

#define ANSWER_KEPT_BYTES ((size_t)64 << 10)
#define ANSWER_MAX_BYTES ((size_t)4 << 20) /* as the OTLP specification advises */

/* State between requests, which all go to the same destination. */
struct sender {
	struct http_client *client; /* owned; NULL before the first request */
	struct strbuf answer;
};

static int keep_beginning(void *data, const void *bytes, size_t len)
{
	struct strbuf *answer = data;
	size_t room = answer->max - answer->len;

	strbuf_append(answer, bytes, len < room ? len : room);
	return strbuf_error(answer);
}

/* Returns a frequent cause of one of libcurl's messages. */
static const char *find_hint(const char *words)
{
	static const struct {
		const char *words, *hint;
	} hints[] = {
		{ "HTTP/0.9", "the port may be for gRPC" },
		{ "wrong version number", "the server may not use TLS" },
	};

	for (size_t i = 0; i < array_len(hints); i++)
		if (strstr(words, hints[i].words))
			return hints[i].hint;
	return "";
}

static struct transport_result explain_silence(const struct sender *sender, int error)
{
	const char *words = http_client_error(sender->client);
	struct transport_result result = {
		.error = error,
		.outcome.verdict = OUTCOME_RETRY,
	};

	request_outcome_say(&result.outcome, find_hint(words), words, strlen(words));
	return result;
}

static struct transport_result read_answer(const struct sender *sender,
					   enum transport_protocol protocol,
					   const struct http_response *response)
{
	const struct protocol *row = protocol_get(protocol);
	const struct http_client *client = sender->client;
	struct transport_result result = { .status = response->status };
	const struct http_answer answer = {
		.status = response->status,
		.retry_after_s = response->retry_after_s,
		.content_type = http_client_header(client, "content-type"),
		.body = sender->answer.data,
		.len = sender->answer.len,
		.grpc_status = http_client_header(client, "grpc-status"),
		.grpc_message = http_client_header(client, "grpc-message"),
		.grpc_details = http_client_header(client, "grpc-status-details-bin"),
		.grpc_encoding = http_client_header(client, "grpc-encoding"),
	};

	if (row->has_grpc_status && answer.grpc_status)
		result.has_grpc_status = parse_u32(answer.grpc_status, &result.grpc_status) == 0;
	row->judge(&answer, &result.outcome);
	return result;
}

static struct transport_result post(struct sender *sender, enum transport_protocol protocol,
				    const struct http_order *order)
{
	const struct http_sink sink = { keep_beginning, &sender->answer, ANSWER_MAX_BYTES };
	const struct http_request request = http_order_request(order, &sink);
	struct http_response response;

	strbuf_clear(&sender->answer);
	int r = http_perform(sender->client, &request, &sender->answer, &response);
	return r < 0 ? explain_silence(sender, r) : read_answer(sender, protocol, &response);
}

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	struct sender *sender = data;
	struct http_order order;

	int r = http_order_read(call->bytes, call->request.nr_bytes, &order);
	if (r < 0)
		return r;
	struct flat_reader extra = flat_reader(order.extra, order.extra_len);
	enum transport_protocol protocol = flat_take_number(&extra, TRANSPORT_NR_PROTOCOLS - 1);
	r = flat_reader_finish(&extra);
	if (r == 0 && !sender->client)
		r = http_order_new_client(&order, &sender->client);
	if (r < 0)
		return r;

	struct transport_result result = post(sender, protocol, &order);
	transport_result_append(reply, &result);
	return 0;
}

int transport_worker_main(void)
{
	struct sender sender = { .answer = strbuf_with_max(ANSWER_KEPT_BYTES) };
	const struct worker_server_opts opts = {
		.name = "the transport worker",
		.sandbox = WORKER_SANDBOX_NETWORK,
		.max_request_bytes = TRANSPORT_WORKER_BODY_MAX_BYTES + HTTP_ORDER_MAX_REST_BYTES,
		.answer = answer,
		.data = &sender,
	};

	int status = worker_server_run(&opts);
	http_client_free(sender.client);
	strbuf_done(&sender.answer);
	return status;
}
