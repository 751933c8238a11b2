/* SPDX-License-Identifier: Apache-2.0 */
/* Small messages and packed repeated numbers, with a length of as few bytes as it takes: pb_begin()
 * spends four, which counts in messages of ten bytes that come by the thousand. */
#ifndef OTLP_ENCODE_PACKED_H
#define OTLP_ENCODE_PACKED_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of a varint. */
static inline size_t packed_varint_len(uint64_t value)
{
	/* Seven bits a byte; 0 takes one, too. */
	return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

/* Bytes of pb_uint() for a field below 16. */
static inline size_t packed_uint_len(uint64_t value)
{
	return value ? 1 + packed_varint_len(value) : 0;
}

/* Bytes of a field below 16 that has a length, such as a string. */
static inline size_t packed_field_len(size_t len)
{
	return 1 + packed_varint_len(len) + len;
}

/* Bytes of the numbers, without tag and length. */
size_t packed_values_len(const uint32_t *values, size_t nr);

/* The tag and length of a message or packed field whose content is written next. */
void packed_begin(struct strbuf *out, uint32_t field, size_t len);

/* Nothing is written for no values. */
void packed_append(struct strbuf *out, uint32_t field, const uint32_t *values, size_t nr);

/* A repeated field of just one number. */
void packed_append_one(struct strbuf *out, uint32_t field, uint64_t value);

#endif
