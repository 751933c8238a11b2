/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Control characters of ASCII, and those of Latin-1 as UTF-8 spells them: terminals obey both. */
static bool is_control(const char *text, size_t char_len)
{
	const unsigned char *c = (const unsigned char *)text;

	return c[0] < ' ' || c[0] == 0x7f || (char_len == 2 && c[0] == 0xc2 && c[1] < 0xa0);
}

/* Adds one character to the message if it fits, and tells how much of `text` that was. */
static size_t add_char(struct delivery *delivery, size_t *len, const char *text)
{
	size_t char_len = utf8_char_len(text);
	bool is_printable = char_len > 0 && !is_control(text, char_len);
	size_t nr_added = is_printable ? char_len : 1;

	if (*len + nr_added >= sizeof(delivery->message))
		return 0;
	memcpy(delivery->message + *len, is_printable ? text : "?", nr_added);
	*len += nr_added;
	return char_len > 0 ? char_len : 1;
}

void delivery_say(struct delivery *delivery, const char *what, const void *text, size_t len)
{
	char line[2 * DELIVERY_MESSAGE_BYTES];
	const char *from = text;
	size_t message_len, step;

	while (len > 0 && is_blank(*from)) {
		from++;
		len--;
	}
	if (len >= sizeof(line))
		len = sizeof(line) - 1;
	if (len > 0)
		memcpy(line, from, len);
	line[len] = '\0';
	line[strcspn(line, "\r\n")] = '\0';

	snprintf(delivery->message, sizeof(delivery->message), "%s%s", what,
		 what[0] && line[0] ? ": " : "");
	message_len = strlen(delivery->message);
	for (const char *c = line; *c; c += step) {
		step = add_char(delivery, &message_len, c);
		if (step == 0)
			break;
	}
	delivery->message[message_len] = '\0';
}
