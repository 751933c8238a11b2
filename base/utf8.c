/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/err.h"

#include <stdint.h>

/* Well-formed sequences by their first byte: Unicode 15.0, table 3-7. The range of the second byte
 * excludes overlong forms, surrogates and code points above U+10FFFF; further bytes are 80..BF. */
static const struct {
	uint8_t first_min, first_max;
	uint8_t second_min, second_max;
	uint8_t len;
} forms[] = {
	{ 0x01, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static bool is_between(uint8_t byte, uint8_t min, uint8_t max)
{
	return byte >= min && byte <= max;
}

size_t utf8_char_len(const char *text)
{
	const uint8_t *byte = (const uint8_t *)text;
	size_t form = 0;

	while (form < array_len(forms) &&
	       !is_between(byte[0], forms[form].first_min, forms[form].first_max))
		form++;
	if (form == array_len(forms))
		return 0;
	if (forms[form].len > 1 &&
	    !is_between(byte[1], forms[form].second_min, forms[form].second_max))
		return 0;
	for (size_t i = 2; i < forms[form].len; i++)
		if (!is_between(byte[i], 0x80, 0xbf))
			return 0;
	return forms[form].len;
}

bool utf8_is_valid(const char *text)
{
	while (*text) {
		size_t len = utf8_char_len(text);

		if (len == 0)
			return false;
		text += len;
	}
	return true;
}
