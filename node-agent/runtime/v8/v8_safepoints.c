/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_safepoints.h"

#include <stdbool.h>
#include <string.h>

/* The head is four numbers. */
enum { HEAD_NR_ENTRIES = 4, HEAD_CONFIGURATION = 8 };

#define HAS_DEOPT 1
#define REGISTERS_SHIFT 1
#define PC_SHIFT 4
#define INDEX_SHIFT 7
#define SIZE_MASK 7
#define MAX_SIZE 4 /* of a number */
#define SPILLED_BYTES 1

/* An entry: return address, index + 1, other place to return to + 1, spilled slots, registers. */
struct shape {
	uint32_t nr_entries;
	size_t pc_bytes;
	size_t index_bytes;
	size_t entry_bytes;
};

static uint32_t read_u32(const uint8_t *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static bool read_head(const uint8_t *head, struct shape *ret_shape)
{
	uint32_t configuration = read_u32(head + HEAD_CONFIGURATION);
	size_t pc_bytes = configuration >> PC_SHIFT & SIZE_MASK;
	size_t index_bytes = configuration >> INDEX_SHIFT & SIZE_MASK;
	size_t registers_bytes = configuration >> REGISTERS_SHIFT & SIZE_MASK;

	if (!(configuration & HAS_DEOPT) || pc_bytes > MAX_SIZE || index_bytes > MAX_SIZE ||
	    registers_bytes > MAX_SIZE)
		return false;
	*ret_shape = (struct shape){
		.nr_entries = read_u32(head + HEAD_NR_ENTRIES),
		.pc_bytes = pc_bytes,
		.index_bytes = index_bytes,
		.entry_bytes = 2 * pc_bytes + index_bytes + SPILLED_BYTES + registers_bytes,
	};
	return true;
}

size_t v8_safepoints_size(const uint8_t *head)
{
	struct shape shape;

	if (!read_head(head, &shape) ||
	    shape.nr_entries >
		    (V8_SAFEPOINTS_MAX_BYTES - V8_SAFEPOINTS_HEAD_BYTES) / shape.entry_bytes)
		return 0;
	return V8_SAFEPOINTS_HEAD_BYTES + shape.nr_entries * shape.entry_bytes;
}

static uint32_t read_number(const uint8_t *bytes, size_t nr_bytes)
{
	uint32_t number = 0;

	for (size_t i = 0; i < nr_bytes; i++)
		number |= (uint32_t)bytes[i] << (8 * i);
	return number;
}

int32_t v8_safepoints_find(const uint8_t *table, size_t len, uint32_t pc_offset)
{
	struct shape shape;

	if (!read_head(table, &shape))
		return -1;
	size_t nr = (len - V8_SAFEPOINTS_HEAD_BYTES) / shape.entry_bytes;
	for (size_t i = 0; i < nr && i < shape.nr_entries; i++) {
		const uint8_t *entry = table + V8_SAFEPOINTS_HEAD_BYTES + i * shape.entry_bytes;
		uint32_t pc = read_number(entry, shape.pc_bytes);
		uint32_t index = read_number(entry + shape.pc_bytes, shape.index_bytes);
		uint32_t other = read_number(entry + shape.pc_bytes + shape.index_bytes,
					     shape.pc_bytes);

		if (index > 0 && index <= INT32_MAX && (pc == pc_offset || other == pc_offset + 1))
			return (int32_t)(index - 1);
	}
	return -1;
}
