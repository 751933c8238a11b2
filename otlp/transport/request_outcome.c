/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/request_outcome.h"

#include "base/printable.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void request_outcome_say(struct request_outcome *outcome, const char *what, const void *text,
			 size_t len)
{
	char line[2 * OUTCOME_MESSAGE_BYTES];
	const char *from = text;
	size_t message_len;

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

	snprintf(outcome->message, sizeof(outcome->message), "%s%s", what,
		 what[0] && line[0] ? ": " : "");
	message_len = strlen(outcome->message);
	printable_copy(outcome->message + message_len, sizeof(outcome->message) - message_len,
		       line);
}
