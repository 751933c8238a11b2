/* SPDX-License-Identifier: Apache-2.0 */
#include "top/keys.h"

#include "base/err.h"
#include "base/utf8.h"

#include <string.h>

#define ESC '\033'
#define SEQUENCE_MAX_BYTES 16

static const struct {
	const char *end; /* of a sequence, behind "ESC [" or "ESC O" */
	enum key_kind kind;
} sequences[] = {
	{ "A", KEY_UP },   { "B", KEY_DOWN },	  { "C", KEY_RIGHT },	   { "D", KEY_LEFT },
	{ "H", KEY_HOME }, { "F", KEY_END },	  { "M", KEY_ENTER },	   { "1~", KEY_HOME },
	{ "4~", KEY_END }, { "5~", KEY_PAGE_UP }, { "6~", KEY_PAGE_DOWN }, { "7~", KEY_HOME },
	{ "8~", KEY_END },
};

static enum key_kind kind_of(const char *end, size_t len)
{
	for (size_t i = 0; i < array_len(sequences); i++)
		if (strlen(sequences[i].end) == len && memcmp(sequences[i].end, end, len) == 0)
			return sequences[i].kind;
	return KEY_UNKNOWN;
}

/* Reads "ESC [ parameters letter" or "ESC O letter". ECMA-48: a sequence ends with a byte from 0x40
 * to 0x7e. */
static size_t next_sequence(const char *bytes, size_t len, bool is_last, struct key *key)
{
	size_t end = 2;

	while (end < len && end < SEQUENCE_MAX_BYTES && (bytes[end] < 0x40 || bytes[end] > 0x7e))
		end++;
	if (end < len) {
		key->kind = kind_of(bytes + 2, end - 1);
		return end + 1;
	}
	return is_last ? len : 0;
}

static size_t next_escape(const char *bytes, size_t len, bool is_last, struct key *key)
{
	if (len >= 2 && (bytes[1] == '[' || bytes[1] == 'O'))
		return next_sequence(bytes, len, is_last, key);
	if (len == 1 && !is_last)
		return 0;
	key->kind = KEY_ESCAPE; /* also of "ESC x", which is Alt-x */
	return 1;
}

static size_t next_text(const char *bytes, size_t len, bool is_last, struct key *key)
{
	char text[KEY_TEXT_BYTES] = { 0 };

	memcpy(text, bytes, len < KEY_TEXT_BYTES - 1 ? len : KEY_TEXT_BYTES - 1);
	size_t char_len = utf8_char_len(text);
	if (char_len == 0)
		return len >= KEY_TEXT_BYTES - 1 || is_last || (bytes[0] & 0xc0) != 0xc0 ? 1 : 0;
	key->kind = KEY_TEXT;
	memcpy(key->text, bytes, char_len);
	return char_len;
}

size_t keys_next(const char *bytes, size_t len, bool is_last, struct key *ret_key)
{
	*ret_key = (struct key){ .kind = KEY_UNKNOWN };
	if (len == 0)
		return 0;
	switch (bytes[0]) {
	case ESC:
		return next_escape(bytes, len, is_last, ret_key);
	case '\r':
	case '\n':
		ret_key->kind = KEY_ENTER;
		return 1;
	case '\b':
	case 0x7f:
		ret_key->kind = KEY_BACKSPACE;
		return 1;
	default:
		break;
	}
	if ((unsigned char)bytes[0] < 0x20)
		return 1;
	return next_text(bytes, len, is_last, ret_key);
}
