/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's reply about source lines. The files on disk have the same form. */
#include "symbol/dwarf/lines_table.h"
#include "symbol/dwarf/lines_unit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that a reader would; a sanitizer tells whether it is there. */
static void look_up(const struct lines_table *table, uint64_t address)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	enum symbol_language language;
	int nr = lines_table_find(table, address, lines, &language);

	for (int i = 0; i < nr; i++)
		if (strlen(lines[i].system_name) > LINES_MAX_STRING ||
		    strlen(lines[i].filename) > LINES_MAX_STRING || language > LANGUAGE_JIT)
			abort();
}

static void look_up_units(const struct lines_table *table)
{
	struct lines_unit unit;

	for (size_t at = 0; at < table->nr_bytes; at += unit.header->nr_bytes) {
		lines_unit_find_parts(table->bytes + at, &unit);
		for (uint32_t i = 0; i < unit.header->nr_marks; i++)
			look_up(table, unit.header->base + unit.marks[i].low);
		for (uint32_t i = 0; i < unit.header->nr_ranges; i++)
			look_up(table,
				unit.header->base + unit.ranges[i].low + unit.ranges[i].length / 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines_table table = { 0 };
	struct lines_added added;
	void *bytes = malloc(size > 0 ? size : 1); /* aligned, and its end is the heap's to watch */

	if (!bytes)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	int r = lines_table_add(&table, bytes, size, &added);
	if (lines_table_is_valid(bytes, size) != (r == 0 && size > 0))
		abort();
	if (r == 0)
		look_up_units(&table);
	lines_table_done(&table);
	free(bytes);
	return 0;
}
