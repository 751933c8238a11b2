/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/printable.h"

void json_append_text(struct strbuf *out, const char *text)
{
	strbuf_append_char(out, '"');
	printable_append_quoted(out, text, "\"\\");
	strbuf_append_char(out, '"');
}

void json_append_member(struct strbuf *out, const char *name, const char *text)
{
	json_append_text(out, name);
	strbuf_append_char(out, ':');
	json_append_text(out, text);
}
