/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one compile unit, those inlined into others too, and which one an address is
 * in. */
#ifndef SYMBOL_DWARF_DWARF_FUNCTIONS_H
#define SYMBOL_DWARF_DWARF_FUNCTIONS_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_NO_FUNCTION UINT32_MAX

struct dwarf_function {
	void *die; /* Dwarf_Die.addr */
	uint32_t caller; /* the function it is inlined into, which precedes it; DWARF_NO_FUNCTION */
};

/* The innermost function from `low` on, up to the next segment. */
struct dwarf_segment {
	uint64_t low;
	uint32_t function; /* or DWARF_NO_FUNCTION */
};

struct dwarf_functions {
	struct dwarf_function *functions; /* owned; as in the file, outer before inner */
	size_t nr_functions;
	size_t cap_functions;
	struct dwarf_segment *segments; /* owned; by low */
	size_t nr_segments;
	size_t cap_segments;
};

/* Reads the unit's tree of DIEs. `*steps` counts DIEs and ranges that were looked at,
 * also on failure. A tree that is damaged somewhere is read up to there. Errors: -ENOSPC
 * it is too large, -ENOMEM. */
int dwarf_functions_init(struct dwarf_functions *functions, Dwarf_Die *unit, uint64_t *steps)
	must_check;
void dwarf_functions_done(struct dwarf_functions *functions);

#endif
