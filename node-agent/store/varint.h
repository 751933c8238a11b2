/* SPDX-License-Identifier: Apache-2.0 */
/* Varints, read fast: most have one byte. */
#ifndef STORE_VARINT_H
#define STORE_VARINT_H

#include "base/err.h"
#include "base/pb_reader.h"

#include <stdint.h>

#define VARINT_LAST_SHIFT 28 /* of the fifth byte, the last one of 32 bits */

/* Inline as a whole, so that a loop keeps the reader in registers. Errors: -EBADMSG. */
static inline int varint_read(struct pb_reader *reader, uint32_t *ret_value)
{
	uint64_t value = 0;

	if (reader->at != reader->end && *reader->at < 0x80) {
		*ret_value = *reader->at++;
		return 0;
	}
	for (unsigned int shift = 0; shift <= VARINT_LAST_SHIFT; shift += 7) {
		if (reader->at == reader->end)
			return -EBADMSG;
		unsigned char byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = (uint32_t)value;
			return value <= UINT32_MAX ? 0 : -EBADMSG;
		}
	}
	return -EBADMSG;
}

/* The same for 64 bits. Most numbers have one byte. Errors: -EBADMSG. */
static inline int varint_read_long(struct pb_reader *reader, uint64_t *ret_value)
{
	if (reader->at != reader->end && *reader->at < 0x80) {
		*ret_value = *reader->at++;
		return 0;
	}
	return pb_reader_varint(reader, ret_value);
}

/* Signed numbers as unsigned ones, small if they are near 0. All numbers are modulo 2^32. */
static inline uint32_t varint_fold(uint32_t number)
{
	return number << 1 ^ (0 - (number >> 31));
}

static inline uint32_t varint_unfold(uint32_t folded)
{
	return folded >> 1 ^ (0 - (folded & 1));
}

#endif
