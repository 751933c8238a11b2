/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/packed.h"

#include "base/pb.h"

#define WIRE_LEN 2 /* protobuf's wire type of messages and packed fields */

static size_t varint_len(uint64_t value)
{
	size_t len = 1;

	while (value >>= 7)
		len++;
	return len;
}

static void begin(struct strbuf *out, uint32_t field, size_t len)
{
	pb_varint(out, (uint64_t)field << 3 | WIRE_LEN);
	pb_varint(out, len);
}

static char *put_varint(char *to, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

void packed_append(struct strbuf *out, uint32_t field, const uint32_t *values, size_t nr)
{
	size_t len = 0;

	if (nr == 0)
		return;
	for (size_t i = 0; i < nr; i++)
		len += varint_len(values[i]);
	begin(out, field, len);

	char *to = strbuf_extend(out, len);
	for (size_t i = 0; to && i < nr; i++)
		to = put_varint(to, values[i]);
}

void packed_append_one(struct strbuf *out, uint32_t field, uint64_t value)
{
	begin(out, field, varint_len(value));
	pb_varint(out, value);
}
