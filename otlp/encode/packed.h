/* SPDX-License-Identifier: Apache-2.0 */
/* Writes small messages and packed repeated numbers with a length of minimal size. pb_begin() uses
 * four bytes, which matters for thousands of messages of ten bytes. */
#ifndef OTLP_ENCODE_PACKED_H
#define OTLP_ENCODE_PACKED_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of a varint. */
static inline size_t packed_varint_len(uint64_t value)
{
	/* Seven bits a byte; 0 takes one, too. */
	return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

/* Returns the bytes of pb_uint() for a field below 16. */
static inline size_t packed_uint_len(uint64_t value)
{
	return value ? 1 + packed_varint_len(value) : 0;
}

/* Returns the bytes of a field below 16 that has a length, such as a string. */
static inline size_t packed_field_len(size_t len)
{
	return 1 + packed_varint_len(len) + len;
}

/* Returns the bytes of the numbers, without tag and length. */
size_t packed_values_len(const uint32_t *values, size_t nr);

/* Appends the tag and length of a message or packed field whose content is written next. */
void packed_begin(struct strbuf *out, uint32_t field, size_t len);

/* Appends a packed field; nothing without values. */
void packed_append(struct strbuf *out, uint32_t field, const uint32_t *values, size_t nr);

/* Appends a repeated field with one number. */
void packed_append_one(struct strbuf *out, uint32_t field, uint64_t value);

#endif
