/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/protocol.h"

#include "base/clock.h"
#include "base/gzip.h"
#include "otlp/transport/grpc_answer.h"
#include "otlp/transport/grpc_frame.h"

#include <inttypes.h>
#include <stdio.h>

#define TIMEOUT_MAX 99999999 /* of grpc-timeout: eight digits */

static void pack_plain(struct strbuf *out, const void *body, size_t len, bool compress)
{
	if (compress)
		gzip_append(out, body, len);
	else
		strbuf_append(out, body, len);
}

static int add_http_headers(struct header_list *own, const struct protocol_headers *headers)
{
	return headers->compress ? header_list_add_own(own, "Content-Encoding", "gzip") : 0;
}

static int add_connect_headers(struct header_list *own, const struct protocol_headers *headers)
{
	int r = add_http_headers(own, headers);

	return r < 0 ? r : header_list_add_own(own, "Connect-Protocol-Version", "1");
}

static int add_grpc_headers(struct header_list *own, const struct protocol_headers *headers)
{
	uint64_t ms = headers->timeout_ns / NSEC_PER_MSEC + 1;
	char timeout[16];

	snprintf(timeout, sizeof(timeout), "%" PRIu64 "m", ms < TIMEOUT_MAX ? ms : TIMEOUT_MAX);
	int r = header_list_add_own(own, "TE", "trailers");
	if (r == 0)
		r = header_list_add_own(own, "grpc-timeout", timeout);
	if (r == 0)
		r = header_list_add_own(own, "grpc-accept-encoding", "identity,gzip");
	if (r == 0 && headers->compress)
		r = header_list_add_own(own, "grpc-encoding", "gzip");
	return r;
}

static const struct protocol protocols[TRANSPORT_NR_PROTOCOLS] = {
	[TRANSPORT_OTLP_HTTP] = {
		.path = "/v1development/profiles",
		.content_type = "application/x-protobuf",
		.encode = otlp_encode,
		.pack = pack_plain,
		.add_headers = add_http_headers,
		.judge = http_answer_judge_otlp,
	},
	[TRANSPORT_OTLP_GRPC] = {
		.path = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
		.has_one_path = true,
		.needs_http2 = true,
		.has_grpc_status = true,
		.content_type = "application/grpc",
		.encode = otlp_encode,
		.pack = grpc_frame_append,
		.add_headers = add_grpc_headers,
		.judge = grpc_answer_judge,
	},
	[TRANSPORT_PYROSCOPE] = {
		.path = "/push.v1.PusherService/Push",
		.is_gzip_inside = true,
		.body_format = 1,
		.content_type = "application/proto",
		.encode = push_encode,
		.pack = pack_plain,
		.add_headers = add_connect_headers,
		.judge = http_answer_judge,
	},
};

const struct protocol *protocol_get(enum transport_protocol protocol)
{
	return &protocols[protocol];
}
