/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"
#include "base/printable.h"

#include "base/utf8.h"

#include <string.h>

static const struct {
	uint32_t first, last;
} escaped[] = {
	{ 0x0080, 0x009f }, { 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfffe, 0xffff },
};

static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f;
}

/* Returns the code point of a well-formed character of two to four bytes. */
static uint32_t decode(const char *text, size_t len)
{
	uint32_t code = (unsigned char)text[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Returns the length of the character at `text` if it stays; 0 if its first byte is escaped. Its
 * other bytes do not begin a character, so they are escaped as well. */
static size_t char_len(const char *text)
{
	size_t len;

	if (is_plain(*text))
		return 1;
	len = utf8_char_len(text);
	if (len < 2)
		return 0;

	uint32_t code = decode(text, len);
	for (size_t i = 0; i < array_len(escaped); i++)
		if (code >= escaped[i].first && code <= escaped[i].last)
			return 0;
	return len;
}

/* Returns the length of the longest start of `text` that stays. */
static size_t clean_len(const char *text)
{
	const char *at = text;

	for (size_t len = 1; len > 0 && *at; at += len) {
		while (is_plain(*at))
			at++;
		len = *at ? char_len(at) : 0;
	}
	return (size_t)(at - text);
}

static void write_escape(char to[static PRINTABLE_ESCAPE_BYTES], char byte)
{
	to[0] = '\\';
	to[1] = 'x';
	hex_put(to + 2, &byte, 1);
}

struct printable printable_of(const char *text)
{
	return (struct printable){ .rest = text };
}

bool printable_next(struct printable *printable)
{
	size_t len;

	if (!*printable->rest)
		return false;
	len = char_len(printable->rest);
	printable->piece = printable->rest;
	printable->len = len;
	if (len == 0) {
		write_escape(printable->escape, *printable->rest);
		printable->piece = printable->escape;
		printable->len = sizeof(printable->escape);
		len = 1;
	}
	printable->rest += len;
	return true;
}

bool printable_holds(const char *text)
{
	return text[clean_len(text)] == '\0';
}

void printable_append(struct strbuf *out, const char *text)
{
	char escape[PRINTABLE_ESCAPE_BYTES];
	size_t len = clean_len(text);

	strbuf_append(out, text, len);
	for (text += len; *text; text += len) {
		write_escape(escape, *text++);
		strbuf_append(out, escape, sizeof(escape));
		len = clean_len(text);
		strbuf_append(out, text, len);
	}
}

void printable_append_quoted(struct strbuf *out, const char *text, const char *special)
{
	for (struct printable p = printable_of(text); printable_next(&p);) {
		if (strchr(special, *p.piece))
			strbuf_append_char(out, '\\');
		strbuf_append(out, p.piece, p.len);
	}
}

size_t printable_copy(char *to, size_t size, const char *text)
{
	size_t nr = 0;

	for (struct printable p = printable_of(text); printable_next(&p) && p.len < size - nr;) {
		memcpy(to + nr, p.piece, p.len);
		nr += p.len;
	}
	to[nr] = '\0';
	return nr;
}

const char *printable_text(const char *text, struct strbuf *scratch)
{
	if (printable_holds(text))
		return text;
	strbuf_clear(scratch);
	printable_append(scratch, text);
	return strbuf_str(scratch);
}
