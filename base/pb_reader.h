/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fields of an untrusted protobuf message one after the other. */
#ifndef BASE_PB_READER_H
#define BASE_PB_READER_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum pb_wire { PB_WIRE_VARINT = 0, PB_WIRE_FIXED64 = 1, PB_WIRE_LEN = 2, PB_WIRE_FIXED32 = 5 };

struct pb_reader {
	const unsigned char *at; /* borrowed */
	const unsigned char *end;
};

struct pb_field {
	uint32_t number;
	enum pb_wire wire;
	uint64_t value; /* of a varint or fixed-size field */
	const unsigned char *data; /* of PB_WIRE_LEN; borrowed from the message */
	size_t len;
};

static inline struct pb_reader pb_reader_of(const void *data, size_t len)
{
	const unsigned char *at = data;

	return (struct pb_reader){ .at = at, .end = len ? at + len : at };
}

/* Reads the next field. Returns 1, or 0 at the end. Errors: -EBADMSG. */
int pb_reader_next(struct pb_reader *reader, struct pb_field *ret_field) must_check;

/* Reads a varint of a packed field. Errors: -EBADMSG. */
int pb_reader_varint(struct pb_reader *reader, uint64_t *ret_value) must_check;

#endif
