/* SPDX-License-Identifier: Apache-2.0 */
/* What a gRPC answer says about the request: gRPC over HTTP2, "Responses"; OTLP specification,
 * "OTLP/gRPC Response". */
#ifndef OTLP_TRANSPORT_GRPC_ANSWER_H
#define OTLP_TRANSPORT_GRPC_ANSWER_H

#include "otlp/transport/http_answer.h"
#include "otlp/transport/request_outcome.h"

struct grpc_answer {
	struct http_answer http;
	/* Headers or trailers, as they came; NULL: not there. */
	const char *status; /* grpc-status */
	const char *message; /* grpc-message */
	const char *details; /* grpc-status-details-bin */
	const char *encoding; /* grpc-encoding */
};

void grpc_answer_judge(const struct grpc_answer *answer, struct request_outcome *outcome);

#endif
