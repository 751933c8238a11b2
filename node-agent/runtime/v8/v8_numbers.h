/* SPDX-License-Identifier: Apache-2.0 */
/* Reads V8's numbers of variable length: 7 bits a byte, the lowest first; the highest bit of a byte
 * says that another one follows. Source: V8's src/base/vlq.h. */
#ifndef RUNTIME_V8_V8_NUMBERS_H
#define RUNTIME_V8_V8_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v8_numbers {
	const uint8_t *bytes; /* the next one; borrowed */
	size_t left;
};

/* Reads a number, and goes on behind it. Returns false at the end and where a number is damaged. */
bool v8_numbers_next(struct v8_numbers *numbers, uint64_t *ret_number);

/* Reads a number of 32 bits whose lowest bit is its sign. Returns false as above, and if it is
 * larger. */
bool v8_numbers_next_signed(struct v8_numbers *numbers, int32_t *ret_number);

/* Reads a single byte. Returns false at the end. */
bool v8_numbers_next_byte(struct v8_numbers *numbers, uint8_t *ret_byte);

#endif
