/* SPDX-License-Identifier: Apache-2.0 */
/* What a destination's worker answers: it is refused, or the courier may believe it. */
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
	const struct delivery *delivery = &result.delivery;
	check(result.error <= 0 && result.error >= -4095 && result.status <= 999);
	check(delivery->verdict <= DELIVERY_REFUSED && delivery->nr_bytes == 0);
	check(delivery->was_answered || delivery->verdict == DELIVERY_RETRY);
	check(delivery->retry_after_ns <= DELIVERY_WAIT_MAX_S * NSEC_PER_SEC);
	check(delivery->retry_after_ns == 0 || delivery->verdict == DELIVERY_RETRY);
	check(memchr(delivery->message, '\0', sizeof(delivery->message)));
	check(utf8_is_valid(delivery->message) && !strpbrk(delivery->message, "\r\n\x1b"));
	return 0;
}
