/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_numbers.h"

#define NUMBER_BITS 7
#define MORE_BIT 0x80
#define MAX_SHIFT 63

bool v8_numbers_next_byte(struct v8_numbers *numbers, uint8_t *ret_byte)
{
	if (numbers->left == 0)
		return false;
	*ret_byte = *numbers->bytes++;
	numbers->left--;
	return true;
}

bool v8_numbers_next(struct v8_numbers *numbers, uint64_t *ret_number)
{
	uint64_t number = 0;
	uint8_t byte;

	for (int shift = 0; shift <= MAX_SHIFT; shift += NUMBER_BITS) {
		if (!v8_numbers_next_byte(numbers, &byte))
			return false;
		number |= (uint64_t)(byte & (MORE_BIT - 1)) << shift;
		if (!(byte & MORE_BIT)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

bool v8_numbers_next_signed(struct v8_numbers *numbers, int32_t *ret_number)
{
	uint64_t number;

	if (!v8_numbers_next(numbers, &number) || number >> 1 > INT32_MAX)
		return false;
	*ret_number = (int32_t)(number >> 1);
	if (number & 1)
		*ret_number = -*ret_number;
	return true;
}
