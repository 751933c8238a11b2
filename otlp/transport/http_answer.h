/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what an HTTP answer means for its request: OTLP specification, "OTLP/HTTP Response";
 * Connect protocol, "Unary-Response". */
#ifndef OTLP_TRANSPORT_HTTP_ANSWER_H
#define OTLP_TRANSPORT_HTTP_ANSWER_H

#include "otlp/transport/request_outcome.h"

#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_NOT_OTLP "the response claims success, but is not an OTLP response"

struct http_answer {
	unsigned int status;
	uint64_t retry_after_s; /* 0: none */
	const char *content_type; /* NULL: none */
	const void *body; /* possibly truncated */
	size_t len;
	/* Headers or trailers of a gRPC answer as they came; NULL: none. */
	const char *grpc_status; /* grpc-status */
	const char *grpc_message; /* grpc-message */
	const char *grpc_details; /* grpc-status-details-bin */
	const char *grpc_encoding; /* grpc-encoding */
};

/* Judges the answer of an OTLP destination: the body of a success may count rejected profiles. */
void http_answer_judge_otlp(const struct http_answer *answer, struct request_outcome *outcome);

/* Judges the answer of any other destination: the body of a success is ignored, but a web page is
 * not a success. */
void http_answer_judge(const struct http_answer *answer, struct request_outcome *outcome);

/* Reads the body of a success, an ExportProfilesServiceResponse, into an outcome. */
void http_answer_read_success(const void *body, size_t len, struct request_outcome *outcome);

#endif
