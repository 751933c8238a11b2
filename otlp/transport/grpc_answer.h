/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what a gRPC answer means for its request: gRPC over HTTP2, "Responses"; OTLP
 * specification, "OTLP/gRPC Response". */
#ifndef OTLP_TRANSPORT_GRPC_ANSWER_H
#define OTLP_TRANSPORT_GRPC_ANSWER_H

#include "otlp/transport/http_answer.h"
#include "otlp/transport/request_outcome.h"

void grpc_answer_judge(const struct http_answer *answer, struct request_outcome *outcome);

#endif
