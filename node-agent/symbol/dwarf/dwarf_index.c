/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/dwarf_index.h"

#include "base/array.h"
#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>

#define MAX_UNITS ((size_t)1 << 21)
#define MAX_RANGES ((size_t)1 << 22)
#define MAX_STEPS ((size_t)1 << 23) /* units and ranges visited */

/* Number of ranges checked for an address, starting with the last one that begins at or before it.
 * Units only overlap where the linker dropped the code of one. */
#define SEARCH_BACK 64

void dwarf_index_done(struct dwarf_index *index)
{
	free(index->units);
	free(index->ranges);
	*index = (struct dwarf_index){ 0 };
}

/* Code that the linker dropped has address 0 or a range that wraps around. No code is at 0. */
static int add_range(struct dwarf_index *index, uint32_t unit, uint64_t low, uint64_t high)
{
	if (low == 0 || high <= low)
		return 0;

	int r = array_grow(index->ranges, index->cap_ranges, index->nr_ranges + 1, MAX_RANGES);
	if (r < 0)
		return r;
	index->ranges[index->nr_ranges++] = (struct dwarf_index_range){
		.low = low,
		.high = high,
		.unit = unit,
	};
	return 0;
}

static int add_unit(struct dwarf_index *index, Dwarf_Die *die, size_t *steps)
{
	uint32_t unit = (uint32_t)index->nr_units;
	bool has_ranges = false;
	Dwarf_Addr base = 0;
	Dwarf_Addr low;
	Dwarf_Addr high;

	int r = array_grow(index->units, index->cap_units, index->nr_units + 1, MAX_UNITS);
	if (r < 0)
		return r;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
		if ((*steps)++ == MAX_STEPS)
			return -ENOSPC;
		r = add_range(index, unit, low, high);
		if (r < 0)
			return r;
		has_ranges = true;
	}
	index->units[index->nr_units++] = (struct dwarf_index_unit){
		.offset = dwarf_dieoffset(die),
		.has_ranges = has_ranges,
	};
	return 0;
}

/* Returns whether a unit begins after all units found so far. A length that wraps around would lead
 * back to an earlier unit and into an endless loop. */
static bool is_next(const struct dwarf_index *index, Dwarf_Die *die)
{
	return index->nr_units == 0 ||
	       dwarf_dieoffset(die) > index->units[index->nr_units - 1].offset;
}

/* Adds compile units. Partial units have no code, and the code of skeleton units is described in
 * another file. Returns the number of units without ranges, or an error. */
static int add_units(struct dwarf_index *index, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	size_t steps = 0;
	int nr_silent = 0;
	int r;

	while ((r = dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL)) == 0) {
		if (++steps > MAX_STEPS)
			return -ENOSPC;
		if (type != DW_UT_compile)
			continue;
		if (!is_next(index, &die))
			break;
		r = add_unit(index, &die, &steps);
		if (r < 0)
			return r;
		nr_silent += !index->units[index->nr_units - 1].has_ranges;
	}
	if (index->nr_units == 0)
		return r < 0 ? -EBADMSG : -ENOENT;
	return nr_silent;
}

static int add_arange(struct dwarf_index *index, Dwarf_Arange *arange)
{
	Dwarf_Addr low;
	Dwarf_Word length;
	Dwarf_Off offset;

	if (dwarf_getarangeinfo(arange, &low, &length, &offset) != 0)
		return 0;
	size_t unit = search_count(index->nr_units, i, index->units[i].offset < offset);
	if (unit == index->nr_units || index->units[unit].offset != offset ||
	    index->units[unit].has_ranges)
		return 0;
	return add_range(index, (uint32_t)unit, low, low + length);
}

static int add_aranges(struct dwarf_index *index, Dwarf *dwarf)
{
	Dwarf_Aranges *aranges;
	size_t nr;

	if (dwarf_getaranges(dwarf, &aranges, &nr) != 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		int r = add_arange(index, dwarf_onearange(aranges, i));
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_ranges(const void *one, const void *other)
{
	const struct dwarf_index_range *a = one;
	const struct dwarf_index_range *b = other;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->high < b->high) - (a->high > b->high);
}

int dwarf_index_init(struct dwarf_index *index, Dwarf *dwarf)
{
	*index = (struct dwarf_index){ 0 };
	int r = add_units(index, dwarf);
	if (r > 0)
		r = add_aranges(index, dwarf);
	if (r < 0) {
		dwarf_index_done(index);
		return r;
	}
	if (index->nr_ranges > 0)
		qsort(index->ranges, index->nr_ranges, sizeof(*index->ranges), compare_ranges);
	return 0;
}

/* Returns the number of ranges that start at or before an address. */
static size_t count_up_to(const struct dwarf_index *index, uint64_t address)
{
	return search_count(index->nr_ranges, i, index->ranges[i].low <= address);
}

struct dwarf_index_search dwarf_index_lookup(const struct dwarf_index *index, uint64_t address)
{
	size_t next = count_up_to(index, address);

	return (struct dwarf_index_search){
		.index = index,
		.address = address,
		.next = next,
		.nr_left = next < SEARCH_BACK ? next : SEARCH_BACK,
	};
}

bool dwarf_index_next(struct dwarf_index_search *search, uint32_t *ret_unit)
{
	while (search->nr_left > 0) {
		const struct dwarf_index_range *range = &search->index->ranges[--search->next];

		search->nr_left--;
		if (search->address < range->high) {
			*ret_unit = range->unit;
			return true;
		}
	}
	return false;
}

/* Checks as many earlier ranges as a lookup does. */
struct dwarf_index_range dwarf_index_gap(const struct dwarf_index *index, uint64_t address)
{
	size_t next = count_up_to(index, address);
	size_t first = next < SEARCH_BACK ? 0 : next - SEARCH_BACK;
	struct dwarf_index_range gap = {
		.low = 1,
		.high = next < index->nr_ranges ? index->ranges[next].low : UINT64_MAX,
	};

	for (size_t i = first; i < next; i++) {
		uint64_t end = index->ranges[i].high;

		if (end <= address && end > gap.low)
			gap.low = end;
	}
	return gap;
}
