/* SPDX-License-Identifier: Apache-2.0 */
/* An answer by HTTP: two bytes for the status, then the content type as a string, then the body. */
#include "otlp/transport/http_answer.h"

#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct request_outcome *outcome)
{
	if (!memchr(outcome->message, '\0', sizeof(outcome->message)) ||
	    !printable_holds(outcome->message))
		abort();
	if (outcome->verdict != OUTCOME_RETRY && outcome->retry_after_ns > 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *type_end = len > 2 ? memchr(data + 2, '\0', len - 2) : NULL;
	struct request_outcome otlp = { .was_answered = false }, push = { .was_answered = false };

	if (!type_end)
		return 0;

	const uint8_t *body = type_end + 1;
	const struct http_answer answer = {
		.status = (data[0] << 8 | data[1]) % 1000u,
		.retry_after_s = data[1],
		.content_type = type_end > data + 2 ? (const char *)data + 2 : NULL,
		.body = body,
		.len = (size_t)(data + len - body),
	};
	http_answer_judge_otlp(&answer, &otlp);
	http_answer_judge(&answer, &push);
	check(&otlp);
	check(&push);
	return 0;
}
