/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/packed.h"

#include "base/pb.h"
#include "base/pb_reader.h"

void packed_begin(struct strbuf *out, uint32_t field, size_t len)
{
	pb_varint(out, (uint64_t)field << 3 | PB_WIRE_LEN);
	pb_varint(out, len);
}

size_t packed_values_len(const uint32_t *values, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += packed_varint_len(values[i]);
	return len;
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
	size_t len = packed_values_len(values, nr);

	if (nr == 0)
		return;
	packed_begin(out, field, len);

	char *to = strbuf_extend(out, len);
	for (size_t i = 0; to && i < nr; i++)
		to = put_varint(to, values[i]);
}

void packed_append_one(struct strbuf *out, uint32_t field, uint64_t value)
{
	packed_begin(out, field, packed_varint_len(value));
	pb_varint(out, value);
}
