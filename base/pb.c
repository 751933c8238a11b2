/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pb.h"

#include "base/pb_reader.h"

#include <endian.h>
#include <string.h>

#define VARINT_MAX_BYTES 10

void pb_varint(struct strbuf *out, uint64_t value)
{
	unsigned char bytes[VARINT_MAX_BYTES];
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[len++] = (unsigned char)(value | 0x80);
	bytes[len++] = (unsigned char)value;
	strbuf_append(out, bytes, len);
}

static void put_tag(struct strbuf *out, uint32_t field, enum pb_wire type)
{
	pb_varint(out, (uint64_t)field << 3 | type);
}

void pb_uint(struct strbuf *out, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(out, field, PB_WIRE_VARINT);
	pb_varint(out, value);
}

void pb_int_always(struct strbuf *out, uint32_t field, int64_t value)
{
	put_tag(out, field, PB_WIRE_VARINT);
	pb_varint(out, (uint64_t)value);
}

void pb_fixed64(struct strbuf *out, uint32_t field, uint64_t value)
{
	uint64_t bytes = htole64(value);

	if (value == 0)
		return;
	put_tag(out, field, PB_WIRE_FIXED64);
	strbuf_append(out, &bytes, sizeof(bytes));
}

static void put_len(struct strbuf *out, uint32_t field, const void *data, size_t len)
{
	put_tag(out, field, PB_WIRE_LEN);
	pb_varint(out, len);
	strbuf_append(out, data, len);
}

void pb_bytes(struct strbuf *out, uint32_t field, const void *data, size_t len)
{
	if (len > 0)
		put_len(out, field, data, len);
}

void pb_string(struct strbuf *out, uint32_t field, const char *text)
{
	pb_bytes(out, field, text, strlen(text));
}

void pb_string_always(struct strbuf *out, uint32_t field, const char *text)
{
	put_len(out, field, text, strlen(text));
}

size_t pb_begin(struct strbuf *out, uint32_t field)
{
	put_tag(out, field, PB_WIRE_LEN);
	strbuf_extend(out, PB_LEN_BYTES);
	return out->len;
}

void pb_end(struct strbuf *out, size_t begin)
{
	if (strbuf_error(out) < 0)
		return;

	size_t len = out->len - begin;
	if (len >> (7 * PB_LEN_BYTES)) {
		out->error = -ENOSPC;
		return;
	}

	char *to = out->data + begin - PB_LEN_BYTES;
	for (size_t i = 0; i < PB_LEN_BYTES; i++)
		to[i] = (char)((len >> (7 * i) & 0x7f) | (i + 1 < PB_LEN_BYTES ? 0x80 : 0));
}
