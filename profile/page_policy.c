/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/page_policy.h"

#include "base/base64.h"
#include "base/hex.h"

#define SHA256_BYTES 32

static void put_hash(struct strbuf *out, const char *digits)
{
	unsigned char bytes[SHA256_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(hex_value(digits[2 * i]) << 4 |
					   hex_value(digits[2 * i + 1]));
	strbuf_append_str(out, " 'sha256-");
	base64_encode(out, bytes, sizeof(bytes));
	strbuf_append_char(out, '\'');
}

void page_policy_append(struct strbuf *out, const char *const *scripts, size_t nr_scripts,
			const char *style)
{
	strbuf_append_str(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			       "'none'; base-uri 'none'; form-action 'none'; style-src");
	if (style)
		put_hash(out, style);
	else
		strbuf_append_str(out, " 'unsafe-inline'");
	strbuf_append_str(out, "; script-src");
	for (size_t i = 0; i < nr_scripts; i++)
		put_hash(out, scripts[i]);
	strbuf_append_str(out, "\">\n");
}
