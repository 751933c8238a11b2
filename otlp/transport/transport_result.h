/* SPDX-License-Identifier: Apache-2.0 */
/* A transport worker's result of one request: the outcome and, for the doctor, its causes. The
 * agent checks the whole result before it uses any part. A compromised worker could at most lie
 * about its own destination. */
#ifndef OTLP_TRANSPORT_TRANSPORT_RESULT_H
#define OTLP_TRANSPORT_TRANSPORT_RESULT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/transport/request_outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_RESULT_MAX_BYTES ((size_t)4096)

struct transport_result {
	/* Error of http_perform(), with which only the outcome's message is set; 0: there was an
	 * answer */
	int error;
	unsigned int status; /* of HTTP */
	bool has_grpc_status;
	uint32_t grpc_status;
	struct request_outcome outcome; /* without nr_bytes */
};

void transport_result_append(struct strbuf *out, const struct transport_result *result);

/* Reads and checks a result: numbers are within their bounds and consistent, the message is
 * printable. Errors: -EBADMSG. */
int transport_result_read(const void *bytes, size_t len, struct transport_result *ret_result)
	must_check;

#endif
