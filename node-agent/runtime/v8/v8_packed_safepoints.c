/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_packed_safepoints.h"

#include "runtime/v8/v8_numbers.h"
#include "runtime/v8/v8_safepoints.h"

#include <stdbool.h>
#include <string.h>

#define HEAD_CONFIGURATION 4
#define SIZE_MASK ((1U << 30) - 1)
#define HAS_REGISTERS (1U << 30)
#define HAS_DEOPT (1U << 31)

#define FIRST_PC 1 /* from which the first distance counts, as from the next */
#define FIRST_INDEX (-1)

/* Of the first byte of a map of slots. */
#define IS_PACKED 1
#define IS_PACKED_BEHIND_OTHERS 3

struct entry {
	uint64_t pc;
	uint64_t other; /* place to return to */
	int64_t index;
	bool has_index;
};

static uint32_t read_configuration(const uint8_t *head)
{
	uint32_t configuration;

	memcpy(&configuration, head + HEAD_CONFIGURATION, sizeof(configuration));
	return configuration;
}

size_t v8_packed_safepoints_size(const uint8_t *head)
{
	uint32_t configuration = read_configuration(head);
	size_t size = configuration & SIZE_MASK;

	if (!(configuration & HAS_DEOPT) || size < V8_PACKED_SAFEPOINTS_HEAD_BYTES ||
	    size > V8_SAFEPOINTS_MAX_BYTES)
		return 0;
	return size;
}

/* Skips a number of any length. */
static bool skip_number(struct v8_numbers *numbers)
{
	uint8_t byte;

	do {
		if (!v8_numbers_next_byte(numbers, &byte))
			return false;
	} while (byte & 0x80);
	return true;
}

/* Skips the map of the slots that have pointers. */
static bool skip_slots(struct v8_numbers *numbers)
{
	uint64_t nr_bytes;

	if (numbers->left == 0)
		return false;
	uint8_t kind = numbers->bytes[0] & IS_PACKED_BEHIND_OTHERS;
	if (kind & IS_PACKED)
		return (kind != IS_PACKED_BEHIND_OTHERS || skip_number(numbers)) &&
		       skip_number(numbers);
	if (!v8_numbers_next(numbers, &nr_bytes) || nr_bytes >> 1 > numbers->left)
		return false;
	numbers->bytes += nr_bytes >> 1;
	numbers->left -= nr_bytes >> 1;
	return true;
}

/* Goes on to the next entry; returns false at the end and at damage. */
static bool next_entry(struct v8_numbers *numbers, bool has_registers, struct entry *entry)
{
	uint64_t pc, index, other = 0;

	if (!v8_numbers_next(numbers, &pc) || !v8_numbers_next(numbers, &index) ||
	    index > INT32_MAX || (index > 0 && !v8_numbers_next(numbers, &other)) ||
	    (has_registers && !skip_number(numbers)) || !skip_slots(numbers))
		return false;
	entry->pc += pc;
	entry->other += other;
	entry->index += (int64_t)index;
	entry->has_index = index > 0;
	return true;
}

int32_t v8_packed_safepoints_find(const uint8_t *table, size_t len, uint32_t pc_offset)
{
	struct v8_numbers numbers = { table + V8_PACKED_SAFEPOINTS_HEAD_BYTES,
				      len - V8_PACKED_SAFEPOINTS_HEAD_BYTES };
	uint32_t configuration = read_configuration(table);
	struct entry entry = { .pc = FIRST_PC, .index = FIRST_INDEX };

	if (!(configuration & HAS_DEOPT))
		return -1;
	while (next_entry(&numbers, configuration & HAS_REGISTERS, &entry))
		if (entry.has_index && entry.index <= INT32_MAX &&
		    (entry.pc == pc_offset || entry.other == pc_offset))
			return (int32_t)entry.index;
	return -1;
}
