/* SPDX-License-Identifier: Apache-2.0 */
/* The table of protocols. A row defines how profiles are encoded, how a request is made and how its
 * answer is judged. No other code checks which protocol it is. */
#ifndef OTLP_TRANSPORT_PROTOCOL_H
#define OTLP_TRANSPORT_PROTOCOL_H

#include "base/strbuf.h"
#include "otlp/encode/encode.h"
#include "otlp/transport/header_list.h"
#include "otlp/transport/http_answer.h"
#include "otlp/transport/request_outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transport_protocol {
	TRANSPORT_OTLP_HTTP, /* POST /v1development/profiles, protobuf */
	TRANSPORT_OTLP_GRPC, /* unary ProfilesService/Export over HTTP/2; http:// is h2c */
	TRANSPORT_PYROSCOPE, /* POST /push.v1.PusherService/Push, Connect's binary unary form */
	TRANSPORT_NR_PROTOCOLS,
};

/* Input for a protocol's headers. */
struct protocol_headers {
	uint64_t timeout_ns; /* for the whole request */
	bool compress; /* the body is gzip'ed */
};

struct protocol {
	const char *path; /* of the URL */
	bool has_one_path; /* the endpoint must not have another path */
	bool needs_http2;
	bool has_grpc_status; /* the status of an answer is the trailer grpc-status */
	/* bodies contain compressed parts and are not compressed again */
	bool is_gzip_inside;
	uint32_t body_format; /* of encoded requests in the queue's files; never changes */
	const char *content_type; /* without parameters, as destinations compare it literally */

	/* Writes part of a profile as the body of a request (encode.h). */
	encode_request *encode;

	/* Appends a body in the form in which it is sent. Failures are kept in `out`. */
	void (*pack)(struct strbuf *out, const void *body, size_t len, bool compress);

	/* Adds the protocol's headers except Content-Type. Errors: those of
	 * header_list_add_own(). */
	int (*add_headers)(struct header_list *own, const struct protocol_headers *headers);

	/* Decides what the answer means for its request. */
	void (*judge)(const struct http_answer *answer, struct request_outcome *outcome);
};

/* Returns the row of a protocol. */
const struct protocol *protocol_get(enum transport_protocol protocol);

#endif
