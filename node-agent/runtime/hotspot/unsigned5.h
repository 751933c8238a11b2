/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes UNSIGNED5, the variable-length numbers in HotSpot's debug information and line tables.
 *
 * A number has one to five bytes, the least significant one first, each worth 64 times the one
 * before. A byte with one of the 64 highest values is followed by another one. From JDK 20 on no
 * byte is 0, so each of them is worth one less.
 * Source: src/hotspot/share/utilities/unsigned5.hpp, before JDK 20 code/compressedStream.cpp. */
#ifndef RUNTIME_HOTSPOT_UNSIGNED5_H
#define RUNTIME_HOTSPOT_UNSIGNED5_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct unsigned5_reader {
	const uint8_t *bytes; /* borrowed */
	size_t len;
	size_t position;
	uint8_t nr_excluded; /* byte values that do not occur: 1 from JDK 20 on, else 0 */
};

/* Errors: -EBADMSG the bytes end within the number, or it has a byte that must not occur. */
int unsigned5_next(struct unsigned5_reader *reader, uint32_t *ret_number) must_check;

/* Reads a signed number: the lowest bit is the sign. Errors: the same. */
int unsigned5_next_signed(struct unsigned5_reader *reader, int32_t *ret_number) must_check;

#endif
