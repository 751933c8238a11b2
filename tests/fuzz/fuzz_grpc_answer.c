/* SPDX-License-Identifier: Apache-2.0 */
/* An answer by gRPC: grpc-status, grpc-message, grpc-status-details-bin and grpc-encoding, each
 * ended by a NUL and missing when empty, then the body. */
#include "otlp/transport/grpc_answer.h"

#include "base/clock.h"
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Takes a string off the input; NULL when it is empty or has no end. */
static const char *take_text(const uint8_t **data, size_t *len)
{
	const uint8_t *start = *data;
	const uint8_t *end = *len > 0 ? memchr(start, '\0', *len) : NULL;

	if (!end)
		return NULL;
	*len -= (size_t)(end + 1 - start);
	*data = end + 1;
	return end > start ? (const char *)start : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct http_answer answer = { .status = 200 };
	struct request_outcome outcome = { .was_answered = false };

	answer.grpc_status = take_text(&data, &len);
	answer.grpc_message = take_text(&data, &len);
	answer.grpc_details = take_text(&data, &len);
	answer.grpc_encoding = take_text(&data, &len);
	answer.body = data;
	answer.len = len;
	grpc_answer_judge(&answer, &outcome);

	if (!memchr(outcome.message, '\0', sizeof(outcome.message)) ||
	    !printable_holds(outcome.message))
		abort();
	if (outcome.retry_after_ns > OUTCOME_WAIT_MAX_S * NSEC_PER_SEC)
		abort();
	return 0;
}
