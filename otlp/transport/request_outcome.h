/* SPDX-License-Identifier: Apache-2.0 */
/* What became of one request. */
#ifndef OTLP_TRANSPORT_REQUEST_OUTCOME_H
#define OTLP_TRANSPORT_REQUEST_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTCOME_MESSAGE_BYTES 1024 /* Pyroscope names all labels before it comes to the reason */
#define OUTCOME_WAIT_MAX_S UINT64_C(3600) /* a destination that wishes more is asked again sooner */

enum outcome_verdict {
	OUTCOME_DONE, /* taken; what partial success rejected is lost */
	OUTCOME_RETRY, /* the specification calls it retryable, or nothing came back */
	/* Refused for its size: HTTP 413, gRPC RESOURCE_EXHAUSTED without RetryInfo; not to be
	 * repeated */
	OUTCOME_TOO_LARGE,
	OUTCOME_REFUSED, /* anything else: not to be repeated */
};

struct request_outcome {
	enum outcome_verdict verdict;
	bool was_answered; /* by the destination, or by something before it */
	bool is_denied; /* it does not know us, or what we may do: all requests will fare alike */
	uint64_t retry_after_ns; /* the destination's wish (Retry-After, RetryInfo); 0: none */
	uint64_t nr_rejected_profiles; /* partial success */
	size_t nr_bytes; /* body as sent, compressed; 0 when nothing came back */
	/* Why not, or the destination's warning; "": none. Printable, one line. */
	char message[OUTCOME_MESSAGE_BYTES];
};

/* Makes the message of `what`, our words or "", and of the first line of `text`, which may be any
 * bytes. The message is printable and cut to fit. */
void request_outcome_say(struct request_outcome *outcome, const char *what, const void *text,
			 size_t len);

#endif
