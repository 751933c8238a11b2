/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#define DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#define GROUP 4 /* digits, for three bytes */

static int digit_value(char c)
{
	const char *digit = c ? strchr(DIGITS, c) : NULL;

	return digit ? (int)(digit - DIGITS) : -1;
}

/* Returns the length without the padding of the last group. */
static size_t without_padding(const char *text, size_t len)
{
	if (len == 0 || len % GROUP != 0 || text[len - 1] != '=')
		return len;
	return text[len - 2] == '=' ? len - 2 : len - 1;
}

/* Appends a group of two to four digits, in which the bits after the last whole byte must be
 * zero. */
static int append_group(struct strbuf *out, const char *text, size_t nr_digits)
{
	unsigned char bytes[3];
	uint32_t bits = 0;

	for (size_t i = 0; i < GROUP; i++) {
		int value = i < nr_digits ? digit_value(text[i]) : 0;

		if (value < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)value;
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(bits >> (16 - 8 * i));
	for (size_t i = nr_digits - 1; i < sizeof(bytes); i++)
		if (bytes[i])
			return -EBADMSG;
	strbuf_append(out, bytes, nr_digits - 1);
	return 0;
}

void base64_decode(struct strbuf *out, const char *text, size_t len)
{
	int r = 0;

	len = without_padding(text, len);
	if (len % GROUP == 1)
		r = -EBADMSG;
	for (size_t i = 0; r == 0 && i < len; i += GROUP)
		r = append_group(out, text + i, len - i < GROUP ? len - i : GROUP);
	strbuf_fail(out, r);
}

void base64_encode(struct strbuf *out, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i += 3) {
		size_t nr = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16;
		char group[GROUP] = { '=', '=', '=', '=' };

		if (nr > 1)
			bits |= (uint32_t)bytes[i + 1] << 8;
		if (nr > 2)
			bits |= bytes[i + 2];
		for (size_t j = 0; j <= nr; j++)
			group[j] = DIGITS[bits >> (18 - 6 * j) & 63];
		strbuf_append(out, group, sizeof(group));
	}
}
