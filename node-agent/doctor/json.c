/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/json.h"

#include "base/printable.h"

void json_append_string(struct strbuf *out, const char *text)
{
	strbuf_append_char(out, '"');
	printable_append_quoted(out, text, "\"\\");
	strbuf_append_char(out, '"');
}
