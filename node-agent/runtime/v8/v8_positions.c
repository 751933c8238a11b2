/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_positions.h"

#include "runtime/v8/v8_numbers.h"

#include <stdbool.h>

#define FUNCTION_ENTRY (-1) /* the offset from which the first entry counts */

#define IS_ABSOLUTE 4 /* bit of a distance that is shifted by three bits */

/* SourcePosition */
#define OFFSET_SHIFT 1
#define OFFSET_MASK 0x3fffffff
#define INLINING_SHIFT 31
#define INLINING_MASK 0xffff

/* The first bytecodes are prefixes: each second one doubles the operands twice. The other two are
 * the debugger's. */
#define NR_PREFIXES 4
#define SIZE_MASK 15
#define WIDER_SHIFT 4

/* The sign is the lowest bit; a negative number is the complement of the rest. */
static bool read_signed(struct v8_numbers *numbers, uint64_t *ret_number)
{
	uint64_t number;

	if (!v8_numbers_next(numbers, &number))
		return false;
	*ret_number = number >> 1 ^ (0 - (number & 1));
	return true;
}

struct v8_position v8_position_of(uint64_t raw)
{
	return (struct v8_position){
		.offset = (int32_t)(raw >> OFFSET_SHIFT & OFFSET_MASK) - 1,
		.inlining = (int32_t)(raw >> INLINING_SHIFT & INLINING_MASK) - 1,
	};
}

/* An entry of a table. */
struct entry {
	uint64_t distance; /* from the one before */
	uint64_t position;
	bool is_absolute; /* the position is no distance */
};

static bool read_distance(struct v8_numbers *numbers, enum v8_distances distances,
			  struct entry *entry)
{
	uint64_t number;

	if (distances != V8_DISTANCES_SIGNED) {
		if (!v8_numbers_next(numbers, &number))
			return false;
		entry->distance = number >> (distances == V8_DISTANCES_SHIFTED ? 2 : 3);
		entry->is_absolute = distances == V8_DISTANCES_SHIFTED_3 && number & IS_ABSOLUTE;
		return true;
	}
	if (!read_signed(numbers, &number))
		return false;
	entry->distance = number >> 63 ? ~number : number;
	return true;
}

struct v8_position v8_positions_find(const uint8_t *table, size_t len, enum v8_distances distances,
				     uint32_t offset)
{
	struct v8_numbers numbers = { table, len };
	struct v8_position found = { -1, -1 };
	int64_t start = FUNCTION_ENTRY;
	struct entry entry = { 0 };
	uint64_t raw = 0;

	while (read_distance(&numbers, distances, &entry) &&
	       read_signed(&numbers, &entry.position)) {
		start = (int64_t)((uint64_t)start + entry.distance);
		raw = entry.is_absolute ? entry.position : raw + entry.position;
		if (start > (int64_t)offset)
			break;
		found = v8_position_of(raw);
	}
	return found;
}

/* Returns the size of the bytecode at `at`, with its prefix; 0 if it is unknown. */
static size_t bytecode_size(const struct v8_bytecodes *bytecodes, size_t at)
{
	uint32_t scale = 1, prefix = 0;
	uint8_t code = bytecodes->bytes[at], size;

	if (code < NR_PREFIXES) {
		if (++at == bytecodes->len)
			return 0;
		scale = code % 2 == 0 ? 2 : 4;
		prefix = 1;
		code = bytecodes->bytes[at];
	}
	if (code >= bytecodes->nr_sizes)
		return 0;
	size = bytecodes->sizes[code];
	return (size & SIZE_MASK)
		       ? prefix + (size & SIZE_MASK) + (size >> WIDER_SHIFT) * (scale - 1)
		       : 0;
}

int32_t v8_bytecode_offset_find(const uint8_t *table, size_t len,
				const struct v8_bytecodes *bytecodes, uint32_t pc_offset)
{
	struct v8_numbers numbers = { table, len };
	uint64_t end, number;
	int32_t found = -1;
	size_t next = 0;

	if (!v8_numbers_next(&numbers, &end))
		return -1;
	while (end < pc_offset && next < bytecodes->len && v8_numbers_next(&numbers, &number)) {
		size_t size = bytecode_size(bytecodes, next);

		if (size == 0)
			return -1;
		found = (int32_t)next;
		next += size;
		end += number;
	}
	return end < pc_offset ? -1 : found;
}
