/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/unsigned5.h"

#define MAX_BYTES 5
#define FIRST_HIGH_BYTE 192 /* 64 values are above */
#define BITS 6

int unsigned5_next(struct unsigned5_reader *reader, uint32_t *ret_number)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < MAX_BYTES; i++) {
		if (reader->position >= reader->len)
			return -EBADMSG;
		uint8_t byte = reader->bytes[reader->position++];

		if (byte < reader->nr_excluded)
			return -EBADMSG;
		number += (uint32_t)(byte - reader->nr_excluded) << (BITS * i);
		if (byte < FIRST_HIGH_BYTE)
			break;
	}
	*ret_number = number;
	return 0;
}

int unsigned5_next_signed(struct unsigned5_reader *reader, int32_t *ret_number)
{
	uint32_t number;
	int r = unsigned5_next(reader, &number);

	if (r < 0)
		return r;
	*ret_number = (int32_t)(number >> 1 ^ (0 - (number & 1)));
	return 0;
}
