/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one compile unit, including inlined ones, and the addresses of each. */
#ifndef SYMBOL_DWARF_DWARF_FUNCTIONS_H
#define SYMBOL_DWARF_DWARF_FUNCTIONS_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_NO_FUNCTION UINT32_MAX

struct dwarf_function {
	void *die; /* Dwarf_Die.addr */
	/* index of the function it is inlined into, which precedes it; or DWARF_NO_FUNCTION */
	uint32_t caller;
};

/* A range of addresses with the same innermost function: from `low` up to the next segment. */
struct dwarf_segment {
	uint64_t low;
	uint32_t function; /* or DWARF_NO_FUNCTION */
};

struct dwarf_functions {
	struct dwarf_function *functions; /* owned; in the order of the file, outer before inner */
	size_t nr_functions;
	size_t cap_functions;
	struct dwarf_segment *segments; /* owned; sorted by low */
	size_t nr_segments;
	size_t cap_segments;
};

/* Reads the unit's tree of DIEs. Adds the number of DIEs and ranges visited to `*steps`, also on
 * failure. A damaged tree is read up to the damage. Errors: -ENOSPC the tree is too large,
 * -ENOMEM. */
int dwarf_functions_init(struct dwarf_functions *functions, Dwarf_Die *unit, uint64_t *steps)
	must_check;
void dwarf_functions_done(struct dwarf_functions *functions);

#endif
