/* SPDX-License-Identifier: Apache-2.0 */
/* Checks all text that leaves the program, whatever names are in it: it is UTF-8, and each of its
 * characters shows and does nothing. Deliberately not checked by base/printable.c, but by what a
 * reader of the text would see. */
#ifndef TESTS_UNIT_HARMLESS_TEXT_H
#define TESTS_UNIT_HARMLESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_harmful_code(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || (code >= 0xd800 && code <= 0xdfff) ||
	       code == 0xfffe || code == 0xffff || code > 0x10ffff;
}

/* Bytes of the character at `text`, of which `len` bytes are there; 0 when it
 * is none, or a harmful one. */
static inline size_t harmless_char_len(const char *text, size_t len)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)text;
	size_t nr = 1;

	if (byte[0] >= 0xc0)
		nr = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	if (nr > len || (byte[0] >= 0x80 && byte[0] < 0xc0) || byte[0] > 0xf7)
		return 0;
	uint32_t code = nr > 1 ? byte[0] & (0x7fu >> nr) : byte[0];
	for (size_t i = 1; i < nr; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	return code < smallest[nr] || is_harmful_code(code) ? 0 : nr;
}

/* Returns the offset of the first byte that is not harmless, or `len`. With `has_lines`,
 * newlines pass: they are the format's own. */
static inline size_t harmless_len(const char *text, size_t len, bool has_lines)
{
	size_t at = 0;

	for (size_t step = 1; at < len && step > 0; at += step)
		step = has_lines && text[at] == '\n' ? 1 : harmless_char_len(text + at, len - at);
	return at;
}

#endif
