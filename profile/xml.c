/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/xml.h"

#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */

static const char *const entities[128] = {
	['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;",
};

/* An escape is ASCII; anything else is one character. */
static size_t nr_columns(const struct printable *printable)
{
	return printable->piece == printable->escape ? printable->len : 1;
}

static void append_piece(struct strbuf *out, const struct printable *printable)
{
	const char *entity = printable->len == 1 ? entities[(uint8_t)*printable->piece] : NULL;

	if (entity)
		strbuf_append_str(out, entity);
	else
		strbuf_append(out, printable->piece, printable->len);
}

void xml_append(struct strbuf *out, const char *text)
{
	for (struct printable p = printable_of(text); printable_next(&p);)
		append_piece(out, &p);
}

static bool is_longer(const char *text, size_t max_chars)
{
	struct printable p = printable_of(text);
	size_t nr_chars = 0;

	while (nr_chars <= max_chars && printable_next(&p))
		nr_chars += nr_columns(&p);
	return nr_chars > max_chars;
}

void xml_append_elided(struct strbuf *out, const char *text, size_t max_chars)
{
	bool is_cut = is_longer(text, max_chars);
	struct printable p = printable_of(text);

	if (max_chars == 0)
		return;
	for (size_t room = max_chars - is_cut; printable_next(&p) && nr_columns(&p) <= room;
	     room -= nr_columns(&p))
		append_piece(out, &p);
	if (is_cut)
		strbuf_append_str(out, ELLIPSIS);
}
