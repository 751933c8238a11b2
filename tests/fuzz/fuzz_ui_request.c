/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_request.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "ui/ui_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"
#define PAGE "/" TOKEN "/"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ui_request *request)
{
	if (strpbrk(request->path, "?%\\ "))
		abort();
	for (size_t i = 0; i < request->nr_parameters; i++) {
		const struct ui_parameter *parameter = &request->parameters[i];

		if (!utf8_is_valid(parameter->value) || strpbrk(parameter->value, "\n\r\x7f") ||
		    ui_request_get(request, parameter->name) != parameter->value)
			abort();
	}
}

/* The input is an address behind the token, and at the same time each of the headers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *uri = calloc(1, strlen(PAGE) + size + 1);
	struct ui_request request;

	if (!uri)
		return 0;
	memcpy(uri, PAGE, strlen(PAGE));
	memcpy(uri + strlen(PAGE), data, size);
	const char *text = uri + strlen(PAGE);
	const struct ui_headers headers = { .host = text, .origin = text, .fetch_site = text };
	if (!ui_check_headers(&headers)) /* an origin is no host */
		abort();
	(void)ui_check_accepts_gzip(text);
	if (ui_request_parse(uri, TOKEN, &request) == 0) {
		check(&request);
		ui_request_done(&request);
	}
	return 0;
}
