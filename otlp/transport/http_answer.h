/* SPDX-License-Identifier: Apache-2.0 */
/* What an HTTP answer says about the request: OTLP specification, "OTLP/HTTP Response"; Connect
 * protocol, "Unary-Response". */
#ifndef OTLP_TRANSPORT_HTTP_ANSWER_H
#define OTLP_TRANSPORT_HTTP_ANSWER_H

#include "otlp/transport/request_outcome.h"

#include <stddef.h>
#include <stdint.h>

struct http_answer {
	unsigned int status;
	uint64_t retry_after_s; /* 0: none */
	const char *content_type; /* NULL: none */
	const void *body; /* its beginning, if it is long */
	size_t len;
};

/* OTLP: the body of a success may count profiles that were rejected. */
void http_answer_judge_otlp(const struct http_answer *answer, struct request_outcome *outcome);

/* Any other destination: the body of a success says nothing, except that a web page is no
 * success. */
void http_answer_judge(const struct http_answer *answer, struct request_outcome *outcome);

#endif
