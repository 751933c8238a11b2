/* SPDX-License-Identifier: Apache-2.0 */
/* Which compile unit of a file has the code at an address.
 *
 * From the units' own ranges; .debug_aranges, which is made to tell just this, is asked about those
 * that have none: clang, Rust and Go leave it out or make it incomplete. */
#ifndef SYMBOL_DWARF_DWARF_INDEX_H
#define SYMBOL_DWARF_DWARF_INDEX_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_index_unit {
	Dwarf_Off offset; /* of its DIE in .debug_info */
	bool has_ranges;
};

struct dwarf_index_range {
	uint64_t low;
	uint64_t high; /* behind it */
	uint32_t unit;
};

struct dwarf_index {
	struct dwarf_index_unit *units; /* owned; by offset */
	size_t nr_units;
	size_t cap_units;
	struct dwarf_index_range *ranges; /* owned; by low */
	size_t nr_ranges;
	size_t cap_ranges;
};

struct dwarf_index_search {
	const struct dwarf_index *index;
	uint64_t address;
	size_t next; /* range to look at, plus 1 */
	size_t nr_left; /* ranges yet to look at */
};

/* Errors: -ENOENT no units, -EBADMSG none that can be read, -ENOSPC too many, -ENOMEM. */
int dwarf_index_init(struct dwarf_index *index, Dwarf *dwarf) must_check;
void dwarf_index_done(struct dwarf_index *index);

/* The units that hold an address: where ranges overlap, the one that starts last first. */
struct dwarf_index_search dwarf_index_lookup(const struct dwarf_index *index, uint64_t address);
bool dwarf_index_next(struct dwarf_index_search *search, uint32_t *ret_unit);

/* The code around an address that is in no unit. */
struct dwarf_index_range dwarf_index_gap(const struct dwarf_index *index, uint64_t address);

#endif
