/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport's worker says about one request: its outcome, and for the doctor what the
 * outcome follows from. The agent checks all of it before it uses any. A worker that was taken over
 * could at most lie about its own destination. */
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
	/* Of http_perform(), the rest is empty then but for the outcome's message; 0: there was an
	 * answer */
	int error;
	unsigned int status; /* of HTTP */
	bool has_grpc_status;
	uint32_t grpc_status;
	struct request_outcome outcome; /* without nr_bytes */
};

void transport_result_append(struct strbuf *out, const struct transport_result *result);

/* Reads and checks it: every number within its bounds, no two that contradict each other, the
 * message printable. Errors: -EBADMSG. */
int transport_result_read(const void *bytes, size_t len, struct transport_result *ret_result)
	must_check;

#endif
