/* SPDX-License-Identifier: Apache-2.0 */
/* A complete answer consists of headers, one message and trailers. An answer that only refuses has
 * headers alone, and libcurl does not tell the two kinds apart:
 *
 *	:status 200, content-type application/grpc	… application/grpc, grpc-status 14,
 *	one frame: ExportProfilesServiceResponse	  grpc-message …
 *	grpc-status 0
 *
 * HTTP's status only counts if grpc-status is missing: then the answer came from a proxy and not
 * from the destination. gRPC has a table for that (http-grpc-status-mapping), whose retryable rows
 * are those of OTLP over HTTP. HTTP's 200 is UNKNOWN there, which is final. But if the content type
 * is gRPC's, the destination began to answer and the end is missing, which we treat as a lost
 * connection.
 *
 * Details (grpc-status-details-bin) are a google.rpc.Status in base64, which repeats the code and
 * the message. If they contain RetryInfo, RESOURCE_EXHAUSTED is temporary. Without it, the request
 * is larger than the destination accepts. */
#include "otlp/transport/grpc_answer.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/minmax.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "otlp/transport/grpc_frame.h"
#include "otlp/transport/response.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES ((size_t)64 << 10) /* of the answer, uncompressed */
#define GRPC_TYPE "application/grpc" /* "+proto" may follow */
#define DETAILS_MAX_BYTES ((size_t)64 << 10)

enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_UNAUTHENTICATED = 16,
};

static const char *const status_names[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

static enum outcome_verdict find_verdict(uint32_t status, bool has_retry_info)
{
	switch (status) {
	case GRPC_OK:
		return OUTCOME_DONE;
	case GRPC_CANCELLED:
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_ABORTED:
	case GRPC_OUT_OF_RANGE:
	case GRPC_UNAVAILABLE:
	case GRPC_DATA_LOSS:
		return OUTCOME_RETRY;
	case GRPC_RESOURCE_EXHAUSTED:
		return has_retry_info ? OUTCOME_RETRY : OUTCOME_TOO_LARGE;
	default:
		return OUTCOME_REFUSED;
	}
}

/* Returns the value of a hexadecimal digit of either case, or -1. */
static int digit_value(char c)
{
	static const char upper[] = "ABCDEF";
	const char *found = c ? strchr(upper, c) : NULL;

	return found ? 10 + (int)(found - upper) : hex_value(c);
}

/* Decodes "%41" to "A". Anything else is copied, since a message is never refused for its form.
 * Returns the length. */
static size_t decode_percent(const char *text, char *to, size_t size)
{
	size_t len = 0;

	for (; *text && len < size; text++) {
		int high = text[0] == '%' ? digit_value(text[1]) : -1;
		int low = high >= 0 ? digit_value(text[2]) : -1;

		to[len++] = *text;
		if (low >= 0) {
			to[len - 1] = (char)(unsigned char)(high << 4 | low);
			text += 2;
		}
	}
	return len;
}

/* Sets the message: the answer's own, else that of the details. */
static void describe(const struct http_answer *answer, uint32_t status,
		     const struct response *details, struct request_outcome *outcome)
{
	char what[48], message[OUTCOME_MESSAGE_BYTES];

	if (status < array_len(status_names))
		snprintf(what, sizeof(what), "gRPC status %s", status_names[status]);
	else
		snprintf(what, sizeof(what), "gRPC status %u", status);

	size_t len = answer->grpc_message
			     ? decode_percent(answer->grpc_message, message, sizeof(message))
			     : 0;
	if (len > 0)
		request_outcome_say(outcome, what, message, len);
	else
		request_outcome_say(outcome, what, details->message, details->message_len);
}

/* Reads the first of the header's comma-separated values. `ret_details` points into `bytes`. */
static void read_details(const char *text, struct strbuf *bytes, struct response *ret_details)
{
	base64_decode(bytes, text, strcspn(text, ","));
	if (strbuf_error(bytes) == 0 &&
	    response_parse_status(bytes->data, bytes->len, ret_details) < 0)
		*ret_details = (struct response){ .has_retry_info = false };
}

static void judge_refusal(const struct http_answer *answer, uint32_t status,
			  struct request_outcome *outcome)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(DETAILS_MAX_BYTES);
	struct response details = { .has_retry_info = false };

	if (answer->grpc_details)
		read_details(answer->grpc_details, &bytes, &details);
	outcome->verdict = find_verdict(status, details.has_retry_info);
	outcome->is_denied = status == GRPC_PERMISSION_DENIED || status == GRPC_UNAUTHENTICATED;
	if (outcome->verdict == OUTCOME_RETRY)
		outcome->retry_after_ns = min_u64(details.retry_delay_ns,
						  OUTCOME_WAIT_MAX_S * NSEC_PER_SEC);
	describe(answer, status, &details, outcome);
}

/* The destination has accepted the request, whatever the rest of the answer says. */
static void judge_success(const struct http_answer *answer, struct request_outcome *outcome)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	bool has_gzip = answer->grpc_encoding && strcmp(answer->grpc_encoding, "gzip") == 0;

	outcome->verdict = OUTCOME_DONE;
	int r = grpc_frame_read(answer->body, answer->len, has_gzip, &message);
	if (r < 0)
		request_outcome_say(outcome, HTTP_ANSWER_NOT_OTLP, NULL, 0);
	else
		http_answer_read_success(message.data, message.len, outcome);
}

static void judge_without_status(const struct http_answer *answer, struct request_outcome *outcome)
{
	const char *type = answer->content_type;

	if (answer->status / 100 != 2) {
		http_answer_judge(answer, outcome);
	} else if (type && strncasecmp(type, GRPC_TYPE, strlen(GRPC_TYPE)) == 0) {
		outcome->verdict = OUTCOME_RETRY;
		request_outcome_say(outcome, "the response ends before its grpc-status", NULL, 0);
	} else {
		outcome->verdict = OUTCOME_REFUSED;
		request_outcome_say(outcome,
				    "the response has no grpc-status: this is not a gRPC server",
				    NULL, 0);
	}
}

/* Returns the code of an answer; UNKNOWN if it is not a number. */
static uint32_t read_status(const char *text)
{
	uint32_t status;

	return parse_u32(text, &status) < 0 ? GRPC_UNKNOWN : status;
}

void grpc_answer_judge(const struct http_answer *answer, struct request_outcome *outcome)
{
	outcome->was_answered = true;
	if (!answer->grpc_status)
		judge_without_status(answer, outcome);
	else if (read_status(answer->grpc_status) == GRPC_OK)
		judge_success(answer, outcome);
	else
		judge_refusal(answer, read_status(answer->grpc_status), outcome);
}
