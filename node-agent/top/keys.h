/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the bytes that a terminal sends into keys. An arrow is "ESC [ A" or "ESC O A"; the key Esc
 * is the byte alone. */
#ifndef TOP_KEYS_H
#define TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum key_kind {
	KEY_UNKNOWN,
	KEY_TEXT, /* a character */
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_ENTER,
	KEY_ESCAPE,
	KEY_BACKSPACE,
};

#define KEY_TEXT_BYTES 5

struct key {
	enum key_kind kind;
	char text[KEY_TEXT_BYTES]; /* of KEY_TEXT: one character of UTF-8 and a NUL */
};

/* Reads the next key. Returns the number of its bytes; 0 if more bytes are needed. With `is_last`
 * no more bytes follow: an ESC at the end is the key. */
size_t keys_next(const char *bytes, size_t len, bool is_last, struct key *ret_key);

#endif
