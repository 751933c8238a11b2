/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_table.h"

#include "base/search.h"
#include "symbol/dwarf/lines_unit.h"

#include <stdlib.h>
#include <string.h>

/* Number of spans checked for an address, starting with the last one that begins at or before it
 * (see dwarf_index.c). */
#define SEARCH_BACK 64

void lines_table_done(struct lines_table *table)
{
	free(table->bytes);
	free(table->spans);
	*table = (struct lines_table){ 0 };
}

size_t lines_table_bytes(const struct lines_table *table)
{
	return table->nr_bytes + table->nr_spans * sizeof(*table->spans);
}

/* Checks all units and counts their ranges. */
static int count_ranges(const void *bytes, size_t len, size_t *ret_nr)
{
	struct lines_unit unit;
	size_t nr = 0;

	for (size_t at = 0; at < len; at += unit.header->nr_bytes) {
		int r = lines_unit_parse((const char *)bytes + at, len - at, &unit);
		if (r < 0)
			return r;
		nr += unit.header->nr_ranges;
	}
	*ret_nr = nr;
	return 0;
}

bool lines_table_is_valid(const void *bytes, size_t len)
{
	size_t nr;

	return len > 0 && count_ranges(bytes, len, &nr) == 0;
}

static int compare_spans(const void *one, const void *other)
{
	const struct lines_span *a = one;
	const struct lines_span *b = other;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

static void add_spans(struct lines_table *table, size_t at, const struct lines_unit *unit)
{
	for (uint32_t i = 0; i < unit->header->nr_ranges; i++) {
		uint64_t low = unit->header->base + unit->ranges[i].low;

		table->spans[table->nr_spans++] = (struct lines_span){
			.low = low,
			.high = low + unit->ranges[i].length,
			.unit = (uint32_t)(at / LINES_ALIGNMENT),
		};
	}
}

/* Adds the spans of the units from byte `first` of the table on. */
static struct lines_added take_units(struct lines_table *table, size_t first)
{
	struct lines_added added = { 0 };
	struct lines_unit unit;

	for (size_t at = first; at < table->nr_bytes; at += unit.header->nr_bytes) {
		lines_unit_find_parts(table->bytes + at, &unit);
		add_spans(table, at, &unit);
		added.nr_left_out += unit.header->is_left_out != 0;
		added.nr_units += unit.header->is_left_out == 0;
	}
	if (table->nr_spans > 0)
		qsort(table->spans, table->nr_spans, sizeof(*table->spans), compare_spans);
	return added;
}

static int make_room(struct lines_table *table, size_t len, size_t nr_ranges)
{
	if (len > LINES_TABLE_MAX_BYTES - table->nr_bytes)
		return -ENOSPC;

	void *bytes = realloc(table->bytes, table->nr_bytes + len);
	if (!bytes)
		return -ENOMEM;
	table->bytes = bytes;
	if (nr_ranges == 0)
		return 0;

	void *spans = reallocarray(table->spans, table->nr_spans + nr_ranges,
				   sizeof(*table->spans));
	if (!spans)
		return -ENOMEM;
	table->spans = spans;
	return 0;
}

int lines_table_add(struct lines_table *table, const void *bytes, size_t len,
		    struct lines_added *ret_added)
{
	size_t first = table->nr_bytes;
	size_t nr_ranges;

	*ret_added = (struct lines_added){ 0 };
	if (len == 0)
		return 0;
	int r = count_ranges(bytes, len, &nr_ranges);
	if (r == 0)
		r = make_room(table, len, nr_ranges);
	if (r < 0)
		return r;
	memcpy(table->bytes + first, bytes, len);
	table->nr_bytes += len;
	*ret_added = take_units(table, first);
	return 0;
}

int lines_table_find(const struct lines_table *table, uint64_t address,
		     struct symbol_line ret_lines[static SYMBOL_MAX_LINES],
		     enum symbol_language *ret_language)
{
	size_t next = search_count(table->nr_spans, i, table->spans[i].low <= address);
	size_t nr_left = next < SEARCH_BACK ? next : SEARCH_BACK;
	bool is_known = false;
	struct lines_unit unit;

	for (; nr_left > 0; nr_left--) {
		const struct lines_span *span = &table->spans[--next];

		if (address >= span->high)
			continue;
		lines_unit_find_parts(table->bytes + (size_t)span->unit * LINES_ALIGNMENT, &unit);
		size_t nr_lines = lines_unit_find(&unit, address, ret_lines);
		*ret_language = (enum symbol_language)unit.header->language;
		if (nr_lines > 0)
			return (int)nr_lines;
		is_known = true;
	}
	return is_known ? 0 : -ENOENT;
}
