/* SPDX-License-Identifier: Apache-2.0 */
/* The result is never longer than the text, and has only digits. */
#include "base/pem.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf digits = strbuf_with_max(len);
	_cleanup_free_ char *text = strndup((const char *)data, len);

	if (text && pem_first_certificate(text, &digits) == 0 &&
	    (digits.len == 0 || strpbrk(strbuf_str(&digits), " \t\r\n-")))
		abort();
	return 0;
}
