/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pb_reader.h"

#define VARINT_MAX_BITS 64
#define FIELD_NUMBER_MAX 0x1fffffff

int pb_reader_varint(struct pb_reader *reader, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < VARINT_MAX_BITS; shift += 7) {
		if (reader->at == reader->end)
			return -EBADMSG;

		unsigned char byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return 0;
		}
	}
	return -EBADMSG;
}

static int read_fixed(struct pb_reader *reader, size_t nr_bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < nr_bytes)
		return -EBADMSG;
	for (size_t i = 0; i < nr_bytes; i++)
		value |= (uint64_t)reader->at[i] << (8 * i);
	reader->at += nr_bytes;
	*ret_value = value;
	return 0;
}

static int read_bytes(struct pb_reader *reader, struct pb_field *field)
{
	uint64_t len;

	int r = pb_reader_varint(reader, &len);
	if (r < 0)
		return r;
	if (len > (uint64_t)(reader->end - reader->at))
		return -EBADMSG;
	field->data = reader->at;
	field->len = len;
	reader->at += len;
	return 0;
}

static int read_value(struct pb_reader *reader, struct pb_field *field)
{
	switch (field->wire) {
	case PB_WIRE_VARINT:
		return pb_reader_varint(reader, &field->value);
	case PB_WIRE_FIXED64:
		return read_fixed(reader, 8, &field->value);
	case PB_WIRE_FIXED32:
		return read_fixed(reader, 4, &field->value);
	case PB_WIRE_LEN:
		return read_bytes(reader, field);
	default:
		return -EBADMSG;
	}
}

int pb_reader_next(struct pb_reader *reader, struct pb_field *ret_field)
{
	uint64_t tag;

	if (reader->at == reader->end)
		return 0;
	int r = pb_reader_varint(reader, &tag);
	if (r < 0)
		return r;
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)
		return -EBADMSG;

	struct pb_field field = { .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
	r = read_value(reader, &field);
	if (r < 0)
		return r;
	*ret_field = field;
	return 1;
}
