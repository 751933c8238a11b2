/* SPDX-License-Identifier: Apache-2.0 */
/* Any text becomes harmless UTF-8, once and for all; a text without backslashes can be read back
 * from it; and whatever is done with the pieces, they are the same. */
#include "base/printable.h"

#include "base/cleanup.h"
#include "tests/unit/support/harmless_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX_BYTES (1 << 20)
#define COPY_BYTES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

/* Takes the escapes out again. */
static void append_original(struct strbuf *out, const char *text)
{
	while (*text) {
		unsigned int byte;

		if (*text != '\\') {
			strbuf_append_char(out, *text++);
			continue;
		}
		check(sscanf(text, "\\x%2x", &byte) == 1);
		strbuf_append_char(out, (char)byte);
		text += PRINTABLE_ESCAPE_BYTES;
	}
}

static void check_form(const char *text, const struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf again = strbuf_with_max(OUT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf original = strbuf_with_max(OUT_MAX_BYTES);
	const char *form = strbuf_str(out);

	check(harmless_len(form, out->len, false) == out->len);
	check(out->len <= PRINTABLE_ESCAPE_BYTES * strlen(text));
	check(printable_holds(form));
	check(printable_holds(text) == (strcmp(text, form) == 0));
	printable_append(&again, form);
	check(strcmp(strbuf_str(&again), form) == 0);
	if (strchr(text, '\\'))
		return;
	append_original(&original, form);
	check(strcmp(strbuf_str(&original), text) == 0);
}

static void check_pieces(const char *text, const char *form)
{
	_cleanup_(strbuf_done) struct strbuf pieces = strbuf_with_max(OUT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(OUT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(OUT_MAX_BYTES);
	char copy[COPY_BYTES];

	for (struct printable p = printable_of(text); printable_next(&p);)
		strbuf_append(&pieces, p.piece, p.len);
	check(strcmp(strbuf_str(&pieces), form) == 0);
	printable_append_quoted(&plain, text, "");
	check(strcmp(strbuf_str(&plain), form) == 0);
	check(strcmp(printable_text(text, &scratch), form) == 0);

	size_t nr = printable_copy(copy, sizeof(copy), text);
	check(nr == strlen(copy) && nr < sizeof(copy));
	check(strncmp(copy, form, nr) == 0);
	check(form[nr] == '\0' || nr + PRINTABLE_ESCAPE_BYTES >= sizeof(copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = strndup((const char *)data, len);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	if (!text || len > OUT_MAX_BYTES / 8)
		return 0;
	printable_append(&out, text);
	check(strbuf_error(&out) == 0);
	check_form(text, &out);
	check_pieces(text, strbuf_str(&out));
	return 0;
}
