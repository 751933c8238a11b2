/* SPDX-License-Identifier: Apache-2.0 */
/* The reply of a destination's worker: it is refused, or the delivery queue may believe it. */
#include "base/clock.h"
#include "base/utf8.h"
#include "otlp/transport/transport_result.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct transport_result result;

	if (transport_result_read(data, len, &result) < 0)
		return 0;
	const struct request_outcome *outcome = &result.outcome;
	check(result.error <= 0 && result.error >= -4095 && result.status <= 999);
	check(outcome->verdict <= OUTCOME_REFUSED && outcome->nr_bytes == 0);
	check(outcome->was_answered || outcome->verdict == OUTCOME_RETRY);
	check(outcome->retry_after_ns <= OUTCOME_WAIT_MAX_S * NSEC_PER_SEC);
	check(outcome->retry_after_ns == 0 || outcome->verdict == OUTCOME_RETRY);
	check(memchr(outcome->message, '\0', sizeof(outcome->message)));
	check(utf8_is_valid(outcome->message) && !strpbrk(outcome->message, "\r\n\x1b"));
	return 0;
}
