/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP_BYTES 256
#define NUMBER_DIGITS 20 /* of UINT64_MAX */

void strbuf_done(struct strbuf *buf)
{
	free(buf->data);
	*buf = strbuf_with_max(buf->max);
}

void strbuf_clear(struct strbuf *buf)
{
	buf->len = 0;
	buf->error = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

static int grow(struct strbuf *buf, size_t need)
{
	size_t cap = buf->cap ? buf->cap : FIRST_CAP_BYTES;

	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;

	char *data = realloc(buf->data, cap);
	if (!data)
		return -ENOMEM;
	buf->data = data;
	buf->cap = cap;
	return 0;
}

char *strbuf_extend(struct strbuf *buf, size_t len)
{
	if (buf->error < 0)
		return NULL;
	if (len > buf->max - buf->len || len >= SIZE_MAX - buf->len) {
		buf->error = -ENOSPC;
		return NULL;
	}
	if (buf->len + len + 1 > buf->cap)
		buf->error = grow(buf, buf->len + len + 1);
	if (buf->error < 0)
		return NULL;

	char *start = buf->data + buf->len;
	buf->len += len;
	buf->data[buf->len] = '\0';
	return start;
}

void strbuf_truncate(struct strbuf *buf, size_t len)
{
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

void strbuf_append(struct strbuf *buf, const void *data, size_t len)
{
	char *to = strbuf_extend(buf, len);

	if (to && len > 0)
		memcpy(to, data, len);
}

void strbuf_append_str(struct strbuf *buf, const char *text)
{
	strbuf_append(buf, text, strlen(text));
}

void strbuf_append_char(struct strbuf *buf, char c)
{
	strbuf_append(buf, &c, 1);
}

void strbuf_append_u64(struct strbuf *buf, uint64_t number)
{
	char digits[NUMBER_DIGITS];
	size_t first = NUMBER_DIGITS;

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	strbuf_append(buf, digits + first, NUMBER_DIGITS - first);
}

void strbuf_appendf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);

	if (len < 0)
		strbuf_fail(buf, -EINVAL);

	char *to = len < 0 ? NULL : strbuf_extend(buf, (size_t)len);
	if (!to)
		return;
	va_start(args, format);
	vsnprintf(to, (size_t)len + 1, format, args);
	va_end(args);
}

const char *strbuf_str(const struct strbuf *buf)
{
	return buf->data ? buf->data : "";
}

void strbuf_fail(struct strbuf *buf, int error)
{
	if (buf->error == 0)
		buf->error = error;
}

int strbuf_error(const struct strbuf *buf)
{
	return buf->error;
}
