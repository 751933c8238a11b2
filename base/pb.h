/* SPDX-License-Identifier: Apache-2.0 */
/* A protobuf writer: appends fields to a strbuf in the order of the calls.
 *
 * Nested messages are written in place. pb_begin() leaves PB_LEN_BYTES for the length and pb_end()
 * fills it in with a padded varint (80 80 80 00 is a legal 0): no second pass, no copy, no
 * temporary buffer. Encoding: https://protobuf.dev/programming-guides/encoding/ */
#ifndef BASE_PB_H
#define BASE_PB_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define PB_LEN_BYTES 4 /* nested messages up to 256 MB */

/* Append scalars. As in proto3, 0 and the empty string are not written, since an absent field means
 * the same. */
void pb_uint(struct strbuf *out, uint32_t field, uint64_t value);
void pb_fixed64(struct strbuf *out, uint32_t field, uint64_t value);
void pb_string(struct strbuf *out, uint32_t field, const char *text);
void pb_bytes(struct strbuf *out, uint32_t field, const void *data, size_t len);

/* Append scalars even if they are 0 or empty: elements of a repeated field and members of a
 * oneof. */
void pb_string_always(struct strbuf *out, uint32_t field, const char *text);
void pb_int_always(struct strbuf *out, uint32_t field, int64_t value);

/* Appends a bare varint, for packed fields between pb_begin() and pb_end(). */
void pb_varint(struct strbuf *out, uint64_t value);

/* Begins a nested message or packed field; pb_end() needs the result. */
size_t pb_begin(struct strbuf *out, uint32_t field);
void pb_end(struct strbuf *out, size_t begin);

#endif
