/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flat.h"

#include <string.h>

void flat_put_number(struct strbuf *out, uint64_t number)
{
	strbuf_append(out, &number, sizeof(number));
}

void flat_put_bytes(struct strbuf *out, const void *bytes, size_t len)
{
	flat_put_number(out, len);
	if (len > 0)
		strbuf_append(out, bytes, len);
	strbuf_append_char(out, '\0');
}

void flat_put_text(struct strbuf *out, const char *text)
{
	flat_put_bytes(out, text, text ? strlen(text) : 0);
}

/* The next `len` bytes, or NULL. */
static const char *take(struct flat_reader *reader, size_t len)
{
	const char *at = reader->at;

	if (reader->is_bad || len > reader->len) {
		reader->is_bad = true;
		return NULL;
	}
	reader->at += len;
	reader->len -= len;
	return at;
}

uint64_t flat_take_number(struct flat_reader *reader, uint64_t max)
{
	const char *bytes = take(reader, sizeof(uint64_t));
	uint64_t number = 0;

	if (bytes)
		memcpy(&number, bytes, sizeof(number));
	if (number <= max)
		return number;
	reader->is_bad = true;
	return 0;
}

bool flat_take_bool(struct flat_reader *reader)
{
	return flat_take_number(reader, 1);
}

const void *flat_take_bytes(struct flat_reader *reader, size_t max_len, size_t *ret_len)
{
	size_t len = flat_take_number(reader, max_len < SIZE_MAX ? max_len : SIZE_MAX - 1);
	const char *bytes = take(reader, len + 1);

	if (bytes && bytes[len] == '\0') {
		*ret_len = len;
		return bytes;
	}
	reader->is_bad = true;
	*ret_len = 0;
	return "";
}

const char *flat_take_text(struct flat_reader *reader, size_t max_len)
{
	size_t len;
	const char *text = flat_take_bytes(reader, max_len, &len);

	if (strlen(text) == len)
		return text;
	reader->is_bad = true;
	return "";
}

int flat_reader_finish(const struct flat_reader *reader)
{
	return reader->is_bad || reader->len > 0 ? -EBADMSG : 0;
}
