/* SPDX-License-Identifier: Apache-2.0 */
/* What a server answers to an export, read as both kinds of answer. */
#include "otlp/response.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int r, const struct response *response)
{
	if (r == 0 &&
	    strnlen(response->message, sizeof(response->message)) == sizeof(response->message))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct response response;

	check(response_parse_success(data, len, &response), &response);
	check(response_parse_status(data, len, &response), &response);
	return 0;
}
