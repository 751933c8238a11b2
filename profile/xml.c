/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/xml.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */

static const char *const entities[128] = {
	['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;",
};

/* U+FFFE and U+FFFF: well-formed UTF-8, but not allowed in XML. */
static bool is_noncharacter(const char *text, size_t len)
{
	return len == 3 &&
	       (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
}

/* Appends one character and returns the one behind it. */
static const char *append_char(struct strbuf *out, const char *text)
{
	size_t len = utf8_char_len(text);
	uint8_t c = (uint8_t)*text;

	if (len == 1 && entities[c])
		strbuf_append_str(out, entities[c]);
	else if (len == 0 || c < ' ' || c == 0x7f || is_noncharacter(text, len))
		strbuf_append_str(out, UTF8_REPLACEMENT);
	else
		strbuf_append(out, text, len);
	return text + (len > 0 ? len : 1);
}

void xml_append(struct strbuf *out, const char *text)
{
	while (*text)
		text = append_char(out, text);
}

static bool is_longer(const char *text, size_t chars)
{
	for (; *text && chars > 0; chars--) {
		size_t len = utf8_char_len(text);

		text += len > 0 ? len : 1;
	}
	return *text;
}

void xml_append_elided(struct strbuf *out, const char *text, size_t max_chars)
{
	bool is_cut = is_longer(text, max_chars);

	if (max_chars == 0)
		return;
	for (size_t i = is_cut ? 1 : 0; *text && i < max_chars; i++)
		text = append_char(out, text);
	if (is_cut)
		strbuf_append_str(out, ELLIPSIS);
}
