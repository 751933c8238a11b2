/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

#include <string.h>

static const char digits[] = HEX_DIGITS;

void hex_put(char *to, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digits[from[i] >> 4];
		to[2 * i + 1] = digits[from[i] & 15];
	}
}

int hex_value(char digit)
{
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int)(found - digits) : -1;
}

bool hex_is(const char *text, size_t len)
{
	return strspn(text, digits) == len && text[len] == '\0';
}
