/* SPDX-License-Identifier: Apache-2.0 */
/* A server's reply to an export, read as both kinds of reply. */
#include "otlp/transport/response.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The words are a part of the body. */
static void check(int r, const struct response *response, const uint8_t *data, size_t len)
{
	if (r == 0 && response->message_len > 0 &&
	    (response->message < data || response->message_len > len ||
	     response->message + response->message_len > data + len))
		abort();
	if (r == 0 && response->nr_rejected_profiles > INT64_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct response response;

	check(response_parse_success(data, len, &response), &response, data, len);
	check(response_parse_status(data, len, &response), &response, data, len);
	return 0;
}
