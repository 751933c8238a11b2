/* SPDX-License-Identifier: Apache-2.0 */
/* An index that finds the compile unit of an address.
 *
 * It is made from the ranges in the units' DIEs. .debug_aranges exists for this purpose, but clang,
 * Rust and Go leave it out or make it incomplete. It is only used for units without ranges. */
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
	uint64_t high; /* exclusive */
	uint32_t unit;
};

struct dwarf_index {
	struct dwarf_index_unit *units; /* owned; sorted by offset */
	size_t nr_units;
	size_t cap_units;
	struct dwarf_index_range *ranges; /* owned; sorted by low */
	size_t nr_ranges;
	size_t cap_ranges;
};

struct dwarf_index_search {
	const struct dwarf_index *index;
	uint64_t address;
	size_t next; /* next range to check, plus 1 */
	size_t nr_left; /* ranges still to check */
};

/* Reads the ranges of all units. Errors: -ENOENT no units, -EBADMSG no readable units, -ENOSPC too
 * many units, -ENOMEM. */
int dwarf_index_init(struct dwarf_index *index, Dwarf *dwarf) must_check;
void dwarf_index_done(struct dwarf_index *index);

/* Finds the units that contain an address, one per call of dwarf_index_next(), which returns false
 * at the end. If ranges overlap, the one with the highest start comes first. */
struct dwarf_index_search dwarf_index_lookup(const struct dwarf_index *index, uint64_t address);
bool dwarf_index_next(struct dwarf_index_search *search, uint32_t *ret_unit);

/* Returns the addresses between units around an address that is in no unit. */
struct dwarf_index_range dwarf_index_gap(const struct dwarf_index *index, uint64_t address);

#endif
