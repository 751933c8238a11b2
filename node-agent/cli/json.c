/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include "base/utf8.h"

void json_append_string(struct strbuf *out, const char *text)
{
	strbuf_append_char(out, '"');
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len = utf8_char_len(text);

		if (c == '"' || c == '\\')
			strbuf_appendf(out, "\\%c", c);
		else if (c < ' ')
			strbuf_appendf(out, "\\u%04x", c);
		else if (len == 0)
			strbuf_append_str(out, UTF8_REPLACEMENT);
		else
			strbuf_append(out, text, len);
		text += len ? len : 1;
	}
	strbuf_append_char(out, '"');
}
