/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_lines.h"

#define UNIT_BYTES 2
#define NO_LINE INT8_MIN /* in a linetable */

#define ENTRY_START 0x80
#define ENTRY_CODE(byte) ((byte) >> 3 & 15)
#define ENTRY_UNITS(byte) (((byte)&7) + 1)

/* The codes of locations. Those below ONE_LINE are of the same line. */
enum {
	ONE_LINE = 10, /* to 12: of one of the next lines */
	NO_COLUMNS = 13,
	LONG = 14,
	NO_LOCATION = 15,
};

#define VARINT_MORE 0x40
#define VARINT_BITS 6
#define VARINT_MAX_BYTES 6

static uint32_t as_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

static uint32_t find_in_lnotab(const struct cpython_line_table *table, uint64_t unit)
{
	int64_t line = table->first_line;
	uint64_t start = 0;

	for (size_t at = 0; at + 2 <= table->len; at += 2) {
		start += table->bytes[at];
		if (start > unit * UNIT_BYTES)
			break;
		line += (int8_t)table->bytes[at + 1];
	}
	return as_line(line);
}

static uint32_t find_in_linetable(const struct cpython_line_table *table, uint64_t unit)
{
	int64_t line = table->first_line;
	uint64_t end = 0;

	for (size_t at = 0; at + 2 <= table->len; at += 2) {
		int8_t delta = (int8_t)table->bytes[at + 1];

		end += table->bytes[at];
		if (delta != NO_LINE)
			line += delta;
		if (end > unit * UNIT_BYTES)
			return delta == NO_LINE ? 0 : as_line(line);
	}
	return 0;
}

/* Reads a signed number: the lowest bit is the sign. */
static int64_t read_svarint(const struct cpython_line_table *table, size_t at)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < VARINT_MAX_BYTES && at + i < table->len; i++) {
		uint8_t byte = table->bytes[at + i];

		value |= (uint64_t)(byte & (VARINT_MORE - 1)) << (i * VARINT_BITS);
		if (!(byte & VARINT_MORE))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Returns how many lines the entry is behind the one before it. */
static int64_t entry_delta(const struct cpython_line_table *table, size_t at)
{
	int code = ENTRY_CODE(table->bytes[at]);

	if (code == NO_COLUMNS || code == LONG)
		return read_svarint(table, at + 1);
	return code >= ONE_LINE && code < NO_COLUMNS ? code - ONE_LINE : 0;
}

static uint32_t find_in_locations(const struct cpython_line_table *table, uint64_t unit)
{
	int64_t line = table->first_line;
	uint64_t end = 0;

	for (size_t at = 0; at < table->len;) {
		uint8_t first = table->bytes[at];

		line += entry_delta(table, at);
		end += ENTRY_UNITS(first);
		if (end > unit)
			return ENTRY_CODE(first) == NO_LOCATION ? 0 : as_line(line);
		do {
			at++;
		} while (at < table->len && !(table->bytes[at] & ENTRY_START));
	}
	return 0;
}

uint32_t cpython_lines_find(const struct cpython_line_table *table, uint64_t unit)
{
	switch (table->format) {
	case CPYTHON_LINES_LNOTAB:
		return find_in_lnotab(table, unit);
	case CPYTHON_LINES_LINETABLE:
		return find_in_linetable(table, unit);
	case CPYTHON_LINES_LOCATIONS:
		return find_in_locations(table, unit);
	case CPYTHON_NR_LINES:
		break;
	}
	return 0;
}
