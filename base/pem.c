/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pem.h"

#include <string.h>

#define BEGIN "-----BEGIN CERTIFICATE-----"
#define END "-----END CERTIFICATE-----"
#define DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
#define BLANKS " \t\r\n"

int pem_first_certificate(const char *text, struct strbuf *digits)
{
	const char *c = strstr(text, BEGIN);

	if (!c)
		return -EBADMSG;
	c += strlen(BEGIN);

	size_t start = digits->len;
	for (c += strspn(c, BLANKS); *c != '-'; c += strspn(c, BLANKS)) {
		size_t len = strspn(c, DIGITS);

		if (len == 0)
			return -EBADMSG;
		strbuf_append(digits, c, len);
		c += len;
	}
	if (strncmp(c, END, strlen(END)) != 0)
		return -EBADMSG;

	int r = strbuf_error(digits);
	return r == 0 && digits->len == start ? -EBADMSG : r;
}
