/* SPDX-License-Identifier: Apache-2.0 */
/* Packed repeated numbers, with a length of as few bytes as it takes: pb_begin() spends four, which counts
 * in messages of ten bytes that come by the thousand. */
#ifndef OTLP_PACKED_H
#define OTLP_PACKED_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Nothing is written for no values. */
void packed_append(struct strbuf *out, uint32_t field, const uint32_t *values, size_t nr);

/* A repeated field of just one number. */
void packed_append_one(struct strbuf *out, uint32_t field, uint64_t value);

#endif
