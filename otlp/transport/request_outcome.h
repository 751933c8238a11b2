/* SPDX-License-Identifier: Apache-2.0 */
/* Outcome of one request. */
#ifndef OTLP_TRANSPORT_REQUEST_OUTCOME_H
#define OTLP_TRANSPORT_REQUEST_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTCOME_MESSAGE_BYTES 1024 /* Pyroscope lists all labels before the reason */
#define OUTCOME_WAIT_MAX_S UINT64_C(3600) /* longer waits are reduced to this */

enum outcome_verdict {
	OUTCOME_DONE, /* accepted, perhaps partially */
	OUTCOME_RETRY, /* retryable by the specification, or no answer */
	/* Refused for its size, must not be retried: HTTP 413, gRPC RESOURCE_EXHAUSTED without
	 * RetryInfo */
	OUTCOME_TOO_LARGE,
	OUTCOME_REFUSED, /* refused for another reason, must not be retried */
};

struct request_outcome {
	enum outcome_verdict verdict;
	bool was_answered; /* by the destination or a proxy */
	bool is_denied; /* authentication or authorization failed, as it would for all requests */
	/* requested by the destination (Retry-After, RetryInfo); 0: none */
	uint64_t retry_after_ns;
	uint64_t nr_rejected_profiles; /* partial success */
	size_t nr_bytes; /* of the compressed body; 0 without an answer */
	/* Reason of a failure, or the destination's warning; "": none. One printable line. */
	char message[OUTCOME_MESSAGE_BYTES];
};

/* Sets the message to `what` (our words or "") and the first line of `text`, which may be any
 * bytes. The message is made printable and truncated to fit. */
void request_outcome_say(struct request_outcome *outcome, const char *what, const void *text,
			 size_t len);

#endif
