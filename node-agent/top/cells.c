/* SPDX-License-Identifier: Apache-2.0 */
#include "top/cells.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_BYTES 65536

struct span {
	uint32_t first, last;
	unsigned int cells;
};

/* Unicode 15, as far as names may have them: combining marks of common scripts, wide and full-width
 * characters, emoji. */
static const struct span spans[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x0483, 0x0489, 0 },	  { 0x0591, 0x05bd, 0 },
	{ 0x064b, 0x065f, 0 },	 { 0x0e31, 0x0e31, 0 },	  { 0x0e34, 0x0e3a, 0 },
	{ 0x0e47, 0x0e4e, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x200b, 0x200d, 0 },	  { 0x20d0, 0x20ff, 0 },
	{ 0x231a, 0x231b, 2 },	 { 0x23e9, 0x23ec, 2 },	  { 0x25fd, 0x25fe, 2 },
	{ 0x2614, 0x2615, 2 },	 { 0x2648, 0x2653, 2 },	  { 0x26a1, 0x26a1, 2 },
	{ 0x26c4, 0x26c5, 2 },	 { 0x2705, 0x2705, 2 },	  { 0x270a, 0x270b, 2 },
	{ 0x2728, 0x2728, 2 },	 { 0x274c, 0x274c, 2 },	  { 0x2753, 0x2755, 2 },
	{ 0x2795, 0x2797, 2 },	 { 0x2b1b, 0x2b1c, 2 },	  { 0x2b50, 0x2b50, 2 },
	{ 0x2e80, 0x303e, 2 },	 { 0x3041, 0x4dbf, 2 },	  { 0x4e00, 0xa4cf, 2 },
	{ 0xa960, 0xa97c, 2 },	 { 0xac00, 0xd7a3, 2 },	  { 0xf900, 0xfaff, 2 },
	{ 0xfe00, 0xfe0f, 0 },	 { 0xfe20, 0xfe2f, 0 },	  { 0xfe30, 0xfe6f, 2 },
	{ 0xff01, 0xff60, 2 },	 { 0xffe0, 0xffe6, 2 },	  { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x1fa70, 0x1faff, 2 },
	{ 0x20000, 0x3fffd, 2 }, { 0xe0100, 0xe01ef, 0 },
};

static uint32_t decode(const char *text, size_t len)
{
	uint32_t code = (unsigned char)text[0];

	if (len > 1)
		code &= 0x7fu >> len;
	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Returns the cells of the character that the text starts with, and its bytes. */
static size_t char_width(const char *text, size_t *ret_len)
{
	size_t len = utf8_char_len(text);

	*ret_len = len > 0 ? len : 1;
	if (len <= 1)
		return 1;
	uint32_t code = decode(text, len);
	for (size_t i = 0; i < array_len(spans) && spans[i].first <= code; i++)
		if (code <= spans[i].last)
			return spans[i].cells;
	return 1;
}

size_t cells_width(const char *text)
{
	size_t width = 0;

	for (size_t len; *text; text += len)
		width += char_width(text, &len);
	return width;
}

/* Returns the longest beginning of the text that fits into some cells, as bytes. */
static size_t head_bytes(const char *text, size_t columns)
{
	size_t bytes = 0, width = 0;

	for (size_t len; text[bytes]; bytes += len) {
		width += char_width(text + bytes, &len);
		if (width > columns)
			break;
	}
	return bytes;
}

/* Returns where the longest end of the text begins that fits into some cells. */
static const char *tail_of(const char *text, size_t columns)
{
	size_t width = cells_width(text);

	for (size_t len; width > columns; text += len)
		width -= char_width(text, &len);
	return text;
}

static void append_elided(struct strbuf *out, const char *text, size_t columns, enum elide elide,
			  const char *dots)
{
	size_t room = columns - cells_width(dots);
	size_t left = head_bytes(text, elide == ELIDE_LEFT ? 0 : room / 2);

	strbuf_append(out, text, left);
	strbuf_append_str(out, dots);
	strbuf_append_str(out, tail_of(text + left, room - (elide == ELIDE_LEFT ? 0 : room / 2)));
}

/* Replaces the characters that are not ASCII by one question mark each. */
static void reduce_to_ascii(struct strbuf *text)
{
	size_t kept = 0, len;

	for (size_t i = 0; i < text->len; i += len) {
		len = utf8_char_len(text->data + i);
		len = len > 0 ? len : 1;
		if (len > 1 || (text->data[i] & 0x80))
			text->data[i] = '?';
		text->data[kept++] = text->data[i];
	}
	strbuf_truncate(text, kept);
}

size_t cells_append(struct strbuf *out, const char *name, size_t columns, enum elide elide,
		    const struct cells_style *style)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(NAME_MAX_BYTES);
	const char *dots = cells_symbol(style, "…", "...");

	printable_append(&text, name);
	if (!style->is_utf8)
		reduce_to_ascii(&text);
	size_t width = cells_width(strbuf_str(&text)), start = out->len;
	if (width <= columns) {
		strbuf_append(out, strbuf_str(&text), text.len);
		return width;
	}
	if (columns > cells_width(dots))
		append_elided(out, strbuf_str(&text), columns, elide, dots);
	return out->len > start ? cells_width(out->data + start) : 0;
}

void cells_append_padded(struct strbuf *out, const char *name, size_t columns, enum elide elide,
			 const struct cells_style *style)
{
	size_t width = cells_append(out, name, columns, elide, style);

	strbuf_appendf(out, "%*s", width < columns ? (int)(columns - width) : 0, "");
}
